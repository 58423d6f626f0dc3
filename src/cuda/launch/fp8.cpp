// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8.cpp: which kernels quantise a matrix, from its layout and size.
#include "cuda/launch/fp8.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cuda/launch/fp8_layout.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace {

// Rows of several matrices are rows of one where they lie at equal distances.
void fold_batch(Fp8QuantizeArgs& a) {
  if (a.tile != Fp8Tile::kRow && a.tile != Fp8Tile::kBlock1x128) return;
  if (a.rows == 1)  // a step that is not taken may be any
    for (Fp8Strides* s : {&a.x_strides, &a.q_strides, &a.scale_strides, &a.scale_in_strides})
      s->row = s->batch;
  auto folds = [&](const Fp8Strides& s) { return s.batch == a.rows * s.row; };
  if (a.batch <= 1 || a.rows < 1 || !folds(a.x_strides) || !folds(a.q_strides) ||
      !folds(a.scale_strides) || (a.scale_in && !folds(a.scale_in_strides)))
    return;
  a.rows *= a.batch;
  a.batch = 1;
  a.x_strides.batch = a.q_strides.batch = 0;
  a.scale_strides.batch = a.scale_in_strides.batch = 0;
}

// The same work with x's memory running along rows.
Fp8QuantizeArgs in_order(Fp8QuantizeArgs a) {
  if (runs_down(a.rows, a.cols, a.x_strides)) {
    std::swap(a.rows, a.cols);
    a.tile = turned(a.tile);
    for (Fp8Strides* s : {&a.x_strides, &a.q_strides, &a.scale_strides, &a.scale_in_strides})
      *s = turned(*s);
  }
  a.scale_strides = scale_steps(a.scale_strides, a.tile);
  a.scale_in_strides = scale_steps(a.scale_in_strides, a.tile);
  fold_batch(a);
  a.x_strides = without_idle_steps(a.x_strides, a.batch, a.rows, a.cols);
  a.q_strides = without_idle_steps(a.q_strides, a.batch, a.rows, a.cols);
  return a;
}

int64_t element_bytes(const Fp8QuantizeArgs& a) {
  return static_cast<int64_t>(byte_size(a.x_dtype));
}
int64_t per_vector(const Fp8QuantizeArgs& a) { return kFp8VectorBytes / element_bytes(a); }

// ---- rows in registers ----

bool fits_rows(const Fp8QuantizeArgs& a) {
  const int64_t group = per_vector(a);
  return a.tile == Fp8Tile::kRow && a.cols % group == 0 &&
         a.cols / group <= kFp8RowVectors * kFp8RowThreads &&
         has_groups(a.x, element_bytes(a), a.x_strides, kFp8VectorBytes) &&
         has_groups(a.q, 1, a.q_strides, group);
}

// A warp a row as long as it can hold it; more threads where rows alone do not fill the machine.
Fp8RowsPlan rows_plan(const Fp8QuantizeArgs& a, int multiprocessors) {
  const int64_t vectors = a.cols / per_vector(a);
  const int64_t enough = int64_t{multiprocessors} * 1024;
  int64_t threads = 32;
  while (threads < kFp8RowThreads &&
         (threads * kFp8RowVectors < vectors ||
          (threads * 2 <= vectors && threads * a.rows * a.batch < enough)))
    threads *= 2;
  return {static_cast<int>(threads), static_cast<int>(ceil_div(vectors, threads))};
}

// ---- one scale for all of a tensor without gaps ----

bool is_flat(const Fp8QuantizeArgs& a) {
  auto whole = [&](const Fp8Strides& s) { return s.col == 1 && (a.rows <= 1 || s.row == a.cols); };
  return a.tile == Fp8Tile::kTensor && a.batch == 1 && whole(a.x_strides) && whole(a.q_strides) &&
         is_aligned(a.x, kFp8VectorBytes) && is_aligned(a.q, per_vector(a));
}

// Two thirds of L2: the rest is for what passes through.
int64_t kept_by_l2(const Fp8QuantizeArgs& a, const DeviceInfo& device, int64_t of) {
  return std::min(of, int64_t{device.l2_bytes} * 2 / 3 / element_bytes(a));
}

Fp8FlatPlan chip_plan(const Fp8QuantizeArgs& a, const DeviceInfo& device) {
  const int64_t vectors = a.rows * a.cols / per_vector(a);
  const int64_t blocks =
      std::clamp<int64_t>(ceil_div(vectors, kFp8FlatThreads), 1, device.multiprocessors);
  const int64_t most = 1 + std::max((device.shared_bytes - kFp8ExchangeBytes) / kFp8BatchBytes, 0);
  const int64_t batches =
      std::clamp<int64_t>(ceil_div(vectors * kFp8VectorBytes, blocks * kFp8BatchBytes), 1, most);
  const int64_t kept = batches * blocks * kFp8FlatThreads * kFp8BatchVectors;
  const int64_t streamed = std::max<int64_t>(vectors - kept, 0) * per_vector(a);
  return {.count = a.rows * a.cols,
          .blocks = static_cast<int>(blocks),
          .tops = static_cast<float*>(a.workspace),
          .streamed = streamed,
          .shared_batches = static_cast<int>(batches - 1),
          .kept = kept_by_l2(a, device, streamed)};
}

