// SPDX-License-Identifier: MIT
// tests/cuda/fake_device.h: CUDA devices made of host memory, for everything above the kernels.
//
// Memory of the device cannot be touched but by what runs in a stream: a host that reads it dies.
// Streams are queues that run when somebody waits for them, as late as a true device may be.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "dispatch/device_runtime.h"
#include "graph/program.h"

namespace nrd::testing {

class FakeDevice final : public DeviceRuntime {
 public:
  // Emulated kernels run when they are launched: for them memory is open all the time.
  explicit FakeDevice(int devices = 1, bool is_open = false)
      : devices_(devices), closed_(is_open ? kOpen : PROT_NONE) {}
  ~FakeDevice() override {
    for (auto& [memory, block] : blocks_) munmap(memory, block.bytes);
  }

  Expected<int> device_count() override { return devices_; }
  Expected<DeviceSummary> describe(int device) override {
    if (device < 0 || device >= devices_) return no_device(device);
    return DeviceSummary{.name = "fake", .major = 9, .minor = 0, .isa = "sm_90a"};
  }

  Expected<void*> allocate(int device, size_t bytes) override {
    if (device < 0 || device >= devices_) return no_device(device);
    if (bytes == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (bytes > capacity)
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = "memory",
                         .got = std::to_string(bytes) + " bytes",
                         .allowed = std::to_string(capacity) + " free"});
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    void* memory = mmap(nullptr, pages, closed_, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    blocks_[memory] = {pages, device};
    allocations++;
    return memory;
  }
  void release(int device, void* memory) noexcept override {
    if (!memory) return;
    run_all(device);
    const std::lock_guard lock(mutex_);
    munmap(memory, blocks_.at(memory).bytes);
    blocks_.erase(memory);
  }

  Expected<void> check_memory(int device, const void* memory) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [first, block] : blocks_) {
      const auto* begin = static_cast<const char*>(first);
      if (memory < begin || memory >= begin + block.bytes) continue;
      if (block.device == device) return {};
      return elsewhere("memory of cuda:" + std::to_string(block.device), device);
    }
    return elsewhere("memory of the CPU", device);
  }
  Expected<void> copy(void* to, const Device& to_device, const void* from,
                      const Device& from_device, size_t bytes, void* stream) override {
    const bool host = to_device.kind == DeviceKind::kCpu || from_device.kind == DeviceKind::kCpu;
    const int device = to_device.kind == DeviceKind::kCuda ? to_device.index : from_device.index;
    enqueue(device, stream, [=] { std::memcpy(to, from, bytes); });
    if (host) run(device, stream);
    return {};
  }
  Expected<void> wait_for(int device, void* stream) override {
    waits++;
    run(device, stream);
    return {};
  }
  Expected<uint64_t> stream_number(int, void* stream) override {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(stream));
  }
  Expected<int> make_current(int device) override {
    if (device < 0 || device >= devices_) return no_device(device);
    return std::exchange(current(), device);
  }

  static int& current() {
    thread_local int device = 0;
    return device;
  }
  void enqueue(int device, void* stream, std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queues_[{device, stream}].push_back(std::move(work));
  }
  size_t queued(int device, void* stream) {
    const std::lock_guard lock(mutex_);
    return queues_[{device, stream}].size();
  }
  size_t blocks() {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
  }

  size_t capacity = size_t{1} << 30;
  std::atomic<int> allocations{0}, waits{0};

 private:
  static constexpr size_t kPage = 4096;
  static constexpr int kOpen = PROT_READ | PROT_WRITE;
  struct MemoryBlock {
    size_t bytes = 0;
    int device = 0;
  };
  using Queue = std::vector<std::function<void()>>;

  Error no_device(int device) const {
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .argument = "device",
                       .got = "cuda:" + std::to_string(device)});
  }
  static Error elsewhere(std::string got, int device) {
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .got = std::move(got),
                       .allowed = "memory of cuda:" + std::to_string(device)});
  }
  void protect(int how) {
    for (auto& [memory, block] : blocks_) mprotect(memory, block.bytes, how);
  }
  void run(int device, void* stream) {
    const std::lock_guard lock(mutex_);
    run_locked(queues_[{device, stream}]);
  }
  void run_all(int device) {
    const std::lock_guard lock(mutex_);
    for (auto& [at, queue] : queues_)
      if (at.first == device) run_locked(queue);
  }
  void run_locked(Queue& queue) {
    protect(kOpen);
    for (const std::function<void()>& work : std::exchange(queue, {})) work();
    protect(closed_);
  }

  const int devices_, closed_;
  std::mutex mutex_;
  std::map<void*, MemoryBlock> blocks_;
  std::map<std::pair<int, void*>, Queue> queues_;
};

}  // namespace nrd::testing
