// SPDX-License-Identifier: MIT
// src/cuda/devices.h: the CUDA devices of this machine.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace nrd::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  double memory_gib = 0;
  double memory_gbps = 0;  // nominal: bus width x clock, both edges
  int l2_bytes = 0;
  int shared_bytes = 48 * 1024;  // of a block that asks for it
};

// Empty where the driver is there and has no device. The error names the call and its code: no
// driver, or one that is older than the runtime that is linked in.
Expected<std::vector<DeviceInfo>> list_devices();

// The error of a call for device `index` where there are `count`.
Error no_such_device(int index, int count);

}  // namespace nrd::cuda
