// SPDX-License-Identifier: MIT
// src/trace/cursor.cpp: literals of the text form, bits exact.
#include "trace/cursor.h"

#include <bit>
#include <cstdlib>
#include <string>

#include "trace/op_info.h"

namespace nrd {
namespace {

std::optional<uint64_t> float_bits(TraceType type, std::string_view word) {
  const bool single = type == TraceType::kF32;
  if (word == "nan") return single ? 0x7fc00000 : 0x7ff8000000000000;
  const std::string text(word);
  if (word.starts_with("nan:0x")) return std::strtoull(text.c_str() + 4, nullptr, 16);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  if (single) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

}  // namespace

std::optional<uint64_t> literal_bits(TraceType type, std::string_view word) {
  if (is_float(type)) return float_bits(type, word);
  if (type == TraceType::kBool) {
    if (word != "true" && word != "false") return std::nullopt;
    return word == "true" ? 1 : 0;
  }
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return type == TraceType::kI32 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace nrd
