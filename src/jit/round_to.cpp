// SPDX-License-Identifier: MIT
// src/jit/round_to.cpp: round_to of the definitions, for a dtype known when code is made.
//
// To nearest, ties to even; what is too large becomes the largest value, NaN stays NaN: the bits of
// nrd_round_to_f32.
#include <bit>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

// Adding 2^(e + 23 - mantissa bits), where e is the number's exponent, rounds it in hardware; the
// power has a lower end where the format's subnormals begin.
V round_by_adding(Kit& k, V magnitude, const DTypeInfo& format) {
  const V limited = k.min(k.f(static_cast<float>(format.max)), magnitude);
  const V exponent = k.bit_and(limited, k.f(kInfinity));
  const auto up = static_cast<uint32_t>(23 - format.mantissa_bits) << 23;
  const V power = k.int_add(exponent, k.i(up));
  const V magic = k.max(k.f(static_cast<float>(format.min_subnormal * 0x1p23)), power);
  return k.sub(k.add(limited, magic), magic);
}

// bf16 reaches as far as f32, so its powers would overflow; but its rounding is one of bits.
V round_bits(Kit& k, V magnitude) {
  const V is_odd = k.bit_and(k.shr(magnitude, 16), k.i(1));
  const V up = k.int_add(k.int_add(magnitude, k.i(0x7fff)), is_odd);
  const V rounded = k.bit_and(up, k.i(0xffff0000));
  const V limited = k.min(k.f(std::bit_cast<float>(0x7f7f0000)), rounded);
  return k.select(k.is(Predicate::kUno, magnitude, magnitude), magnitude, limited);
}

}  // namespace

V math_round_to(Builder& b, V x, DType dtype) {
  if (dtype == DType::kF32 || dtype == DType::kF64) return x;
  Kit k(b);
  const V magnitude = k.abs(x);
  const V rounded =
      dtype == DType::kBF16 ? round_bits(k, magnitude) : round_by_adding(k, magnitude, info(dtype));
  return k.bit_or(rounded, k.sign_of(x));
}

}  // namespace nrd::jit
