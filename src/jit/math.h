// SPDX-License-Identifier: MIT
// src/jit/math.h: elementary functions of f32 vectors, as instructions of the vector IR.
//
// Every function is right for all floats (NaN, infinities, denormals) and within 2 ulp of the
// exact value; the same instructions serve every ISA, but for 2^n and the split of a number into
// exponent and mantissa, which AVX-512 has as instructions, and tanh and erf, which it looks up
// (math_table.cpp). The coefficients were fitted for these
// functions (weighted minimax, each coefficient rounded to f32 before the next was fitted).
#pragma once

#include "base/dtype.h"
#include "jit/ir.h"

namespace nrd::jit {

V math_exp(Builder& b, V x);
V math_exp2(Builder& b, V x);
V math_expm1(Builder& b, V x);
V math_log(Builder& b, V x);
V math_log2(Builder& b, V x);
V math_log10(Builder& b, V x);
V math_log1p(Builder& b, V x);
V math_tanh(Builder& b, V x);
V math_erf(Builder& b, V x);
V math_sin(Builder& b, V x);  // beyond 1e6 lane by lane through libm
V math_cos(Builder& b, V x);
V math_pow(Builder& b, V x, V y);  // positive normal bases; others lane by lane through libm

// x / s for one s in all lanes, within 1.5 ulp, whatever x and s are: what depends on s alone is
// made once, ahead of a loop.
struct ReciprocalOf {
  V reciprocal, factor;
};
ReciprocalOf math_prepare_division(Builder& b, V s);
V math_divide(Builder& b, V x, const ReciprocalOf& by);

// 1 + tanh(x), as 2 / (1 + exp(-2x)): half the work, and no cancellation where it is near 0.
V math_one_plus_tanh(Builder& b, V x);

// nrd_round_to_f32 for a constant dtype (f32, f64, f16, bf16, f8e4m3, f8e5m2).
V math_round_to(Builder& b, V x, DType dtype);

// The same of f64 vectors, within 2 units of their last place to 1e6, by libm beyond.
V math_sin_f64(Builder& b, V x);
V math_cos_f64(Builder& b, V x);

// The helper functions that kCallLanes of our programs may name; every block points at this table.
const Helper* helper_table();
// The number of the helper that computes `op` of the lane type; -1 where there is none.
int helper_number(TraceOp op, Lane lane);
// Where a lane of `is_rare` is set, replaces those lanes of `result` by libm's function.
void call_for_rare(Builder& b, Lane lane, M is_rare, TraceOp op, V x, V y, V result);

}  // namespace nrd::jit
