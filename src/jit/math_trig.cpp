// SPDX-License-Identifier: MIT
// src/jit/math_trig.cpp: sin and cos of f32 vectors.
//
// x = n pi/2 + r with pi/2 in three parts: good to |x| = 1e6. The first difference is exact (it is
// a multiple of 2^-23 below 1); the third part is too small to round r by and joins the polynomial.
// A vector with a larger number (or an infinity) takes a branch to libm, lane by lane.
#include <array>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

constexpr float kLargest = 1e6f;
constexpr float kTwoOverPi = 0.636619772f;
// The first two are positive, so that the remainder of -0 is -0.
constexpr float kHalfPi1 = 1.57079625f, kHalfPi2 = 7.54979013e-8f, kHalfPi3 = -1.71512451e-15f;

// (r - sin(r)) / r^3 and (cos(r) - 1 + r^2/2) / r^4, in r^2, for |r| <= 0.82: n may be the second
// nearest integer where x is large.
constexpr std::array<float, 3> kSin = {0.166666508f, -0.0083319284f, 0.000194848602f};
constexpr std::array<float, 3> kCos = {0.0416666381f, -0.0013886966f, 2.43949635e-05f};

struct Reduced {
  V n, r, low;  // the quarter turns as i32; what remains is r - low
};

Reduced reduce(Kit& k, V x) {
  const V n = k.to_nearest_int(k.mul(x, k.f(kTwoOverPi)));
  const V turns = k.to_float(n);
  const V first = k.fnma(turns, k.f(kHalfPi1), x);
  // No turns: low is +0, and sin(-0) stays -0.
  return {n, k.fnma(turns, k.f(kHalfPi2), first), k.fnma(turns, k.f(-kHalfPi3), k.f(0.0f))};
}

// Quarter turn `q`: sin r, cos r, -sin r, -cos r.
V by_quadrant(Kit& k, V q, V r, V low) {
  const V r2 = k.mul(r, r);
  const V sine = k.sub(r, k.fma(k.mul(r2, r), k.polynomial(r2, kSin), low));
  const V near_one = k.fnma(r2, k.f(0.5f), k.f(1.0f));
  const V cosine = k.fma(k.mul(r2, r2), k.polynomial(r2, kCos), near_one);
  const M is_odd = k.int_is(Predicate::kNe, k.bit_and(q, k.i(1)), k.i(0));
  const V sign = k.shl(k.bit_and(q, k.i(2)), 30);
  return k.bit_xor(k.select(is_odd, cosine, sine), sign);
}

V sin_of_quarter(Builder& b, V x, uint32_t quarters_ahead, TraceOp op) {
  Kit k(b);
  const Reduced at = reduce(k, x);
  const V q = quarters_ahead == 0 ? at.n : k.int_add(at.n, k.i(quarters_ahead));
  const V result = b.new_vector();
  b.op1(Op::kMove, Lane::kF32, by_quadrant(k, q, at.r, at.low), result);

  call_for_rare(b, Lane::kF32, k.is(Predicate::kUgt, k.abs(x), k.f(kLargest)), op, x, {}, result);
  return result;
}

}  // namespace

V math_sin(Builder& b, V x) { return sin_of_quarter(b, x, 0, TraceOp::kSin); }
V math_cos(Builder& b, V x) { return sin_of_quarter(b, x, 1, TraceOp::kCos); }

}  // namespace nrd::jit
