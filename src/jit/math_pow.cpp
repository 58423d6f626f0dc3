// SPDX-License-Identifier: MIT
// src/jit/math_pow.cpp: x^y of f32 vectors, as 2^(y log2 x) with log2 x in two floats.
//
// x = 2^e m with m in [sqrt(1/2), sqrt 2), s = (m - 1) / (m + 1): log2 m = c s + s^3 T(s^2). The
// exponent y log2 x is up to 150, so log2 x needs 8 bits beyond a float: each large part is kept as
// a float and its rounding error.
#include <array>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

constexpr float kC = 2.88539004f, kCLow = 3.85192607e-8f;  // 2 / ln 2
// (log2((1 + s) / (1 - s)) - c s) / s^3 in s^2, for |s| <= 0.1716.
constexpr float kT = 0.961796641f;
constexpr std::array<float, 3> kRestOfT = {0.577089846f, 0.411321342f, 0.346759468f};

struct Pair {
  V high, low;
};

Pair quick_sum(Kit& k, V large, V small) {
  const V high = k.add(large, small);
  return {high, k.sub(small, k.sub(high, large))};
}

// (m - 1) / (m + 1), from f = m - 1.
Pair ratio(Kit& k, V f) {
  const Pair d = quick_sum(k, k.f(2.0f), f);
  const V inverse = k.div(k.f(1.0f), d.high);
  const V s = k.mul(f, inverse);
  const V remainder = k.fnma(s, d.low, k.fnma(s, d.high, f));
  return {s, k.mul(remainder, inverse)};
}

// c s + s w with w = s^2 T(s^2), whose first term needs its rounding error as well.
Pair log2_of_ratio(Kit& k, const Pair& s) {
  const V square = k.mul(s.high, s.high);
  const V square_low = k.fms(s.high, s.high, square);
  const V c = k.f(kC), t = k.f(kT);
  const V w = k.mul(square, t);
  V w_low = k.fma(square_low, t, k.fms(square, t, w));
  w_low = k.fma(k.mul(square, square), k.polynomial(square, kRestOfT), w_low);
  const V main = k.mul(c, s.high);
  V low = k.mul(s.low, k.fma(c, square, c));  // the slope is c / (1 - s^2)
  low = k.fma(s.high, w_low, low);
  low = k.fma(k.f(kCLow), s.high, low);
  low = k.add(k.fms(c, s.high, main), low);
  return {main, k.fma(s.high, w, low)};
}

Pair sum_with_exponent(Kit& k, V e, const Pair& log2) {
  const Pair sum = quick_sum(k, e, log2.high);
  return quick_sum(k, sum.high, k.add(sum.low, log2.low));
}

// Of a positive normal number.
Pair log2_of(Kit& k, V x) {
  const V offset = k.sar(k.int_sub(x, k.f(0.707106769f)), 23);
  const V m = k.int_sub(x, k.shl(offset, 23));
  const V e = k.to_float(offset);
  return sum_with_exponent(k, e, log2_of_ratio(k, ratio(k, k.sub(m, k.f(1.0f)))));
}

}  // namespace

V math_pow(Builder& b, V x, V y) {
  Kit k(b);
  const Pair log = log2_of(k, x);
  const V product = k.mul(y, log.high);
  const V low = k.fma(y, log.low, k.fms(y, log.high, product));
  // Beyond the limit the result is infinity or 0; the rounding error may be NaN there.
  const V limit = k.f(152.0f);
  const M is_inside = k.is(Predicate::kOlt, k.abs(product), limit);
  const V inside = k.max(k.f(-152.0f), k.min(limit, product));
  const Integral n = nearest(k, inside, 1.0f);
  const V rest = k.add(k.sub(inside, n.as_float), k.select(is_inside, low, k.f(0.0f)));
  const V power = expm1_near_zero(k, k.mul(rest, k.f(0.693147181f)));
  const V result = b.new_vector();
  b.op1(Op::kMove, Lane::kF32, scale(k, k.add(power, k.f(1.0f)), n), result);

  const V infinity = k.f(kInfinity);
  const M is_small = k.is(Predicate::kUlt, x, k.f(0x1p-126f));
  const M is_infinite = b.mask_op(Op::kMaskOr, k.is(Predicate::kUge, x, infinity),
                                  k.is(Predicate::kUge, k.abs(y), infinity));
  call_for_rare(b, Lane::kF32, b.mask_op(Op::kMaskOr, is_small, is_infinite), TraceOp::kPow, x, y,
                result);
  return result;
}

}  // namespace nrd::jit
