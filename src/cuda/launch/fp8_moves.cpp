// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_moves.cpp: codes back to floats, and from one layout to another.
#include <algorithm>
#include <utility>

#include "cuda/launch/fp8_layout.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {

cudaError_t fp8_dequantize(const Fp8DequantizeArgs& args, const Target& target, Stream stream) {
  if (args.batch == 0 || args.rows == 0 || args.cols == 0) return cudaSuccess;
  Fp8DequantizeArgs a = args;
  if (runs_down(a.rows, a.cols, a.out_strides)) {
    std::swap(a.rows, a.cols);
    a.tile = turned(a.tile);
    for (Fp8Strides* s : {&a.q_strides, &a.out_strides, &a.scale_strides}) *s = turned(*s);
  }
  a.scale_strides = scale_steps(a.scale_strides, a.tile);
  a.q_strides = without_idle_steps(a.q_strides, a.batch, a.rows, a.cols);
  a.out_strides = without_idle_steps(a.out_strides, a.batch, a.rows, a.cols);
  const auto bytes = static_cast<int64_t>(byte_size(a.out_dtype));
  const bool vectors = has_groups(a.q, 1, a.q_strides, 8) &&
                       has_groups(a.out, bytes, a.out_strides, kFp8VectorBytes);
  // The kernel counts groups of eight codes in 31 bits; whole blocks of rows are split off.
  const int64_t groups = ceil_div(a.cols, 8);
  const int64_t most_rows =
      std::max<int64_t>((int64_t{1} << 30) / groups / kFp8Block, 1) * kFp8Block;
  for (int64_t left = a.rows; left > 0; left -= most_rows) {
    a.rows = std::min(left, most_rows);
    if (const cudaError_t code = target.kernels->fp8->dequantize(a, vectors, stream);
        code != cudaSuccess)
      return code;
    const bool by_row = a.tile == Fp8Tile::kRow || a.tile == Fp8Tile::kBlock1x128;
    a.q += a.rows * a.q_strides.row;
    a.out = static_cast<char*>(a.out) + a.rows * a.out_strides.row * bytes;
    a.scale += (by_row ? a.rows : a.rows / kFp8Block) * a.scale_strides.row;
  }
  return cudaSuccess;
}

cudaError_t fp8_copy(const Fp8CopyArgs& args, const Target& target, Stream stream) {
  if (args.batch == 0 || args.rows == 0 || args.cols == 0) return cudaSuccess;
  Fp8CopyArgs a = args;
  if (runs_down(a.rows, a.cols, a.from_strides)) {
    std::swap(a.rows, a.cols);
    a.from_strides = turned(a.from_strides);
    a.to_strides = turned(a.to_strides);
  }
  a.from_strides = without_idle_steps(a.from_strides, a.batch, a.rows, a.cols);
  a.to_strides = without_idle_steps(a.to_strides, a.batch, a.rows, a.cols);
  return target.kernels->fp8->copy(a, stores_of(a.to, a.to_strides),
                                   a.cols % 4 == 0 && has_groups(a.from, 1, a.from_strides, 4),
                                   stream);
}

}  // namespace nrd::cuda
