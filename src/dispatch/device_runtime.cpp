// SPDX-License-Identifier: MIT
// src/dispatch/device_runtime.cpp
#include "dispatch/device_runtime.h"

#include <atomic>

namespace nrd {
namespace {

std::atomic<DeviceRuntime*> g_runtime{nullptr};

}  // namespace

Expected<DeviceRuntime*> device_runtime() {
  if (DeviceRuntime* runtime = g_runtime.load(std::memory_order_acquire)) return runtime;
  if (DeviceRuntime* runtime = built_in_runtime()) return runtime;
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "",
                     .argument = "device cuda",
                     .got = "a library that was built without CUDA",
                     .allowed = "",
                     .hint = "build the preset cuda"});
}

void set_device_runtime(DeviceRuntime* runtime) {
  g_runtime.store(runtime, std::memory_order_release);
}

}  // namespace nrd