Fp8FlatPlan two_launch_plan(const Fp8QuantizeArgs& a, const DeviceInfo& device) {
  const int64_t vectors = a.rows * a.cols / per_vector(a);
  const int64_t chunks = ceil_div(vectors, kFp8FlatThreads * kFp8FlatVectors);
  return {.count = a.rows * a.cols,
          .blocks = static_cast<int>(
              std::clamp<int64_t>(chunks, 1, int64_t{device.multiprocessors} * kFp8FlatBlocks)),
          .tops = static_cast<float*>(a.workspace),
          .kept = kept_by_l2(a, device, a.rows * a.cols)};
}

cudaError_t run_flat(const Fp8QuantizeArgs& a, const Target& target, Stream stream) {
  const Fp8Kernels& kernels = *target.kernels->fp8;
  const Fp8FlatPlan plan = two_launch_plan(a, target.device);
  if (a.saturate) return kernels.quantize_flat(a, plan, stream);
  cudaError_t code = kernels.quantize_on_chip(a, chip_plan(a, target.device), stream);
  // Other work holds some of the SMs for itself (MPS, green contexts).
  if (code != cudaErrorCooperativeLaunchTooLarge) return code;
  cudaGetLastError();  // or the next call would be blamed for it
  code = kernels.flat_tops(a, plan, stream);
  return code != cudaSuccess ? code : kernels.quantize_flat(a, plan, stream);
}

// ---- tiles ----

// A tile of the matrix has scales of its own.
bool has_own_tiles(const Fp8QuantizeArgs& a) {
  return a.tile == Fp8Tile::kBlock1x128 || a.tile == Fp8Tile::kBlock128x1 ||
         a.tile == Fp8Tile::kBlock128x128;
}

cudaError_t run_tiles(const Fp8QuantizeArgs& a, const Target& target, Stream stream) {
  const Fp8Kernels& kernels = *target.kernels->fp8;
  Fp8TilesPlan plan;
  plan.stores = stores_of(a.q, a.q_strides);
  plan.vector_loads =
      a.cols % 4 == 0 && has_groups(a.x, element_bytes(a), a.x_strides, 4 * element_bytes(a));
  switch (a.tile) {
    case Fp8Tile::kRow:
    case Fp8Tile::kBlock1x128: plan.lines = Fp8Lines::kRows; break;
    case Fp8Tile::kColumn:
    case Fp8Tile::kBlock128x1: plan.lines = Fp8Lines::kColumns; break;
    default: plan.lines = Fp8Lines::kOne;
  }
  if (has_own_tiles(a)) {
    if (a.rows == 0 || a.cols == 0) return cudaSuccess;
    return kernels.quantize_tiles(a, plan, stream);
  }
  plan.tops = static_cast<uint32_t*>(a.workspace);
  plan.tops_of_matrix = fp8_scale_count(a);
  if (plan.tops_of_matrix == 0) return cudaSuccess;
  if (!a.saturate) {
    cudaError_t code = kernels.clear(plan.tops, a.batch * plan.tops_of_matrix, stream);
    if (code != cudaSuccess) return code;
    plan.phase = Fp8Phase::kTops;
    code = kernels.quantize_tiles(a, plan, stream);
    if (code != cudaSuccess) return code;
  }
  plan.phase = Fp8Phase::kApply;
  return kernels.quantize_tiles(a, plan, stream);
}

}  // namespace

size_t fp8_quantize_workspace(const Fp8QuantizeArgs& args, const Target& target) {
  if (args.saturate) return 0;
  switch (args.tile) {
    case Fp8Tile::kTensor:
      // One a block, or one a matrix in tiles.
      return sizeof(float) *
             static_cast<size_t>(std::max<int64_t>(
                 int64_t{target.device.multiprocessors} * kFp8FlatBlocks, args.batch));
    case Fp8Tile::kRow:
    case Fp8Tile::kColumn:
      return sizeof(float) * static_cast<size_t>(args.batch * fp8_scale_count(args));
    default: return 0;
  }
}

std::string fp8_quantize_note(const Fp8QuantizeArgs& args, const Target& target) {
  const Fp8QuantizeArgs a = in_order(args);
  if (fits_rows(a)) {
    const Fp8RowsPlan plan = rows_plan(a, target.device.multiprocessors);
    return fmt::format("a row in {} threads of {} vectors", plan.threads, plan.vectors);
  }
  if (is_flat(a)) {
    if (a.saturate) return "one pass";
    const Fp8FlatPlan plan = chip_plan(a, target.device);
    return fmt::format("{} blocks keep {} x 64 KiB on chip, {} elements are streamed", plan.blocks,
                       plan.shared_batches + 1, plan.streamed);
  }
  return has_own_tiles(a) || a.saturate ? "tiles of 128x128"
                                        : "tiles of 128x128, twice, the second time backwards";
}

cudaError_t fp8_quantize(const Fp8QuantizeArgs& args, const Target& target, Stream stream) {
  if (args.batch == 0) return cudaSuccess;
  const Fp8QuantizeArgs a = in_order(args);
  if (fits_rows(a)) {
    if (a.rows == 0) return cudaSuccess;
    return target.kernels->fp8->quantize_rows(a, rows_plan(a, target.device.multiprocessors),
                                              stream);
  }
  if (is_flat(a)) return run_flat(a, target, stream);
  return run_tiles(a, target, stream);
}

}  // namespace nrd::cuda
