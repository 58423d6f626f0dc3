// SPDX-License-Identifier: MIT
// src/gemm/describe.h: what the engine must know of a Desc: the one place where an operator becomes
// a product with an epilogue.
#pragma once

#include <vector>

#include "gemm/batch.h"
#include "gemm/packed.h"
#include "graph/graph.h"
#include "ops/desc.h"

namespace nrd {

// An operand of the epilogue: one of the Desc's, or a number that is fixed.
struct EpilogueSource {
  int operand = -1;
  float number = 0;
};

// Operands by number; -1: none.
struct ProductOperands {
  int a = -1, b = -1, c = -1;
  int a_scales = -1, b_scales = -1;      // of blocks
  std::vector<EpilogueSource> epilogue;  // in its order
};

struct DescribedProduct {
  gemm::BatchDesc batch;
  ProductOperands at;
};

// The trace of a bound primitive; null where there is none.
using TraceSource = const OpTrace* (*)(const Desc&);

// A product of the catalogue by itself: gemm, gemm_prepacked, gemm_dequant, and fp8_gemm with both
// operands quantised.
DescribedProduct describe_product(const Desc& desc, Numerics numerics);

// A composite whose first node is gemm or gemm_prepacked and whose others each take the result of
// the one before, element by element, beside operands of the composite, numbers and nothing else.
// The error names the node that is in the way.
Expected<DescribedProduct> match_product(const Graph& graph, Numerics numerics, TraceSource traces);

// The panels that an operand lies in; null where it lies in no form, or another.
const gemm::PackedLayout* packed_layout(const OperandDesc& operand);
// The form of a matrix that was packed so.
const Form* packed_form(const gemm::PackedLayout& layout);

}  // namespace nrd
