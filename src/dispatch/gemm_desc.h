// SPDX-License-Identifier: MIT
// src/dispatch/gemm_desc.h: what the GEMM engine must know of a Desc.
#pragma once

#include <vector>

#include "gemm/product.h"
#include "ops/desc.h"

namespace nrd {

// Operands by number; -1: none.
struct ProductOperands {
  int a = -1, b = -1, c = -1;
  int a_scales = -1, b_scales = -1;  // of blocks
  // Of the epilogue, in its order; strides in bytes.
  struct Extra {
    int operand;
    int64_t row, column;
  };
  std::vector<Extra> extras;
};

struct DescribedProduct {
  gemm::ProductDesc product;
  ProductOperands at;
};

// Of gemm, gemm_prepacked, gemm_bias, gemm_dequant and fp8_gemm with both operands quantised.
DescribedProduct describe_product(const Desc& desc, Numerics numerics);

}  // namespace nrd
