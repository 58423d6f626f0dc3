// SPDX-License-Identifier: MIT
// src/cuda/launch/glue.h: reductions to one value a row, argmax, rows of int8, embeddings.
#pragma once

#include <driver_types.h>

#include <cstdint>

#include "base/dtype.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// `rows` rows of one operand; an operand without columns has one element a row.
struct GlueOperand {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t row = 0, col = 1;  // steps in elements
};

enum class Reduction : int { kSum, kMax, kDot, kSumSquares };

// A row is cut into parts of this many elements, whatever the machine: the order of a sum depends
// on its length alone.
inline constexpr int64_t kReductionPart = 16384;

struct ReduceArgs {
  Reduction op = Reduction::kSum;
  int64_t rows = 1, cols = 0;
  GlueOperand x, y, out;      // y of a dot product
  float* partials = nullptr;  // rows x parts, where there is more than one part
};
inline int64_t reduction_parts(int64_t cols) {
  return cols <= kReductionPart ? 1 : (cols + kReductionPart - 1) / kReductionPart;
}

struct ArgmaxArgs {
  int64_t rows = 0, cols = 0;
  GlueOperand x, index;
};

struct QuantizeI8Args {
  int64_t rows = 0, cols = 0;
  GlueOperand x, q, scale;
};

// out[row] = table[ids[row]]; an id that names no row of the table gives NaN.
struct EmbeddingArgs {
  int64_t rows = 0, cols = 0, vocab = 0;
  GlueOperand table, ids, out;
};

struct GlueKernels {
  cudaError_t (*reduce)(const ReduceArgs& args, Stream stream);
  cudaError_t (*argmax)(const ArgmaxArgs& args, Stream stream);
  cudaError_t (*quantize_i8)(const QuantizeI8Args& args, Stream stream);
  cudaError_t (*embedding)(const EmbeddingArgs& args, Stream stream);
};

}  // namespace nrd::cuda
