// SPDX-License-Identifier: MIT
// src/base/device.cpp
#include "base/device.h"

#include <charconv>

namespace nrd {

std::string_view word(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "cuda"; }

std::string to_string(const Device& device) {
  std::string text(word(device.kind));
  if (device.kind != DeviceKind::kCpu) text += ":" + std::to_string(device.index);
  return text;
}

Expected<Device> parse_device(std::string_view text) {
  constexpr std::string_view kCuda = "cuda", kNumbered = "cuda:";
  if (text == "cpu") return Device{};
  if (text == kCuda) return Device{DeviceKind::kCuda, 0};
  int index = -1;
  if (text.starts_with(kNumbered)) {
    const char* first = text.data() + kNumbered.size();
    const char* last = text.data() + text.size();
    const auto [end, code] = std::from_chars(first, last, index);
    if (code != std::errc() || end != last) index = -1;
  }
  if (index >= 0) return Device{DeviceKind::kCuda, index};
  return make_error({.code = ErrorCode::kUnknownName,
                     .op = "",
                     .argument = "device",
                     .got = "'" + std::string(text) + "'",
                     .allowed = "cpu, cuda, cuda:N",
                     .hint = ""});
}

}  // namespace nrd
