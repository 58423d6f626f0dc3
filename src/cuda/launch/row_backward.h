// SPDX-License-Identifier: MIT
// src/cuda/launch/row_backward.h: gradients of rmsnorm_rope.
#pragma once

#include "cuda/launch/row_params.h"

namespace nrd::cuda {

// dx and dw of out = turn(norm(x)); without a turn of rms_norm.
struct NormRopeBackwardArgs {
  int64_t outer[kRowAxes] = {1, 1, 1, 1};
  int64_t cols = 0;
  int64_t head_dim = 0, table = 0;
  Turn turn = Turn::kNone;
  float eps = 0;
  RowOperand x, weight, cos, sin, positions, dy;
  RowOperand dx, dw;       // dw: a row that all rows share
  float* parts = nullptr;  // the workspace: backward_groups() rows of `cols`
};

// How many blocks share the rows and hence the sum of dw: of a shape, whatever the device.
int backward_groups(const NormRopeBackwardArgs& args);
size_t backward_workspace_bytes(const NormRopeBackwardArgs& args);

struct NormRopeBackwardParams {
  const void *x, *weight, *dy;
  void* dx;
  float* parts;
  int64_t cols;
  RowPitch x_pitch, dy_pitch, dx_pitch;
  RowTables tables;
  RowSteps steps;
  uint32_t zero;
  float inverse_cols, eps;
};
// Whether rows can be held in registers; `items`: slots a thread.
bool make_params(const NormRopeBackwardArgs& args, NormRopeBackwardParams& params, int& items);

struct NormRopeBackwardAnyParams : AnyRows {
  int64_t table;
  Turn turn;
  AnyOperand x, weight, cos, sin, positions, dy, dx;
  float* parts;
};
NormRopeBackwardAnyParams make_any_params(const NormRopeBackwardArgs& args);

extern const Implementation kNormRopeBackward;

}  // namespace nrd::cuda
