// SPDX-License-Identifier: MIT
// src/gemm/describe.h: what the GEMM engine must know of a Desc.
#pragma once

#include <vector>

#include "gemm/batch.h"
#include "ops/desc.h"

namespace nrd {

// Operands by number; -1: none.
struct ProductOperands {
  int a = -1, b = -1, c = -1;
  int a_scales = -1, b_scales = -1;  // of blocks
  std::vector<int> extras;           // of the epilogue, in its order
};

struct DescribedProduct {
  gemm::BatchDesc batch;
  ProductOperands at;
};

// Of gemm, gemm_prepacked, gemm_bias, gemm_dequant and fp8_gemm with both operands quantised.
DescribedProduct describe_product(const Desc& desc, Numerics numerics);

// A step of the epilogue with an operand that lies like this and has `shape` beside the leading
// axes. Returns its number.
int add_step(gemm::BatchDesc& batch, gemm::StepKind kind, gemm::OperandShape shape,
             const OperandDesc& operand, const Dims& leading);

}  // namespace nrd
