// SPDX-License-Identifier: MIT
// src/base/device.h: devices by the words they have in options, reports and errors.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/tensor.h"

namespace nrd {

std::string_view word(DeviceKind kind);       // "cpu", "cuda"
std::string to_string(const Device& device);  // "cpu", "cuda:0"
// "cpu", "cuda" (the first one) or "cuda:N".
Expected<Device> parse_device(std::string_view text);

}  // namespace nrd
