// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_sides.cpp
#include "cuda/launch/fp8_gemm_sides.h"

#include "base/align.h"
#include "cuda/launch/error.h"
#include "cuda/launch/fp8.h"

namespace nrd::cuda {
namespace {

constexpr int64_t kRowAlignment = 16;
constexpr size_t kMemoryAlignment = 256;

int64_t blocks(int64_t value) { return ceil_div(value, 128); }

const ProblemOperand& operand_of(const Fp8GemmProblem& p, bool right) { return right ? p.b : p.a; }
const ProblemOperand& scale_of(const Fp8GemmProblem& p, bool right) {
  return right ? p.b_scale : p.a_scale;
}

// How the scales of a side that is quantised here lie. A tile of c reads those of a for many rows
// and one block of k at a time, those of b for one block of columns and all of k.
struct ScaleLayout {
  int64_t row = 0, k = 0, count = 1;
};
ScaleLayout scale_layout(Fp8Grain grain, bool right, int64_t rows, int64_t k) {
  if (grain == Fp8Grain::kTensor) return {};
  if (grain == Fp8Grain::kRowColumn) return {1, 0, rows};
  if (right) return {blocks(k), 1, blocks(rows) * blocks(k)};
  return {1, round_up(rows, 4), round_up(rows, 4) * blocks(k)};
}

// Rows that kernels can read where they lie, given an address that suits.
bool rows_suit(const ProblemOperand& operand, int64_t rows, int64_t k, bool aligned_rows) {
  if (operand.inner != 1 && k > 1) return false;
  if (rows <= 1) return true;
  if (operand.outer < k) return false;  // rows that overlap or run backwards
  return !aligned_rows || operand.outer % kRowAlignment == 0;
}

Fp8Tile tile_of(Fp8Grain grain, bool right) {
  if (grain == Fp8Grain::kTensor) return Fp8Tile::kTensor;
  if (grain == Fp8Grain::kRowColumn) return Fp8Tile::kRow;
  return right ? Fp8Tile::kBlock128x128 : Fp8Tile::kBlock1x128;
}

Fp8QuantizeArgs quantize_args(const Fp8GemmProblem& p, const SidePlan& plan, const void* data,
                              char* memory) {
  const ProblemOperand& operand = operand_of(p, plan.right);
  const ScaleLayout scales = scale_layout(p.grain, plan.right, plan.rows, plan.k);
  Fp8QuantizeArgs args;
  args.x = data;
  args.x_dtype = operand.dtype;
  args.q = reinterpret_cast<uint8_t*>(memory);
  args.scale = reinterpret_cast<float*>(memory + plan.scales);
  args.workspace = memory + plan.workspace;
  args.tile = tile_of(p.grain, plan.right);
  args.rows = plan.rows;
  args.cols = plan.k;
  args.x_strides = {.row = operand.outer, .col = operand.inner};
  args.q_strides = {.row = plan.code_row, .col = 1};
  args.scale_strides = {.row = scales.row, .col = scales.k};
  return args;
}

}  // namespace

SidePlan plan_side(const Fp8GemmProblem& p, bool right, bool aligned_rows, const Target& target) {
  const ProblemOperand& operand = operand_of(p, right);
  SidePlan plan;
  plan.right = right;
  plan.rows = right ? p.n : p.m;
  plan.k = p.k;
  plan.transposes = operand.inner != 1 && operand.outer == 1;
  plan.code_row = round_up(plan.k, kRowAlignment);
  if (!scale_of(p, right).present())
    plan.work = SidePlan::Work::kQuantize;
  else if (!rows_suit(operand, plan.rows, plan.k, aligned_rows))
    plan.work = SidePlan::Work::kCopy;
  else
    return plan;
  plan.bytes = static_cast<size_t>(plan.rows * plan.code_row);
  if (plan.work == SidePlan::Work::kCopy) return plan;
  const auto aligned = [](size_t at) {
    return (at + kMemoryAlignment - 1) & ~(kMemoryAlignment - 1);
  };
  plan.scales = aligned(plan.bytes);
  const ScaleLayout scales = scale_layout(p.grain, right, plan.rows, plan.k);
  plan.workspace = aligned(plan.scales + static_cast<size_t>(scales.count) * sizeof(float));
  plan.bytes =
      plan.workspace + fp8_quantize_workspace(quantize_args(p, plan, nullptr, nullptr), target);
  return plan;
}

SidePlan plan_move(const SidePlan& plan) {
  if (plan.work != SidePlan::Work::kNone) return plan;
  SidePlan moved = plan;
  moved.work = SidePlan::Work::kCopy;
  moved.bytes = static_cast<size_t>(plan.rows * plan.code_row);
  return moved;
}

Expected<Side> make_side(const Fp8GemmProblem& p, const SidePlan& plan, const void* data,
                         void* memory, const Target& target, Stream stream) {
  const ProblemOperand& operand = operand_of(p, plan.right);
  const ProblemOperand& given = scale_of(p, plan.right);
  Side side;
  side.scale_row = given.outer;
  side.scale_k = given.inner;
  if (plan.work == SidePlan::Work::kNone) {
    side.codes = data;
    side.code_row = plan.rows > 1 ? operand.outer : plan.code_row;
    return side;
  }
  side.codes = memory;
  side.code_row = plan.code_row;
  if (plan.work == SidePlan::Work::kCopy) {
    Fp8CopyArgs args;
    args.from = static_cast<const uint8_t*>(data);
    args.to = static_cast<uint8_t*>(memory);
    args.rows = plan.rows;
    args.cols = plan.k;
    args.from_strides = {.row = operand.outer, .col = operand.inner};
    args.to_strides = {.row = plan.code_row, .col = 1};
    NRD_CUDA_TRY(fp8_copy(args, target, stream));
    return side;
  }
  const ScaleLayout scales = scale_layout(p.grain, plan.right, plan.rows, plan.k);
  const Fp8QuantizeArgs args = quantize_args(p, plan, data, static_cast<char*>(memory));
  NRD_CUDA_TRY(fp8_quantize(args, target, stream));
  side.scale = args.scale;
  side.scale_row = scales.row;
  side.scale_k = scales.k;
  return side;
}

std::string side_note(const SidePlan& plan) {
  if (plan.work == SidePlan::Work::kNone) return {};
  std::string text = plan.right ? "b " : "a ";
  text += plan.work == SidePlan::Work::kQuantize ? "quantised" : "copied";
  if (plan.transposes) text += " and transposed";
  return text;
}

}  // namespace nrd::cuda
