// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_layout.cpp
#include "cuda/launch/fp8_layout.h"

#include <cstdlib>
#include <limits>

namespace nrd::cuda {

Fp8Tile turned(Fp8Tile tile) {
  switch (tile) {
    case Fp8Tile::kRow: return Fp8Tile::kColumn;
    case Fp8Tile::kColumn: return Fp8Tile::kRow;
    case Fp8Tile::kBlock1x128: return Fp8Tile::kBlock128x1;
    case Fp8Tile::kBlock128x1: return Fp8Tile::kBlock1x128;
    default: return tile;
  }
}

bool runs_down(int64_t rows, int64_t cols, const Fp8Strides& s) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  return (rows > 1 ? std::abs(s.row) : kNever) < (cols > 1 ? std::abs(s.col) : kNever);
}

Fp8Strides without_idle_steps(Fp8Strides s, int64_t batch, int64_t rows, int64_t cols) {
  if (batch <= 1) s.batch = 0;
  if (rows <= 1) s.row = 0;
  if (cols <= 1) s.col = 1;
  return s;
}

Fp8Strides scale_steps(Fp8Strides s, Fp8Tile tile) {
  if (tile == Fp8Tile::kTensor || tile == Fp8Tile::kColumn) s.row = 0;
  if (tile == Fp8Tile::kTensor || tile == Fp8Tile::kRow) s.col = 0;
  return s;
}

bool has_groups(const void* data, int64_t bytes, const Fp8Strides& s, int64_t alignment) {
  return s.col == 1 && is_aligned(data, alignment) && s.row * bytes % alignment == 0 &&
         s.batch * bytes % alignment == 0;
}

Fp8Stores stores_of(const uint8_t* q, const Fp8Strides& s) {
  if (has_groups(q, 1, s, 4)) return Fp8Stores::kAcross;
  if (has_groups(q, 1, turned(s), 16)) return Fp8Stores::kDown;
  return Fp8Stores::kBytes;
}

Fp8Strides contiguous_scales(Fp8Tile tile, int64_t rows, int64_t cols) {
  const int64_t down = ceil_div(rows, kFp8Block), across = ceil_div(cols, kFp8Block);
  switch (tile) {
    case Fp8Tile::kTensor: return {1, 0, 0};
    case Fp8Tile::kRow: return {rows, 1, 0};
    case Fp8Tile::kColumn: return {cols, 0, 1};
    case Fp8Tile::kBlock1x128: return {rows * across, across, 1};
    case Fp8Tile::kBlock128x128: return {down * across, across, 1};
    default: return {down * cols, cols, 1};
  }
}

int64_t fp8_scale_count(const Fp8QuantizeArgs& args) {
  return contiguous_scales(args.tile, args.rows, args.cols).batch;
}

}  // namespace nrd::cuda
