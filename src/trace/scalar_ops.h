// SPDX-License-Identifier: MIT
// src/trace/scalar_ops.h: integer operations and conversions as OpTrace defines them, with no
// undefined behaviour of C++ left. Shared by the interpreters.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "trace/trace.h"

namespace nrd::scalar {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}
template <class T>
T wrap_neg(T a) {
  return wrap_sub(T{0}, a);
}

// As trace.h says, for every divisor: 0 is met where the result is not used, on a guard's other
// side.
template <class T>
T div_floor(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_neg(a);
  const T quotient = a / b;
  return a % b >= 0 ? quotient : b > 0 ? quotient - 1 : quotient + 1;
}
template <class T>
T mod_floor(T a, T b) {
  return b == 0 ? 0 : wrap_sub(a, wrap_mul(div_floor(a, b), b));
}

template <class T>
T shift_left(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) << (b & (8 * sizeof(T) - 1)));
}
template <class T>
T shift_right(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) >> (b & (8 * sizeof(T) - 1)));
}
template <class T>
T shift_signed(T a, T b) {
  return a >> (b & (8 * sizeof(T) - 1));
}

// Extrema, as trace.h names them; max_first and min_first serve integers too.
template <class T>
T max_first(T a, T b) {
  return a > b ? a : b;
}
template <class T>
T min_first(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T max_nan(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T min_nan(T a, T b) {
  return a < b || a != a ? a : b;
}

// As the machine's fmax and fmin, also of two zeros: x86 returns the second, aarch64 orders them. A
// compiler that expands std::fmax would choose for itself.
template <class T>
T max_num(T a, T b) {
#if defined(__aarch64__)
  return std::fmax(a, b);
#else
  return b != b ? a : max_first(a, b);
#endif
}
template <class T>
T min_num(T a, T b) {
#if defined(__aarch64__)
  return std::fmin(a, b);
#else
  return b != b ? a : min_first(a, b);
#endif
}

// Truncated; NaN and what does not fit become the smallest integer, as on x86.
template <class T>
T from_float(double x) {
  constexpr double kLimit = -static_cast<double>(std::numeric_limits<T>::min());
  // T(-2^31 - 0.5) is still in range, since it is truncated; -2^63 - 0.5 is no double.
  const bool fits = x < kLimit && (sizeof(T) == 4 ? x > -kLimit - 1 : x >= -kLimit);
  return fits ? static_cast<T>(x) : std::numeric_limits<T>::min();
}

template <class T>
bool compare_integers(Predicate p, T a, T b) {
  const auto ua = static_cast<Unsigned<T>>(a);
  const auto ub = static_cast<Unsigned<T>>(b);
  switch (p) {
    case Predicate::kEq: return a == b;
    case Predicate::kNe: return a != b;
    case Predicate::kLt: return a < b;
    case Predicate::kLe: return a <= b;
    case Predicate::kGt: return a > b;
    case Predicate::kGe: return a >= b;
    case Predicate::kB: return ua < ub;
    case Predicate::kBe: return ua <= ub;
    case Predicate::kA: return ua > ub;
    default: return ua >= ub;
  }
}

template <class T>
bool compare_floats(Predicate p, T a, T b) {
  switch (p) {
    case Predicate::kOeq: return a == b;
    case Predicate::kOne: return a < b || a > b;
    case Predicate::kOlt: return a < b;
    case Predicate::kOle: return a <= b;
    case Predicate::kOgt: return a > b;
    case Predicate::kOge: return a >= b;
    case Predicate::kOrd: return a == a && b == b;
    case Predicate::kUeq: return !(a < b || a > b);
    case Predicate::kUne: return a != b;
    case Predicate::kUlt: return !(a >= b);
    case Predicate::kUle: return !(a > b);
    case Predicate::kUgt: return !(a <= b);
    case Predicate::kUge: return !(a < b);
    default: return a != a || b != b;
  }
}

}  // namespace nrd::scalar
