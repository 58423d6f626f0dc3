// SPDX-License-Identifier: MIT
// src/jit/math_log.cpp: logarithms of f32 vectors.
//
// x = 2^e m with m in [0.75, 1.5), f = m - 1 (exact): log x = e log 2 + f c + f^2 P(f), where c is
// 1 / ln(base).
#include <array>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

// (ln(1 + f) - f) / f^2 on [-0.25, 0.5], relative error of the logarithm 5e-9.
constexpr std::array<float, 9> kLogP = {-0.5f,         0.333334506f,  -0.250001013f,
                                        0.199908137f,  -0.166471168f, 0.144786611f,
                                        -0.131629705f, 0.104647927f,  -0.045074787f};

// ln 2 in two positive parts: an infinite exponent stays what it is. The high one has 16 bits, so
// its product with an exponent is exact.
constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;

struct Base {
  float c_high, c_low;      // 1 / ln(base)
  float two_high, two_low;  // log of 2, as above
  std::array<float, 10> p;  // (log(1 + f) - c f) / f^2
};
constexpr Base kTwo = {1.44269502f,
                       1.92596303e-8f,
                       1.0f,
                       0.0f,
                       {-0.721347511f, 0.48089847f, -0.360676944f, 0.288532346f, -0.240264282f,
                        0.205959648f, -0.183825612f, 0.169020221f, -0.131021366f, 0.0536458902f}};
constexpr Base kTen = {
    0.434294492f,
    -1.010305e-8f,
    0.301025391f,
    4.60503907e-6f,
    {-0.217147231f, 0.144764826f, -0.108574964f, 0.086859338f, -0.0723220855f, 0.0619506054f,
     -0.0552974083f, 0.0511725284f, -0.040152885f, 0.0166260526f}};

struct Split {
  V exponent, f;
};

// For positive finite x; 0 and infinity are right as well where the target has kExponent.
Split split(Kit& k, V x) {
  const V one = k.f(1.0f);
  if (k.b.target().has_scale) {
    const V m = k.b.op1(Op::kMantissa, Lane::kF32, x);
    const V e = k.b.op1(Op::kExponent, Lane::kF32, x);
    // kExponent is that of a mantissa in [1, 2).
    return {k.select(k.is(Predicate::kOlt, m, one), k.add(e, one), e), k.sub(m, one)};
  }
  const M is_tiny = k.is(Predicate::kOlt, x, k.f(0x1p-126f));
  const V bits = k.select(is_tiny, k.mul(x, k.f(0x1p23f)), x);
  const V e = k.sar(k.int_sub(bits, k.f(0.75f)), 23);
  const V m = k.int_sub(bits, k.shl(e, 23));
  const V offset = k.select(is_tiny, k.f(23.0f), k.f(0.0f));
  return {k.sub(k.to_float(e), offset), k.sub(m, one)};
}

// What log is where x is not a positive finite number.
V with_special_values(Kit& k, V x, V result) {
  const V zero = k.f(0.0f);
  const V below = k.select(k.is(Predicate::kOeq, x, zero), k.f(-kInfinity), k.i(0x7fc00000));
  const V positive = k.select(k.is(Predicate::kOlt, x, k.f(kInfinity)), result, x);
  return k.select(k.is(Predicate::kOgt, x, zero), positive, below);
}

V natural_log(Kit& k, const Split& s) {
  V small = k.mul(k.mul(s.f, s.f), k.polynomial(s.f, kLogP));
  small = k.fma(s.exponent, k.f(kLn2Low), small);
  return k.fma(s.exponent, k.f(kLn2High), k.add(s.f, small));
}

// The two large parts may cancel, so what their sum loses is kept and added to the small ones.
V log_to_base(Builder& b, V x, const Base& base) {
  Kit k(b);
  const Split s = split(k, x);
  V small = k.mul(k.mul(s.f, s.f), k.polynomial(s.f, base.p));
  small = k.fma(s.f, k.f(base.c_low), small);
  if (base.two_low != 0) small = k.fma(s.exponent, k.f(base.two_low), small);
  const V whole = base.two_high == 1 ? s.exponent : k.mul(s.exponent, k.f(base.two_high));
  const V c = k.f(base.c_high);
  const V main = k.mul(s.f, c);
  small = k.add(k.fms(s.f, c, main), small);
  const V sum = k.add(whole, main);
  const V lost = k.sub(main, k.sub(sum, whole));  // |main| < |whole|, or whole is 0
  return with_special_values(k, x, k.add(sum, k.add(lost, small)));
}

// 2^-e where it is a normal number; for larger e it is multiplied by 0.
V inverse_power(Kit& k, V e) {
  const V limited = k.min(e, k.f(120.0f));
  if (k.b.target().has_scale) return k.b.op2(Op::kScale, Lane::kF32, k.f(1.0f), k.neg(limited));
  const V n = k.to_nearest_int(limited);
  return k.int_sub(k.f(1.0f), k.shl(n, 23));
}

}  // namespace

V math_log(Builder& b, V x) {
  Kit k(b);
  const V result = natural_log(k, split(k, x));
  if (!b.target().has_scale) return with_special_values(k, x, result);
  return k.select(k.is(Predicate::kOlt, x, k.f(0.0f)), k.i(0x7fc00000), result);
}

V math_log2(Builder& b, V x) { return log_to_base(b, x, kTwo); }
V math_log10(Builder& b, V x) { return log_to_base(b, x, kTen); }

// u = 1 + x is rounded; what is lost, over 2^e, goes back to f. Where e is 0, f becomes x again.
V math_log1p(Builder& b, V x) {
  Kit k(b);
  const V one = k.f(1.0f);
  const V u = k.add(x, one);
  const V lost = k.sub(x, k.sub(u, one));
  Split s = split(k, u);
  s.f = k.fma(lost, inverse_power(k, s.exponent), s.f);
  const V result = with_special_values(k, u, natural_log(k, s));
  return k.select(k.is(Predicate::kOeq, x, k.f(0.0f)), x, result);  // -0 stays -0
}

}  // namespace nrd::jit
