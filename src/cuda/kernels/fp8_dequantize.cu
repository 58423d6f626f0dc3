// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_dequantize.cu: 8-bit floats times their scales, of any layout.
//
// Mapping. A thread has kItems times 8 codes of a row, 256 threads apart, so that a warp reads 256
// bytes and writes 512 (16-bit output) at a time; all codes are loaded before the first is used.
// Where rows are not aligned the same items are gathered element by element.
// Registers only. Bound: memory, 3 bytes an element for 16-bit output.
#include "cuda/device/vector.cuh"
#include "cuda/kernels/fp8_launch.cuh"
#include "cuda/launch/division.h"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

constexpr int kThreads = 256;
constexpr int kCodes = 8;
constexpr int kItems = 4;

struct Items {
  uint32_t count;  // of a matrix
  Division of_row;
  int row_shift, col_shift;  // which scale an element has
  bool vectors;
  bool scale_vectors;  // of columns: scales lie side by side, aligned
};

struct Place {
  int64_t row, col;
  int count;  // of the eight codes that exist

  __device__ __forceinline__ Place(const Fp8DequantizeArgs& a, const Items& items, uint32_t item) {
    row = items.of_row.quotient(item);
    col = static_cast<int64_t>(item - static_cast<uint32_t>(row) * items.of_row.divisor) * kCodes;
    count = static_cast<int>(a.cols - col < kCodes ? a.cols - col : kCodes);
  }
};

template <class Out, class Q, bool kColumns>
__global__ void __launch_bounds__(kThreads)
    dequantize_kernel(const Fp8DequantizeArgs a, const Items items) {
  const int64_t batch = blockIdx.y;
  const Q* q = reinterpret_cast<const Q*>(a.q) + batch * a.q_strides.batch;
  Out* out = static_cast<Out*>(a.out) + batch * a.out_strides.batch;
  const float* scale = a.scale + batch * a.scale_strides.batch;
  const uint32_t first = blockIdx.x * (kThreads * kItems) + threadIdx.x;

  Packet<Q, kCodes> packets[kItems];
#pragma unroll
  for (int k = 0; k < kItems; k++) {
    const uint32_t item = first + static_cast<uint32_t>(k) * kThreads;
    if (item >= items.count) continue;
    const Place at(a, items, item);
    const Q* from = q + at.row * a.q_strides.row + at.col * a.q_strides.col;
    if (items.vectors && at.count == kCodes) {
      load<Touch::kOnce>(packets[k], from);
    } else {
      gather(packets[k], from, a.q_strides.col, at.count);
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; k++) {
    const uint32_t item = first + static_cast<uint32_t>(k) * kThreads;
    if (item >= items.count) continue;
    const Place at(a, items, item);
    float values[kCodes];
    widen(packets[k], values);
    const float* row = scale + (at.row >> items.row_shift) * a.scale_strides.row;
    if constexpr (kColumns) {
      Packet<f32, kCodes> scales;
      const float* first_scale = row + at.col * a.scale_strides.col;
      if (items.scale_vectors && at.count == kCodes) {
        load<Touch::kOften>(scales, first_scale);
      } else {
        gather(scales, first_scale, a.scale_strides.col, at.count);
      }
#pragma unroll
      for (int i = 0; i < kCodes; i++) values[i] *= float_of_bits(scales.words[i]);
    } else {
      // Eight columns from a multiple of eight on share the block.
      const float factor = load_one(row + (at.col >> items.col_shift) * a.scale_strides.col);
#pragma unroll
      for (int i = 0; i < kCodes; i++) values[i] *= factor;
    }
    Out* to = out + at.row * a.out_strides.row + at.col * a.out_strides.col;
    const auto rounded = narrow<Out, kCodes>(values);
    if (items.vectors && at.count == kCodes) {
      store<Touch::kOnce>(to, rounded);
    } else {
      scatter(to, a.out_strides.col, at.count, rounded);
    }
  }
}

}  // namespace

cudaError_t fp8_dequantize_any(const Fp8DequantizeArgs& args, bool vectors, Stream stream) {
  const int64_t of_row = (args.cols + kCodes - 1) / kCodes;
  const bool is_block = args.tile == Fp8Tile::kBlock128x128;
  Items items{static_cast<uint32_t>(args.rows * of_row),
              Division(static_cast<uint32_t>(of_row)),
              is_block || args.tile == Fp8Tile::kBlock128x1 ? 7 : 0,
              is_block || args.tile == Fp8Tile::kBlock1x128 ? 7 : 0,
              vectors,
              args.scale_strides.col == 1 && args.scale_strides.row % 4 == 0 &&
                  args.scale_strides.batch % 4 == 0 &&
                  reinterpret_cast<uintptr_t>(args.scale) % kVectorBytes == 0};
  const bool columns = args.tile == Fp8Tile::kColumn || args.tile == Fp8Tile::kBlock128x1;
  const auto advance = [](Fp8DequantizeArgs& part, int64_t count) {
    const auto bytes = static_cast<int64_t>(byte_size(part.out_dtype));
    part.q += count * part.q_strides.batch;
    part.out = static_cast<char*>(part.out) + count * part.out_strides.batch * bytes;
    part.scale += count * part.scale_strides.batch;
  };
  return for_types(args.out_dtype, args.q_dtype, [&]<class Out, class Q>(Out, Q) {
    return for_batches(args, advance, [&](const Fp8DequantizeArgs& part) {
      LaunchShape shape;
      const uint32_t of_block = kThreads * kItems;
      shape.grid = {(items.count + of_block - 1) / of_block, static_cast<unsigned>(part.batch), 1};
      shape.block = kThreads;
      shape.stream = stream;
      return columns ? launch(dequantize_kernel<Out, Q, true>, shape, part, items)
                     : launch(dequantize_kernel<Out, Q, false>, shape, part, items);
    });
  });
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
