// SPDX-License-Identifier: MIT
// src/cuda/launch/row_params.cpp: which rows 16-byte accesses reach.
#include "cuda/launch/row_params.h"

#include <algorithm>

#include "cuda/launch/row_parts.h"

namespace nrd::cuda {
namespace {

bool has_rounding(const NormRopeArgs& a) {
  return a.norm && a.x.dtype != DType::kF32 && (a.before_weight || a.round_between);
}

// What was compiled (kernels/norm_rope_choose.cuh): x, residual and sum have one dtype, and so has
// out unless it is 8-bit; weight and tables have that dtype or f32.
bool has_kernel(const NormRopeArgs& a) {
  const DType x = a.x.dtype;
  const bool wide = is_wide(a.weight, x) || is_wide(a.cos, x);
  const bool turned = a.turn != Turn::kNone;
  auto same_or_f32 = [&](const RowOperand& o) { return is_same(o, x) || o.dtype == DType::kF32; };
  if (!is_same(a.residual, x) || !is_same(a.sum, x) || !same_or_f32(a.weight)) return false;
  if (turned && (a.cos.dtype != a.sin.dtype || !same_or_f32(a.cos))) return false;
  if (a.scale.present) return turned && a.norm && x != DType::kF32 && !wide && !has_rounding(a);
  return is_same(a.out, x) && !(turned && wide && has_rounding(a));
}

// Slots that a thread can hold: registers, and how many of those kernels there are.
int most_items(const NormRopeArgs& a) {
  if (a.turn == Turn::kNone) return 4;
  const bool wide = is_wide(a.weight, a.x.dtype) || is_wide(a.cos, a.x.dtype);
  return wide || a.residual.present || a.scale.present ? 2 : 4;
}

RowCut cut_row(const NormRopeArgs& a) {
  return a.turn == Turn::kNone ? cut_plain_row(a.x.dtype, a.cols)
                               : cut_turned_row(a.x.dtype, a.cols, a.head_dim);
}

}  // namespace

RowTask row_task(const NormRopeArgs& args, int multiprocessors) {
  return {.cut = cut_row(args),
          .rows = rows_of(args.outer),
          .most_items = most_items(args),
          .multiprocessors = multiprocessors};
}

RowTask row_task(const RowStatisticsArgs& args, int multiprocessors) {
  return {.cut = cut_plain_row(args.x.dtype, args.cols),
          .rows = rows_of(args.outer),
          .most_items = args.softmax ? 8 : 4,
          .multiprocessors = multiprocessors};
}

bool make_params(const NormRopeArgs& a, const RowConfig& config, NormRopeParams& p,
                 NormRopeChoice& choice) {
  const RowTask task = row_task(a, 1);
  const int packet = task.cut.packet;
  const bool turned = a.turn != Turn::kNone;
  if (!is_regular(task, config, a.outer) || !has_kernel(a)) return false;
  if (packet * byte_size(a.x.dtype) != 16 || a.cols % packet != 0) return false;
  if (!is_shared_by_rows(a.weight, a.outer)) return false;
  for (const RowOperand* o : {&a.x, &a.residual, &a.weight, &a.out, &a.sum}) {
    if (!o->present) continue;
    if (turned && a.cols > a.head_dim && o->head != a.head_dim) return false;
    if (!has_packets(*o, a.outer, a.head_dim, packet)) return false;
  }
  if (!has_regular_tables(a, packet)) return false;
  choice = {.x = a.x.dtype,
            .wide_weight = is_wide(a.weight, a.x.dtype),
            .wide_tables = is_wide(a.cos, a.x.dtype),
            .turn = a.turn,
            .norm = a.norm,
            .residual = a.residual.present,
            .rounds = has_rounding(a),
            .fp8 = a.scale.present,
            .items = items_of(task, config)};
  p = {.x = a.x.data,
       .residual = a.residual.data,
       .weight = a.weight.data,
       .out = a.out.data,
       .sum = a.sum.data,
       .scale = static_cast<float*>(a.scale.data),
       .x_pitch = pitch(a.x),
       .residual_pitch = pitch(a.residual),
       .out_pitch = pitch(a.out),
       .sum_pitch = pitch(a.sum),
       .scale_pitch = pitch(a.scale),
       .tables = make_tables(a),
       .steps = make_steps(task, config, a.outer),
       .blocks = block_count(task, config),
       .zero = 0,
       .inverse_cols = inverse(a.cols),
       .eps = a.eps,
       .before_weight = a.before_weight,
       .round_between = a.round_between,
       .e5m2 = a.out.dtype == DType::kF8E5M2,
       .interleaved = a.turn == Turn::kInterleaved};
  return true;
}

bool make_params(const RowStatisticsArgs& a, const RowConfig& config, RowStatisticsParams& p,
                 int& items) {
  const RowTask task = row_task(a, 1);
  const int packet = task.cut.packet;
  if (!is_regular(task, config, a.outer) || a.cols % packet != 0) return false;
  for (const RowOperand* o : {&a.x, &a.weight, &a.bias, &a.out})
    if (!is_same(*o, a.x.dtype) || !has_packets(*o, a.outer, 0, packet)) return false;
  if (!is_shared_by_rows(a.weight, a.outer) || !is_shared_by_rows(a.bias, a.outer)) return false;
  items = items_of(task, config);
  p = {.x = a.x.data,
       .weight = a.weight.data,
       .bias = a.bias.data,
       .out = a.out.data,
       .x_pitch = pitch(a.x),
       .out_pitch = pitch(a.out),
       .steps = make_steps(task, config, a.outer),
       .blocks = block_count(task, config),
       .zero = 0,
       .cols = static_cast<float>(a.cols),
       .inverse_cols = inverse(a.cols),
       .eps = a.eps,
       .softmax = a.softmax,
       .before_weight = a.before_weight};
  return true;
}

NormRopeAnyParams make_any_params(const NormRopeArgs& a) {
  NormRopeAnyParams p{};
  fill_any(a, cut_row(a), p);
  p.table = a.table;
  p.turn = a.turn;
  p.norm = a.norm;
  p.before_weight = a.before_weight;
  p.round_between = a.round_between;
  auto any = [&](const RowOperand& o) {
    // A last packet that is not full is read element by element.
    return AnyOperand{o, has_packets(o, a.outer, a.head_dim, p.cut.packet)};
  };
  p.x = any(a.x), p.residual = any(a.residual), p.weight = any(a.weight);
  p.cos = any(a.cos), p.sin = any(a.sin), p.positions = any(a.positions);
  p.out = any(a.out), p.sum = any(a.sum), p.scale = any(a.scale);
  return p;
}

RowStatisticsAnyParams make_any_params(const RowStatisticsArgs& a) {
  RowStatisticsAnyParams p{};
  fill_any(a, cut_plain_row(a.x.dtype, a.cols), p);
  p.softmax = a.softmax;
  p.before_weight = a.before_weight;
  auto any = [&](const RowOperand& o) {
    return AnyOperand{o, has_packets(o, a.outer, 0, p.cut.packet)};
  };
  p.x = any(a.x), p.weight = any(a.weight), p.bias = any(a.bias), p.out = any(a.out);
  return p;
}

}  // namespace nrd::cuda
