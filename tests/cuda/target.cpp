// SPDX-License-Identifier: MIT
// tests/cuda/target.cpp
#include "target.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <ostream>

#include "base/env.h"
#include "cuda/launch/error.h"
#include "cuda/launch/tables.h"
#include "emulator/fiber.h"
#include "emulator/scheduler.h"
#include "emulator/tables.h"

namespace nrd::cuda {
namespace {

constexpr size_t kGuardBytes = 1024;
constexpr size_t kAlignment = 256;

TestTarget device_target(const char* name, int least_major, int most_major,
                         const KernelTables& kernels) {
  TestTarget t{.name = name, .missing = {}, .target = {}};
  const Expected<std::vector<DeviceInfo>> devices = list_devices();
  if (!devices || devices->empty()) {
    t.missing =
        "no CUDA device: " + (devices ? "the driver lists none" : devices.error().message());
    return t;
  }
  const DeviceInfo& device = devices->front();
  if (device.major < least_major || device.major > most_major)
    t.missing = device.name + " cannot run code of " + name;
  t.target = {device, &kernels};
  return t;
}

void expect_success(const char* call, cudaError_t code) {
  EXPECT_EQ(code, cudaSuccess) << cuda_error(call, code).message();
}

}  // namespace

std::span<const TestTarget> targets() {
  static const std::vector<TestTarget> all = {
      {.name = "emulated", .missing = {}, .target = {emulated_device(9), &tables_emulated()}},
      {.name = "emulated_sm80",
       .missing = {},
       .target = {emulated_device(8), &tables_emulated_sm80()}},
      device_target("sm80", 8, 99, tables_sm80()),
      device_target("sm90", 9, 9, tables_sm90()),
  };
  return all;
}

std::vector<const TestTarget*> target_pointers() {
  std::vector<const TestTarget*> all;
  for (const TestTarget& t : targets()) all.push_back(&t);
  return all;
}

std::ostream& operator<<(std::ostream& out, const TestTarget& target) { return out << target.name; }

Error explained(const TestTarget& target, Error error) {
  if (!target.is_emulated()) return error;
  if (const std::string report = emulator::take_report(); !report.empty()) error.hint = report;
  return error;
}

Expected<void> finish(const TestTarget& target) {
  if (target.is_emulated()) return {};
  NRD_CUDA_TRY(cudaDeviceSynchronize());
  return {};
}

struct DeviceBuffer::Memory {
  std::unique_ptr<emulator::GuardedPages> pages;  // emulated
  char* device = nullptr;                         // otherwise
  char* begin = nullptr;                          // with the guards
  size_t bytes = 0;

  std::vector<unsigned char> read(const char* from, size_t count) const {
    std::vector<unsigned char> result(count);
    if (count == 0) return result;
    if (pages)
      std::memcpy(result.data(), from, count);
    else
      expect_success("cudaMemcpy", cudaMemcpy(result.data(), from, count, cudaMemcpyDeviceToHost));
    return result;
  }
};

DeviceBuffer::DeviceBuffer(const TestTarget& target, size_t bytes, size_t misalignment,
                           unsigned char guard)
    : bytes_(bytes), guard_(guard), memory_(std::make_unique<Memory>()) {
  const size_t body = (misalignment + bytes + kAlignment - 1) / kAlignment * kAlignment;
  Memory& m = *memory_;
  if (target.is_emulated()) {
    // Up to 255 poisoned bytes lie between the end and the page behind it.
    m.bytes = kGuardBytes + body;
    m.pages = std::make_unique<emulator::GuardedPages>(m.bytes);
    m.begin = m.pages->end() - m.bytes;
    std::memset(m.begin, guard, m.bytes);
    emulator::add_global_memory(m.begin, m.bytes);
  } else {
    m.bytes = body + 2 * kGuardBytes;
    void* device = nullptr;
    expect_success("cudaMalloc", cudaMalloc(&device, m.bytes));
    m.begin = m.device = static_cast<char*>(device);
    if (device) expect_success("cudaMemset", cudaMemset(device, guard, m.bytes));
  }
  data_ = m.begin + kGuardBytes + misalignment;
}

DeviceBuffer::~DeviceBuffer() {
  if (memory_ && memory_->device) cudaFree(memory_->device);
  if (memory_ && memory_->pages) emulator::remove_global_memory(memory_->begin);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept = default;

void DeviceBuffer::upload(const void* host) {
  if (bytes_ == 0) return;
  if (memory_->pages)
    std::memcpy(data_, host, bytes_);
  else
    expect_success("cudaMemcpy", cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice));
}

void DeviceBuffer::fill(unsigned char byte) {
  const std::vector<unsigned char> bytes(bytes_, byte);
  upload(bytes.data());
}

std::vector<char> DeviceBuffer::download() const {
  const std::vector<unsigned char> all = memory_->read(static_cast<const char*>(data_), bytes_);
  return {all.begin(), all.end()};
}

::testing::AssertionResult DeviceBuffer::check_guards() const {
  const char* begin = memory_->begin;
  const auto* data = static_cast<const char*>(data_);
  const auto in_front = memory_->read(begin, static_cast<size_t>(data - begin));
  const auto behind =
      memory_->read(data + bytes_, static_cast<size_t>(begin + memory_->bytes - (data + bytes_)));
  for (size_t i = 0; i < in_front.size(); i++) {
    if (in_front[i] != guard_)
      return ::testing::AssertionFailure()
             << "a byte " << in_front.size() - i << " in front of the buffer was written";
  }
  for (size_t i = 0; i < behind.size(); i++) {
    if (behind[i] != guard_)
      return ::testing::AssertionFailure()
             << "byte " << bytes_ + i << " was written, of a buffer of " << bytes_ << " bytes";
  }
  return ::testing::AssertionSuccess();
}

void TargetTest::SetUp() {
  const TestTarget& t = target();
  if (t.missing.empty()) return;
  const bool has_device = !t.target.device.name.empty();  // which cannot run this
  if (!has_device && env("NEREID_EXPECT_CUDA") == "1") FAIL() << t.missing;
  GTEST_SKIP() << t.missing;
}

SeedScope::SeedScope(uint64_t seed) : former_(emulator::seed()) { emulator::set_seed(seed); }
SeedScope::~SeedScope() { emulator::set_seed(former_); }

}  // namespace nrd::cuda
