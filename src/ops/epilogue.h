// SPDX-License-Identifier: MIT
// src/ops/epilogue.h: products with steps behind them, named by what they are.
//
//   gemm+column_scale+bias+silu+residual      c = silu(a b * scale + bias) + residual
//
// The first word is a product of the catalogue, each further one a step on its result v[m,n]:
//   scale          v * scale            one number for all, an operand
//   column_scale   v * scale[n]         (with `scale` one of the two)
//   row_scale      v * row_scale[m]
//   alpha          v * alpha            an attribute
//   bias           v + bias[n]
//   residual       v + residual[m,n]    may be the memory of c
//   beta           v + beta * residual[m,n], beta an attribute
//   any operator that maps one value to one value (silu), or two to one (vec_mul, swiglu): the
//   second is an operand with[m,n], with2[m,n], ... Users' operators are such too.
// Steps work in f32; c is rounded once. Such an operator is a composite like those of the
// catalogue: it binds, runs, is explained and measured alike, and an engine may take its steps onto
// the accumulators.
#pragma once

#include <string>
#include <string_view>

#include "ops/op.h"

namespace nrd {

bool is_epilogue_name(std::string_view name);  // has steps behind a product's name
// The operator; its name is `name`. Not kept: find_op() does that.
Expected<Op> make_product_with_epilogue(std::string_view name);

// Whether an operator may stand as a step, with so many operands beside v. The first variant
// counts.
bool is_elementwise_step(const Op& op, int operands);

}  // namespace nrd
