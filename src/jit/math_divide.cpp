// SPDX-License-Identifier: MIT
// src/jit/math_divide.cpp: division of many numbers by one.
#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {

// A divisor whose reciprocal may not be normal is scaled by a power of two, and so is the quotient.
ReciprocalOf math_prepare_division(Builder& b, V s) {
  Kit k(b);
  const V magnitude = k.abs(s);
  const V one = k.f(1.0f);
  const M is_small = k.is(Predicate::kOlt, magnitude, k.f(0x1p-100f));
  const M is_large = k.is(Predicate::kOgt, magnitude, k.f(0x1p100f));
  const V factor = k.select(is_small, k.f(0x1p64f), k.select(is_large, k.f(0x1p-64f), one));
  return {k.div(one, k.mul(s, factor)), factor};
}

V math_divide(Builder& b, V x, const ReciprocalOf& by) {
  Kit k(b);
  return k.mul(k.mul(x, by.reciprocal), by.factor);
}

}  // namespace nrd::jit
