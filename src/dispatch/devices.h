// SPDX-License-Identifier: MIT
// src/dispatch/devices.h: what `nereid info` says of devices beside the CPU.
#pragma once

#include <string>
#include <vector>

namespace nrd {

// One line a device, or one line that says why there is none.
std::vector<std::string> describe_devices();

}  // namespace nrd
