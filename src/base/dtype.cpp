// SPDX-License-Identifier: MIT
// src/base/dtype.cpp: the table of dtypes.
#include "base/dtype.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace nrd {
namespace {

constexpr std::array<DTypeInfo, 11> kDTypes = {{
    // dtype, word, bytes, is_float, exponent, mantissa, max, min_normal, min_subnormal, inf, nan
    {DType::kF64, "f64", 8, true, 11, 52, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, true, true},
    {DType::kF32, "f32", 4, true, 8, 23, 0x1.fffffep127, 0x1p-126, 0x1p-149, true, true},
    {DType::kF16, "f16", 2, true, 5, 10, 65504.0, 0x1p-14, 0x1p-24, true, true},
    {DType::kBF16, "bf16", 2, true, 8, 7, 0x1.fep127, 0x1p-126, 0x1p-133, true, true},
    {DType::kF8E4M3, "f8e4m3", 1, true, 4, 3, 448.0, 0x1p-6, 0x1p-9, false, true},
    {DType::kF8E5M2, "f8e5m2", 1, true, 5, 2, 57344.0, 0x1p-14, 0x1p-16, true, true},
    {DType::kE8M0, "e8m0", 1, true, 8, 0, 0x1p127, 0x1p-127, 0x1p-127, false, true},
    {DType::kE2M1, "e2m1", 1, true, 2, 1, 6.0, 1.0, 0.5, false, false},
    {DType::kI8, "i8", 1, false, 0, 0, 127.0, 1.0, 1.0, false, false},
    {DType::kU8, "u8", 1, false, 0, 0, 255.0, 1.0, 1.0, false, false},
    {DType::kI32, "i32", 4, false, 0, 0, 2147483647.0, 1.0, 1.0, false, false},
}};

constexpr DTypeInfo kInvalid = {DType{}, "invalid", 0, false, 0, 0, 0.0, 0.0, 0.0, false, false};

// info() indexes the table by the enum's value.
constexpr bool table_is_in_order() {
  for (size_t i = 0; i < kDTypes.size(); i++) {
    if (static_cast<size_t>(kDTypes[i].dtype) != i + 1) return false;
  }
  return true;
}
static_assert(table_is_in_order());

}  // namespace

const DTypeInfo& info(DType dtype) {
  const size_t row = static_cast<size_t>(dtype) - 1;
  return row < kDTypes.size() ? kDTypes[row] : kInvalid;
}

std::span<const DTypeInfo> all_dtypes() { return kDTypes; }

Expected<DType> parse_dtype(std::string_view word) {
  std::string allowed;
  for (const DTypeInfo& entry : kDTypes) {
    if (entry.word == word) return entry.dtype;
    if (!allowed.empty()) allowed += ' ';
    allowed += entry.word;
  }
  return make_error({.code = ErrorCode::kUnknownName,
                     .op = "",
                     .argument = "dtype",
                     .got = fmt::format("'{}'", word),
                     .allowed = allowed,
                     .hint = ""});
}

}  // namespace nrd
