// SPDX-License-Identifier: MIT
// src/base/float_format.h: the small float formats at compile time; bits to bits, no branches.
//
// Private to base/convert.cpp, device code without the instruction and tests. Everything is selects
// on integers, so that a loop over narrow() or widen() vectorises.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/convert.h"

namespace nrd {

struct SourceF32 {
  using Bits = uint32_t;
  using Signed = int32_t;
  using Real = float;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
};

struct SourceF64 {
  using Bits = uint64_t;
  using Signed = int64_t;
  using Real = double;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
};

// A sign bit, then `exponent` bits, then `mantissa` bits. The codes are of positive values.
struct FloatFormat {
  int exponent;
  int mantissa;
  uint32_t max_code;       // the largest finite value
  uint32_t overflow_code;  // under kIeee
  uint32_t nan_code;       // under kIeee; the sign is XORed in
  bool top_is_special;     // the highest exponent means Inf and NaN

  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr int sign_shift() const { return exponent + mantissa; }
  constexpr int min_subnormal_log2() const { return 1 - bias() - mantissa; }
};

inline constexpr FloatFormat kFormatF16 = {5, 10, 0x7bff, 0x7c00, 0x7e00, true};
inline constexpr FloatFormat kFormatBF16 = {8, 7, 0x7f7f, 0x7f80, 0x7fc0, true};
inline constexpr FloatFormat kFormatF8E4M3 = {4, 3, 0x7e, 0x7f, 0x7f, false};
inline constexpr FloatFormat kFormatF8E5M2 = {5, 2, 0x7b, 0x7c, 0x7e, true};
// ml_dtypes' NaN of e2m1 is -0, hence nan_code 8: NaN -> -0, -NaN -> +0.
inline constexpr FloatFormat kFormatE2M1 = {2, 1, 7, 7, 8, false};

// condition ? yes : no, with both evaluated: GCC would move the floating-point operation of one
// side behind a branch (it might trap) and then not vectorise.
template <class Bits>
constexpr Bits select(bool condition, Bits yes, Bits no) {
  const Bits mask = Bits{0} - static_cast<Bits>(condition);
  return (yes & mask) | (no & ~mask);
}

// The code of the value whose bits are `bits`, rounded to nearest even.
template <FloatFormat kTo, class Source, Overflow kRule>
constexpr typename Source::Bits narrow(typename Source::Bits bits) {
  using Bits = typename Source::Bits;
  // Magnitudes have a clear top bit, and SSE2 compares signed numbers only.
  using Signed = typename Source::Signed;
  constexpr int kShift = Source::kMantissa - kTo.mantissa;
  constexpr int kRebias = Source::kBias - kTo.bias();
  constexpr Bits kSignBit = Bits{1} << (sizeof(Bits) * 8 - 1);
  constexpr Bits kInf = ~Bits{0} / 2 >> Source::kMantissa << Source::kMantissa;

  const Bits magnitude = bits & ~kSignBit;
  const Bits half = (Bits{1} << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1);
  Bits code = (magnitude + half - (Bits{kRebias} << Source::kMantissa)) >> kShift;
  if constexpr (kRebias > 0) {
    // Adding 2^k, where the last place of 2^k is the smallest subnormal, rounds in hardware.
    constexpr Bits kMagic =
        static_cast<Bits>(Source::kBias + kTo.min_subnormal_log2() + Source::kMantissa)
        << Source::kMantissa;
    constexpr Bits kMinNormal = Bits{kRebias + 1} << Source::kMantissa;
    using Real = typename Source::Real;
    const Bits subnormal =
        std::bit_cast<Bits>(std::bit_cast<Real>(magnitude) + std::bit_cast<Real>(kMagic)) - kMagic;
    const bool is_subnormal = static_cast<Signed>(magnitude) < static_cast<Signed>(kMinNormal);
    code = select(is_subnormal, subnormal, code);
  }
  constexpr bool kIsSaturate = kRule == Overflow::kSaturate;
  constexpr Bits kTooLarge = kIsSaturate ? kTo.max_code : kTo.overflow_code;
  code = static_cast<Signed>(code) > static_cast<Signed>(kTo.max_code) ? kTooLarge : code;
  const Bits sign = (bits & kSignBit) >> (sizeof(Bits) * 8 - 1 - kTo.sign_shift());
  // Without a NaN (its code would be a zero's) saturation gives the largest value, positive.
  constexpr bool kNanIsMax = kIsSaturate && kTo.nan_code > (Bits{1} << kTo.sign_shift()) - 1;
  const bool is_nan = static_cast<Signed>(magnitude) > static_cast<Signed>(kInf);
  if constexpr (kNanIsMax) return is_nan ? Bits{kTo.max_code} : code | sign;
  return (is_nan ? Bits{kTo.nan_code} : code) ^ sign;
}

// The bits of a code's value in f32 or f64; exact.
template <FloatFormat kFrom, class Target>
constexpr typename Target::Bits widen(uint32_t code) {
  using Bits = typename Target::Bits;
  using Real = typename Target::Real;
  constexpr int kShift = Target::kMantissa - kFrom.mantissa;
  constexpr int kRebias = Target::kBias - kFrom.bias();
  constexpr uint32_t kMagnitude = (1u << kFrom.sign_shift()) - 1;
  const Bits sign = static_cast<Bits>((code >> kFrom.sign_shift()) & 1) << (sizeof(Bits) * 8 - 1);
  const Bits shifted = static_cast<Bits>(code & kMagnitude) << kShift;
  if constexpr (kRebias == 0) return shifted | sign;  // bf16 -> f32

  Bits value = shifted + (Bits{kRebias} << Target::kMantissa);
  // A subnormal has no hidden bit: read it with one, then take that bit's value away.
  constexpr Bits kMinNormal = Bits{kRebias + 1} << Target::kMantissa;
  const Bits subnormal = std::bit_cast<Bits>(std::bit_cast<Real>(shifted + kMinNormal) -
                                             std::bit_cast<Real>(kMinNormal));
  value = select((code & kMagnitude) >> kFrom.mantissa == 0, subnormal, value);
  if constexpr (kFrom.top_is_special) {
    const Bits special = shifted + (Bits{kRebias} << (Target::kMantissa + 1));
    const uint32_t top = (1u << kFrom.exponent) - 1;
    value = select((code & kMagnitude) >> kFrom.mantissa == top, special, value);
  } else if constexpr (kFrom.nan_code < kMagnitude + 1) {
    constexpr Bits kQuietNan = ~Bits{0} / 2 >> (Target::kMantissa - 1) << (Target::kMantissa - 1);
    value = (code & kMagnitude) == kFrom.nan_code ? kQuietNan : value;
  }
  return value | sign;
}

}  // namespace nrd
