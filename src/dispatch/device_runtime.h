// SPDX-License-Identifier: MIT
// src/dispatch/device_runtime.h: memory and streams of the devices beside the CPU.
//
// Everything above the kernels reaches a device through this one class, so that a build without
// CUDA has an error in its place and a test a device made of host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/tensor.h"

namespace nrd {

struct DeviceSummary {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  double memory_gbps = 0;  // nominal
  uint64_t l2_bytes = 0;
  std::string isa;     // of the kernels it runs; empty where there are none for it
  std::string reason;  // why there are none
};

// Streams are handles of the device's own (a CUstream); null is its default stream. Any thread may
// call; errors name the device, the call and its code.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual Expected<int> device_count() = 0;
  virtual Expected<DeviceSummary> describe(int device) = 0;

  // 256-byte aligned; zero bytes give null. May wait for the device.
  virtual Expected<void*> allocate(int device, size_t bytes) = 0;
  // Waits until no kernel can be using it.
  virtual void release(int device, void* memory) noexcept = 0;

  // An error that says where it lies unless kernels of the device can use it.
  virtual Expected<void> check_memory(int device, const void* memory) = 0;

  // Enqueued on a stream of the device that `to`, else `from`, lies on; both may be the same
  // device's. Returns when host memory that is not pinned may be used again.
  virtual Expected<void> copy(void* to, const Device& to_device, const void* from,
                              const Device& from_device, size_t bytes, void* stream) = 0;
  virtual Expected<void> wait_for(int device, void* stream) = 0;
  // Tells streams apart that exist or ever existed: handles are used again.
  virtual Expected<uint64_t> stream_number(int device, void* stream) = 0;

  // The device that this thread uses from now on; returns the former. Cheap when it is the same.
  virtual Expected<int> make_current(int device) = 0;
};

// The devices' of this build; the error says that there are none in it.
Expected<DeviceRuntime*> device_runtime();
// For tests; null is the build's own again.
void set_device_runtime(DeviceRuntime* runtime);

// Null in a build without one.
DeviceRuntime* built_in_runtime();

// A device is this thread's current one as long as the scope lives.
class CurrentDevice {
 public:
  CurrentDevice(DeviceRuntime& runtime, int device)
      : runtime_(runtime), device_(device), former_(runtime.make_current(device)) {}
  ~CurrentDevice() {
    if (!former_ || *former_ == device_) return;
    const Expected<int> back = runtime_.make_current(*former_);
    (void)back;  // it was current a moment ago
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  const Expected<int>& entered() const { return former_; }

 private:
  DeviceRuntime& runtime_;
  int device_;
  Expected<int> former_;
};

}  // namespace nrd
