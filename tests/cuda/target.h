// SPDX-License-Identifier: MIT
// tests/cuda/target.h: what the tests of kernels run on: the emulated targets always, sm80 and sm90
// where a device can run them.
//
//   class Rows : public TargetTest {};
//   TEST_P(Rows, AreAddedUp) { DeviceBuffer x(target(), bytes); ... }
//   NRD_ON_EVERY_TARGET(Rows);
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/launch/memory.h"
#include "cuda/operation.h"

namespace nrd::cuda {

struct TestTarget {
  std::string name;     // "emulated" (what sm90 has), "emulated_sm80", "sm80", "sm90"
  std::string missing;  // why it cannot be used on this machine, or empty
  Target target;
  bool is_emulated() const { return name.starts_with("emulated"); }
};
std::span<const TestTarget> targets();
std::ostream& operator<<(std::ostream& out, const TestTarget& target);

// Waits for all work. The error of a kernel, with the emulator's report.
Expected<void> finish(const TestTarget& target);
// An error of a launch, with the emulator's report.
Error explained(const TestTarget& target, Error error);

// Around an input: NaN in every dtype, so that what is read too far shows in the result. Around an
// output: what no kernel writes; a NaN that was read too far could be written unseen.
constexpr unsigned char kInputGuard = 0xff, kOutputGuard = 0xc3;

// Memory of a target with guard bytes in front and behind, which a kernel must not write. On the
// emulated target a page that cannot be touched follows. The address is a multiple of 256 plus
// `misalignment`.
class DeviceBuffer {
 public:
  DeviceBuffer(const TestTarget& target, size_t bytes, size_t misalignment = 0,
               unsigned char guard = kOutputGuard);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }
  void upload(const void* host);
  void fill(unsigned char byte);
  std::vector<char> download() const;
  // Fails if a byte around it has changed.
  ::testing::AssertionResult check_guards() const;

  template <class T>
  static DeviceBuffer of(const TestTarget& target, const std::vector<T>& values,
                         size_t misalignment = 0) {
    DeviceBuffer buffer(target, values.size() * sizeof(T), misalignment, kInputGuard);
    buffer.upload(values.data());
    return buffer;
  }
  template <class T>
  std::vector<T> values() const {
    const std::vector<char> all = download();
    std::vector<T> result(all.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), all.data(), result.size() * sizeof(T));
    return result;
  }

 private:
  size_t bytes_ = 0;
  unsigned char guard_;
  void* data_ = nullptr;
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

// Skips what cannot run here, with the reason; where NEREID_EXPECT_CUDA=1 promises a device, fails.
class TargetTest : public ::testing::TestWithParam<const TestTarget*> {
 protected:
  void SetUp() override;
  const TestTarget& target() const { return *GetParam(); }
};
std::vector<const TestTarget*> target_pointers();

// Runs the emulated target with that seed while it lives; the plain order afterwards.
class SeedScope {
 public:
  explicit SeedScope(uint64_t seed);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;

 private:
  uint64_t former_;
};

#define NRD_ON_EVERY_TARGET(suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(Targets, suite, ::testing::ValuesIn(::nrd::cuda::target_pointers()), \
                           [](const auto& info) { return info.param->name; })

}  // namespace nrd::cuda
