// SPDX-License-Identifier: MIT
// nereid/dtype.h: the dtypes, by the words they have everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nereid/c.h"

namespace nereid {

enum class DType : int32_t {
  f64 = NEREID_F64,
  f32 = NEREID_F32,
  f16 = NEREID_F16,
  bf16 = NEREID_BF16,
  f8e4m3 = NEREID_F8E4M3,
  f8e5m2 = NEREID_F8E5M2,
  e8m0 = NEREID_E8M0,
  e2m1 = NEREID_E2M1,
  i8 = NEREID_I8,
  u8 = NEREID_U8,
  i32 = NEREID_I32,
};
using enum DType;  // nereid::f32

inline const char* name(DType dtype) { return nereid_dtype_name(static_cast<nereid_dtype>(dtype)); }
inline size_t byte_size(DType dtype) { return nereid_dtype_size(static_cast<nereid_dtype>(dtype)); }

// The dtype of a C++ element type. 16- and 8-bit floats have no C++ type: name their dtype.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<U, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<U, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<U, int32_t>)
    return DType::i32;
  else
    static_assert(sizeof(T) == 0, "no dtype has this element type; name one with its pointer");
}

template <class T>
concept Element = std::is_same_v < std::remove_cv_t<T>,
float > || std::is_same_v<std::remove_cv_t<T>, double> ||
    std::is_same_v<std::remove_cv_t<T>, int8_t> || std::is_same_v<std::remove_cv_t<T>, uint8_t> ||
    std::is_same_v<std::remove_cv_t<T>, int32_t>;

}  // namespace nereid
