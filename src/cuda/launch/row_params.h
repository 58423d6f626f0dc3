// SPDX-License-Identifier: MIT
// src/cuda/launch/row_params.h: what the kernels of rows are given, made from what a caller says.
#pragma once

#include "cuda/launch/division.h"
#include "cuda/launch/rows.h"

namespace nrd::cuda {

// Bytes from row to row along two outer axes.
struct RowPitch {
  int64_t outer = 0, inner = 0;
};

// What a thread finds its slots with; worked out once a launch.
struct RowSteps {
  uint32_t packet, head_dim, half;  // elements
  uint32_t jump;                    // from a thread's slot to its next
  int heads, heads_a_jump;
  uint32_t chunks, chunk_mask;
  int chunk_bits;
  uint32_t thread_mask, rows_per_block;
  int thread_bits;  // 2^thread_bits threads share a row
  uint32_t rows;
  Division inner;  // outer index = row / inner
};

// cos and sin; row `position` of `count`, which is the inner index where there are no positions.
struct RowTables {
  const void *cos, *sin;
  const int32_t* positions;
  RowPitch cos_pitch, sin_pitch, positions_pitch;
  uint32_t count;
};

struct NormRopeParams {
  const void *x, *residual, *weight;
  void *out, *sum;
  float* scale;
  RowPitch x_pitch, residual_pitch, out_pitch, sum_pitch, scale_pitch;
  RowTables tables;
  RowSteps steps;
  uint32_t blocks;
  uint32_t zero;  // is 0 (kernels/row_slots.cuh)
  float inverse_cols, eps;
  bool before_weight, round_between;
  bool e5m2;         // of an 8-bit output
  bool interleaved;  // read by kernels of either turn
};

// The kernel among those that hold a row in registers.
struct NormRopeChoice {
  DType x;
  bool wide_weight, wide_tables;  // f32 where x is not
  Turn turn;
  bool norm, residual, rounds, fp8;
  int items;  // slots a thread
};

// Whether a row can be held in registers by accesses of 16 bytes; fills `params`.
bool make_params(const NormRopeArgs& args, const RowConfig& config, NormRopeParams& params,
                 NormRopeChoice& choice);

struct RowStatisticsParams {
  const void *x, *weight, *bias;
  void* out;
  RowPitch x_pitch, out_pitch;
  RowSteps steps;
  uint32_t blocks;
  uint32_t zero;
  float cols, inverse_cols, eps;
  bool softmax, before_weight;
};
bool make_params(const RowStatisticsArgs& args, const RowConfig& config,
                 RowStatisticsParams& params, int& items);

// Any strides, dtypes and alignments: the operands as they were given, and which of them allow
// accesses of a whole packet.
struct AnyOperand : RowOperand {
  bool packets = false;
};

struct AnyRows {
  int64_t outer[kRowAxes];
  int64_t rows = 0;
  int64_t cols = 0;
  RowCut cut;
  int threads = 32;
  int tree = 32;  // slots of the tree, at least as many as threads
  float inverse_cols = 0, eps = 0;
};

struct NormRopeAnyParams : AnyRows {
  int64_t table;
  Turn turn;
  bool norm, before_weight, round_between;
  AnyOperand x, residual, weight, cos, sin, positions, out, sum, scale;
};
NormRopeAnyParams make_any_params(const NormRopeArgs& args);

struct RowStatisticsAnyParams : AnyRows {
  bool softmax, before_weight;
  AnyOperand x, weight, bias, out;
};
RowStatisticsAnyParams make_any_params(const RowStatisticsArgs& args);

}  // namespace nrd::cuda
