// SPDX-License-Identifier: MIT
// src/jit/math_kit.h: short names for the instructions that the elementary functions are made of.
#pragma once

#include <bit>
#include <limits>
#include <span>

#include "jit/ir.h"

namespace nrd::jit {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Writes f32 (and bare bit) operations through a Builder.
class Kit {
 public:
  explicit Kit(Builder& builder) : b(builder) {}

  V f(float value) { return b.constant(value); }
  V i(uint32_t bits) { return b.constant(Lane::kI32, bits); }
  V add(V x, V y) { return b.op2(Op::kAdd, Lane::kF32, x, y); }
  V sub(V x, V y) { return b.op2(Op::kSub, Lane::kF32, x, y); }
  V mul(V x, V y) { return b.op2(Op::kMul, Lane::kF32, x, y); }
  V div(V x, V y) { return b.op2(Op::kDiv, Lane::kF32, x, y); }
  V fma(V x, V y, V z) { return b.op3(Op::kFma, Lane::kF32, x, y, z); }    // x*y + z
  V fnma(V x, V y, V z) { return b.op3(Op::kFnma, Lane::kF32, x, y, z); }  // z - x*y
  V fms(V x, V y, V z) { return b.op3(Op::kFms, Lane::kF32, x, y, z); }    // x*y - z
  V min(V x, V y) { return b.op2(Op::kMin, Lane::kF32, x, y); }            // y where unordered
  V max(V x, V y) { return b.op2(Op::kMax, Lane::kF32, x, y); }
  V bit_and(V x, V y) { return b.op2(Op::kAnd, Lane::kI32, x, y); }
  V bit_or(V x, V y) { return b.op2(Op::kOr, Lane::kI32, x, y); }
  V bit_xor(V x, V y) { return b.op2(Op::kXor, Lane::kI32, x, y); }
  V int_add(V x, V y) { return b.op2(Op::kAdd, Lane::kI32, x, y); }
  V int_sub(V x, V y) { return b.op2(Op::kSub, Lane::kI32, x, y); }
  V shl(V x, int count) { return b.shift(Op::kShl, x, count); }
  V shr(V x, int count) { return b.shift(Op::kShr, x, count); }
  V sar(V x, int count) { return b.shift(Op::kSar, x, count); }
  V to_float(V x) { return b.op1(Op::kI32ToF32, Lane::kF32, x); }
  V to_nearest_int(V x) { return b.op1(Op::kF32ToI32Nearest, Lane::kI32, x); }
  M is(Predicate p, V x, V y) { return b.compare(p, Lane::kF32, x, y); }
  M int_is(Predicate p, V x, V y) { return b.compare(p, Lane::kI32, x, y); }
  V select(M m, V yes, V no) { return b.select(Lane::kF32, m, yes, no); }

  V abs(V x) { return bit_and(x, i(0x7fffffff)); }
  V neg(V x) { return bit_xor(x, i(0x80000000)); }
  V sign_of(V x) { return bit_and(x, i(0x80000000)); }

  // Constant term first.
  V polynomial(V x, std::span<const float> coefficients) {
    V sum = f(coefficients.back());
    for (size_t k = coefficients.size() - 1; k-- > 0;) sum = fma(sum, x, f(coefficients[k]));
    return sum;
  }

  Builder& b;
};

// An integral number in the two forms that 2^n is made from.
struct Integral {
  V as_float;
  V as_int;  // only where the target cannot scale
};
Integral nearest(Kit& k, V x, float factor);  // to x * factor, below 2^22
V scale(Kit& k, V x, const Integral& n);      // x * 2^n for 0.25 <= |x| < 4 or NaN, |n| < 252

// exp(r) - 1 for |r| <= 0.35.
V expm1_near_zero(Kit& k, V r);

// math_table.cpp: quicker where lanes can be looked up.
bool has_table_functions(const Builder& b);
V math_tanh_by_table(Builder& b, V x);
V math_erf_by_table(Builder& b, V x);

}  // namespace nrd::jit
