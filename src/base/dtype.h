// SPDX-License-Identifier: MIT
// src/base/dtype.h: the dtypes, spelled once; conversions are in base/convert.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"

namespace nrd {

// Values match nereid_dtype in include/nereid/c.h. An e2m1 tensor holds one code a byte, in the
// low nibble; packing two a byte is the business of the quantised formats.
enum class DType : int {
  kF64 = 1,
  kF32 = 2,
  kF16 = 3,
  kBF16 = 4,
  kF8E4M3 = 5,
  kF8E5M2 = 6,
  kE8M0 = 7,
  kE2M1 = 8,
  kI8 = 9,
  kU8 = 10,
  kI32 = 11,
};

struct DTypeInfo {
  DType dtype;
  std::string_view word;  // file name, symbol suffix, CLI value and test name alike
  size_t bytes;
  bool is_float;
  int exponent_bits;  // of a float; 0 for an integer
  int mantissa_bits;  // stored bits, without the hidden one
  double max;         // the largest finite value
  double min_normal;
  double min_subnormal;  // equals min_normal where the format has no subnormals
  bool has_inf;
  bool has_nan;
};

// A number that is no dtype (a cast from outside) yields the word "invalid" and 0 bytes.
const DTypeInfo& info(DType dtype);
std::span<const DTypeInfo> all_dtypes();
Expected<DType> parse_dtype(std::string_view word);

inline std::string_view word(DType dtype) { return info(dtype).word; }
inline size_t byte_size(DType dtype) { return info(dtype).bytes; }
inline bool is_float(DType dtype) { return info(dtype).is_float; }

}  // namespace nrd
