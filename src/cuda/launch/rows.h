// SPDX-License-Identifier: MIT
// src/cuda/launch/rows.h: kernels that work on rows: norms, rotary embedding, softmax.
#pragma once

#include <driver_types.h>

#include <cstdint>

#include "base/dtype.h"
#include "cuda/config/rows.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// Rows are numbered along outer axes, the last one fastest. Whoever calls has folded them.
inline constexpr int kRowAxes = 4;

// Strides in elements.
struct RowOperand {
  bool present = false;
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t outer[kRowAxes] = {};  // of the outer axes; 0 where it is the same for all
  int64_t head = 0;              // from head to head where heads are turned
  int64_t step = 1;              // from column to column (of a head)
  int64_t table = 0;             // cos and sin with positions: from row to row of the table
};

enum class Turn : int { kNone, kHalf, kInterleaved };

// out = turn(norm(x)): rms_norm, add_rms_norm, rmsnorm_rope, rope and rope_with_pos.
struct NormRopeArgs {
  int64_t outer[kRowAxes] = {1, 1, 1, 1};  // sizes
  int64_t cols = 0;
  int64_t head_dim = 0;  // of a turned row
  int64_t table = 0;     // rows of cos and sin, where positions choose among them
  Turn turn = Turn::kNone;
  bool norm = true;            // else out = turn(x), and there is no weight
  bool before_weight = false;  // round to x's dtype before the weight as well
  bool round_between = false;  // round to x's dtype between norm and turn
  float eps = 0;
  RowOperand x, residual, weight, cos, sin, positions;
  RowOperand out, sum, scale;  // sum with a residual; scale (f32, a row) where out is 8-bit
};

// layer_norm and softmax.
struct RowStatisticsArgs {
  int64_t outer[kRowAxes] = {1, 1, 1, 1};
  int64_t cols = 0;
  bool softmax = false;  // else layer_norm, with weight and bias
  bool before_weight = false;
  float eps = 0;
  RowOperand x, weight, bias, out;
};

struct NormRopeBackwardArgs;  // launch/row_backward.h

struct RowKernels {
  // Whatever the strides, dtypes and alignments are; faster where rows are contiguous.
  cudaError_t (*norm_rope)(const NormRopeArgs& args, const RowConfig& config, Stream stream);
  cudaError_t (*statistics)(const RowStatisticsArgs& args, const RowConfig& config, Stream stream);
  cudaError_t (*norm_rope_backward)(const NormRopeBackwardArgs& args, Stream stream);
};

// The cut that the kernels take; what RowConfig is chosen from.
RowTask row_task(const NormRopeArgs& args, int multiprocessors);
RowTask row_task(const RowStatisticsArgs& args, int multiprocessors);

extern const Implementation kNormRope;       // rms_norm, rope and what has both
extern const Implementation kRowStatistics;  // layer_norm and softmax

}  // namespace nrd::cuda
