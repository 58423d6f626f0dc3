// SPDX-License-Identifier: MIT
// src/cuda/targets.h: which of the library's kernels a device runs.
#pragma once

#include <string>
#include <string_view>

#include "cuda/devices.h"

namespace nrd::cuda {

constexpr std::string_view kSm80 = "sm_80";    // machine code, and PTX for every later device
constexpr std::string_view kSm90a = "sm_90a";  // runs on compute capability 9.0 and on no other

// "NVIDIA H200 (sm_90)".
std::string describe(const DeviceInfo& device);

// kSm80 or kSm90a for a device, the best unless NEREID_CUDA_ARCH says otherwise; `asked` is its
// value. The error names the device that is too old for what is asked, or the words there are.
Expected<std::string_view> target_of(const DeviceInfo& device, std::string_view asked);

// What that variable says now; empty where it is not set.
Expected<std::string> target_from_environment();

// "runtime 13.0, driver 13.1"; a part that cannot be asked is left out.
std::string version_text();

}  // namespace nrd::cuda
