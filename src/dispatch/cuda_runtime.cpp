// SPDX-License-Identifier: MIT
// src/dispatch/cuda_runtime.cpp: DeviceRuntime over CUDA.
#include "base/lazy.h"
#include "cuda/launch/memory.h"
#include "cuda/launch/streams.h"
#include "cuda/targets.h"
#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

class CudaRuntime final : public DeviceRuntime {
 public:
  Expected<int> device_count() override {
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    return static_cast<int>(devices->size());
  }

  Expected<DeviceSummary> describe(int device) override {
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    if (device < 0 || static_cast<size_t>(device) >= devices->size())
      return cuda::no_such_device(device, static_cast<int>(devices->size()));
    const cuda::DeviceInfo& info = (*devices)[static_cast<size_t>(device)];
    DeviceSummary summary{.name = info.name,
                          .major = info.major,
                          .minor = info.minor,
                          .multiprocessors = info.multiprocessors,
                          .memory_bytes = static_cast<uint64_t>(info.memory_gib * (1 << 30)),
                          .memory_gbps = info.memory_gbps,
                          .l2_bytes = static_cast<uint64_t>(info.l2_bytes)};
    const Expected<std::string> asked = cuda::target_from_environment();
    if (!asked) {
      summary.reason = asked.error().message();
    } else if (const Expected<std::string_view> target = cuda::target_of(info, *asked)) {
      summary.isa = *target;
    } else {
      summary.reason = target.error().message();
    }
    return summary;
  }

  Expected<void*> allocate(int device, size_t bytes) override {
    return cuda::allocate_device(bytes, device);
  }
  void release(int device, void* memory) noexcept override { cuda::release_device(memory, device); }
  Expected<void> check_memory(int device, const void* memory) override {
    const CurrentDevice current(*this, device);
    if (!current.entered()) return current.entered().error();
    return cuda::check_memory(device, memory);
  }
  Expected<void> copy(void* to, const Device& to_device, const void* from,
                      const Device& from_device, size_t bytes, void* stream) override {
    return cuda::copy_bytes(to, to_device, from, from_device, bytes,
                            static_cast<cuda::Stream>(stream));
  }
  Expected<void> wait_for(int device, void* stream) override {
    const CurrentDevice current(*this, device);
    if (!current.entered()) return current.entered().error();
    return cuda::wait_for(static_cast<cuda::Stream>(stream));
  }
  Expected<uint64_t> stream_number(int device, void* stream) override {
    const CurrentDevice current(*this, device);
    if (!current.entered()) return current.entered().error();
    return cuda::stream_number(static_cast<cuda::Stream>(stream));
  }
  Expected<int> make_current(int device) override { return cuda::make_current(device); }
};

}  // namespace

DeviceRuntime* built_in_runtime() {
  static Lazy<CudaRuntime> runtime;
  return &runtime.get();
}

}  // namespace nrd
