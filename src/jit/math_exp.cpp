// SPDX-License-Identifier: MIT
// src/jit/math_exp.cpp: exp and what is made of it: exp2, expm1, tanh, erf.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; exp x = 2^n (1 + r + r^2 Q(r)).
#include <array>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

constexpr float kLog2E = 1.44269504f;
// ln 2 = high + low; high has 16 bits, so n * high is exact.
constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;

// (exp(r) - 1 - r) / r^2, relative error of exp 3.4e-9.
constexpr std::array<float, 5> kExpQ = {0.49999994f, 0.166665152f, 0.0416682363f, 0.0083693834f,
                                        0.00138247292f};

// (tanh(a) - a) / a^3 in a^2, for a < 0.625.
constexpr float kTanhSmall = 0.625f;
constexpr std::array<float, 5> kTanh = {-0.333333289f, 0.133327697f, -0.0538509096f, 0.020997179f,
                                        -0.00609671417f};

// ln(erfc(a)) = a (first + a P(a)) on [0, 3.95], weighted by what an error does to erf: 4e-9.
constexpr float kErfFirst = -1.12837923f, kErfFirstLow = 5.86353828e-8f;
constexpr std::array<float, 8> kErfP = {-0.636619508f,    -0.102776855f,   0.0191497859f,
                                        0.00016606522f,   -0.00167242903f, 0.00063568668f,
                                        -0.000118417913f, 9.34121636e-06f};

// NaN stays: kMin and kMax return their second operand where unordered.
V clamp(Kit& k, V x, float low, float high) { return k.max(k.f(low), k.min(k.f(high), x)); }

V reduce(Kit& k, V x, const Integral& n) {
  const V r = k.fnma(n.as_float, k.f(kLn2High), x);
  return k.fnma(n.as_float, k.f(kLn2Low), r);
}

// 2^n for -126 <= n <= 127.
V normal_power(Kit& k, const Integral& n) {
  const V one = k.f(1.0f);
  if (k.b.target().has_scale) return k.b.op2(Op::kScale, Lane::kF32, one, n.as_float);
  return k.int_add(k.shl(n.as_int, 23), one);
}

}  // namespace

Integral nearest(Kit& k, V x, float factor) {
  if (k.b.target().has_scale) {
    // 1.5 * 2^23: the sum's last place is 1, so adding rounds to an integer.
    const V magic = k.f(12582912.0f);
    const V sum = factor == 1.0f ? k.add(x, magic) : k.fma(x, k.f(factor), magic);
    return {k.sub(sum, magic), {}};
  }
  const V n = k.to_nearest_int(factor == 1.0f ? x : k.mul(x, k.f(factor)));
  return {k.to_float(n), n};
}

// 2^n may lie outside of the normal floats, so it is applied in two halves: the first goes straight
// into the exponent of x, the second by a multiplication, which rounds, over- or underflows once.
// NaN: the integer is 0x80000000, whose halves shift out, and NaN * 1 remains.
V scale(Kit& k, V x, const Integral& n) {
  if (k.b.target().has_scale) return k.b.op2(Op::kScale, Lane::kF32, x, n.as_float);
  const V half = k.sar(n.as_int, 1);
  const V rest = k.int_sub(n.as_int, half);
  const V scaled = k.int_add(x, k.shl(half, 23));
  return k.mul(scaled, k.int_add(k.shl(rest, 23), k.f(1.0f)));
}

V expm1_near_zero(Kit& k, V r) { return k.fma(k.mul(r, r), k.polynomial(r, kExpQ), r); }

V math_exp(Builder& b, V x) {
  Kit k(b);
  // exp(-104) rounds to 0 and exp(89) to infinity.
  const V inside = clamp(k, x, -104.0f, 89.0f);
  const Integral n = nearest(k, inside, kLog2E);
  const V p = expm1_near_zero(k, reduce(k, inside, n));
  return scale(k, k.add(p, k.f(1.0f)), n);
}

V math_exp2(Builder& b, V x) {
  Kit k(b);
  const V inside = clamp(k, x, -151.0f, 129.0f);
  const Integral n = nearest(k, inside, 1.0f);
  const V r = k.mul(k.sub(inside, n.as_float), k.f(0.693147181f));
  return scale(k, k.add(expm1_near_zero(k, r), k.f(1.0f)), n);
}

// 2^n (p + (1 - 2^-n)); 2^n itself may be too large.
V math_expm1(Builder& b, V x) {
  Kit k(b);
  const V inside = clamp(k, x, -40.0f, 89.0f);
  const Integral n = nearest(k, inside, kLog2E);
  const V p = expm1_near_zero(k, reduce(k, inside, n));
  Integral minus_n{k.neg(n.as_float), {}};
  if (n.as_int.valid()) minus_n.as_int = k.int_sub(k.i(0), n.as_int);
  const V one = k.f(1.0f);
  const V rest = k.sub(one, scale(k, one, minus_n));
  const V r = scale(k, k.add(p, rest), n);
  return k.select(k.is(Predicate::kOeq, x, k.f(0.0f)), x, r);  // -0 stays -0
}

// Near zero an odd polynomial; elsewhere 1 - 2 / (exp(2a) + 1), whose rounding errors shrink with
// the fraction. Past 10 the result is 1.
V math_tanh(Builder& b, V x) {
  if (has_table_functions(b)) return math_tanh_by_table(b, x);
  Kit k(b);
  const V a = k.min(k.f(10.0f), k.abs(x));
  const V twice = k.add(a, a);
  const Integral n = nearest(k, twice, kLog2E);
  const V one = k.f(1.0f);
  const V power = scale(k, k.add(expm1_near_zero(k, reduce(k, twice, n)), one), n);
  const V large = k.sub(one, k.div(k.f(2.0f), k.add(power, one)));
  const V square = k.mul(a, a);
  const V small = k.fma(k.mul(square, a), k.polynomial(square, kTanh), a);
  const V magnitude = k.select(k.is(Predicate::kOlt, a, k.f(kTanhSmall)), small, large);
  return k.bit_or(magnitude, k.sign_of(x));
}

V math_one_plus_tanh(Builder& b, V x) {
  Kit k(b);
  const V power = math_exp(b, k.mul(x, k.f(-2.0f)));
  return k.div(k.f(2.0f), k.add(power, k.f(1.0f)));
}

// erf a = 1 - exp(y) with y = ln(erfc(a)), one formula for the whole range; past 3.95 the result is
// 1. With exp(y) = 2^n (1 + p) that is (1 - 2^n) - 2^n p, and 2^n is normal.
V math_erf(Builder& b, V x) {
  if (has_table_functions(b)) return math_erf_by_table(b, x);
  Kit k(b);
  const V a = k.min(k.f(3.95f), k.abs(x));
  const V tail = k.fma(a, k.polynomial(a, kErfP), k.f(kErfFirstLow));
  const V y = k.fma(a, k.f(kErfFirst), k.mul(a, tail));
  const Integral n = nearest(k, y, kLog2E);
  const V p = expm1_near_zero(k, reduce(k, y, n));
  const V one = k.f(1.0f);
  const V power = normal_power(k, n);
  const V magnitude = k.fnma(power, p, k.sub(one, power));
  return k.bit_or(magnitude, k.sign_of(x));
}

}  // namespace nrd::jit
