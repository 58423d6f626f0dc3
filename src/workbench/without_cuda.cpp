// SPDX-License-Identifier: MIT
// src/workbench/without_cuda.cpp: what a build without CUDA says of a device's queue.
#include "dispatch/device_runtime.h"
#include "workbench/device_queue.h"

namespace nrd {

Expected<std::unique_ptr<DeviceQueue>> open_built_in_queue(const Device&) {
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  return make_error({.code = ErrorCode::kUnsupported,
                     .argument = "device cuda",
                     .got = "a workbench that was built without CUDA"});
}

}  // namespace nrd
