// SPDX-License-Identifier: MIT
// src/base/align.h: quotients rounded up, and multiples of a size.
#pragma once

#include <type_traits>

namespace nrd {

// Of a >= 0 and b > 0, whose sum must fit.
template <class T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return (a + b - 1) / b;
}

template <class T>
constexpr T round_up(T value, std::type_identity_t<T> step) {
  return ceil_div(value, step) * step;
}

}  // namespace nrd
