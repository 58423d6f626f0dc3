// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_tiles.cuh: 8-bit floats of any layout, tile by tile of 128x128.
//
// Mapping. A block of 256 threads has a tile, a thread 16 rows of 4 columns (device/byte_tile.cuh):
// a warp reads 16 times 256 bytes of 16-bit elements, all before the first is used. The tile stays
// in registers (32 words, 64 of f32), so that scales of 128x128, 1x128 and 128x1 need one pass.
// A scale for more than a tile takes two launches: kTops raises the tops of all tiles by integer
// maxima (exact in any order), kApply reads the tensor again, backwards, so that L2 still has what
// came last. Codes leave across rows or, for a product that wants them K-contiguous, down columns.
// Shared memory: 2 KB of quotients, 4 KB of tops, 16 KB where codes leave down columns; a stage of
// 32 or 64 KB where rows cannot be read as vectors.
// Bound: memory, 3 bytes an element (16-bit input) in one pass, 5 in two. Order: none, all exact.
#pragma once

#include "cuda/device/byte_tile.cuh"
#include "cuda/device/magnitude.cuh"
#include "cuda/device/quotient.cuh"
#include "cuda/device/reduce.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// In bytes from the start of shared memory.
inline constexpr int kQuotientsAt = 0;
inline constexpr int kTopsAt = kTile * static_cast<int>(sizeof(float4));
inline constexpr int kCodesAt =
    kTopsAt + kTileThreads / kWarp * kTile * static_cast<int>(sizeof(float));

// The maxima of 2 * kHalf values a lane over 2 * kApart lanes: each step hands half of the values
// to the other half of the lanes.
template <int kHalf, int kApart>
__device__ __forceinline__ void exchange_maxima(float* values, int lane) {
  if constexpr (kHalf > 0) {
    const bool is_upper = lane & kApart;
#pragma unroll
    for (int i = 0; i < kHalf; i++) {
      const float mine = is_upper ? values[i + kHalf] : values[i];
      const float other = is_upper ? values[i] : values[i + kHalf];
      values[i] = fmaxf(mine, __shfl_xor_sync(kAllLanes, other, kApart));
    }
    exchange_maxima<kHalf / 2, kApart / 2>(values, lane);
  }
}
// Of 16 values over a warp: lane l gets that of value l / 2. 16 shuffles, where a tree for each
// value takes 80.
__device__ __forceinline__ float maxima_of_lanes(float (&values)[kThreadRows], int lane) {
  exchange_maxima<kThreadRows / 2, kWarp / 2>(values, lane);
  return fmaxf(values[0], __shfl_xor_sync(kAllLanes, values[0], 1));
}

// The largest finite magnitudes of a thread's part: of each row, ...
template <class X>
__device__ __forceinline__ void row_tops(const Packet<X, kThreadCols> (&packets)[kThreadRows],
                                         float (&tops)[kThreadRows]) {
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) {
    Top<X> top;
    top.add(packets[i]);
    if (!is_finite(top.value())) {
      top = {};
      top.template add<true>(packets[i]);
    }
    tops[i] = top.value();
  }
}

// ... of each column.
template <class X>
__device__ __forceinline__ void column_tops(const Packet<X, kThreadCols> (&packets)[kThreadRows],
                                            float (&tops)[kThreadCols]) {
  Packet<X, kThreadCols> highest{};
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) raise_tops(highest, packets[i]);
  widen(highest, tops);
  bool is_plain = true;
#pragma unroll
  for (float top : tops) is_plain = is_plain && is_finite(top);
  if (is_plain) return;
  highest = {};
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) raise_tops<X, kThreadCols, true>(highest, packets[i]);
  widen(highest, tops);
}

// The tops of the tile's lines, in tops[line]; ends with a barrier.
template <class X, Fp8Lines kLines>
__device__ __forceinline__ void find_tops(const Packet<X, kThreadCols> (&packets)[kThreadRows],
                                          const TilePart& part, float* tops) {
  if constexpr (kLines == Fp8Lines::kRows) {
    float values[kThreadRows];
    row_tops(packets, values);
    const float top = maxima_of_lanes(values, part.lane);
    if (part.lane % 2 == 0) tops[part.warp * kThreadRows + part.lane / 2] = top;
  } else {
    float values[kThreadCols];
    column_tops(packets, values);
    if constexpr (kLines == Fp8Lines::kOne) {
      const float top = combine_row<Larger>(combine_slots<Larger, kThreadCols>(values),
                                            kTileThreads, tops + kTile);
      if (threadIdx.x == 0) tops[0] = top;
    } else {
#pragma unroll
      for (int j = 0; j < kThreadCols; j++)
        tops[part.warp * kTile + part.lane * kThreadCols + j] = values[j];
      __syncthreads();
      float top = 0.0f;
      if (threadIdx.x < kTile)
        for (int w = 0; w < kTileThreads / kWarp; w++)
          top = fmaxf(top, tops[w * kTile + static_cast<int>(threadIdx.x)]);
      __syncthreads();
      if (threadIdx.x < kTile) tops[threadIdx.x] = top;
    }
  }
  __syncthreads();
}

template <Fp8Lines kLines>
inline constexpr int kLineCount = kLines == Fp8Lines::kOne ? 1 : kTile;

// One line of a tile: where its scale and its top lie, and whether it exists.
template <Fp8Lines kLines>
struct TileLine {
  int64_t row, col;  // of the scale, in steps of its strides
  int64_t index;     // of the top, where one scale covers more than a tile
  bool exists;
  bool is_first;  // of the tiles that share the scale

  __device__ __forceinline__ TileLine(const Fp8QuantizeArgs& a, int64_t tile_row,
                                      int64_t tile_col) {
    const int line = static_cast<int>(threadIdx.x);
    row = kLines == Fp8Lines::kRows ? tile_row * kTile + line : tile_row;
    col = kLines == Fp8Lines::kColumns ? tile_col * kTile + line : tile_col;
    index = kLines == Fp8Lines::kRows ? row : (kLines == Fp8Lines::kColumns ? col : 0);
    exists = line < kLineCount<kLines> && (kLines != Fp8Lines::kRows || row < a.rows) &&
             (kLines != Fp8Lines::kColumns || col < a.cols);
    is_first = (kLines == Fp8Lines::kRows || tile_row == 0) &&
               (kLines == Fp8Lines::kColumns || tile_col == 0);
  }
};

template <class X, class Q, Fp8Lines kLines>
__device__ __forceinline__ void find_quotients(const Fp8QuantizeArgs& a, const Fp8TilesPlan& plan,
                                               const TileLine<kLines>& line, float top,
                                               float4* quotients) {
  if (line.exists) {
    const int64_t batch = blockIdx.y;
    float scale = 0.0f;
    if (a.scale_in)
      scale = load_one(a.scale_in + batch * a.scale_in_strides.batch +
                       line.row * a.scale_in_strides.row + line.col * a.scale_in_strides.col);
    if (!a.saturate) scale = a.scale_in ? adjusted_scale<Q>(scale, top) : own_scale<Q>(top);
    if (plan.phase == Fp8Phase::kWhole || line.is_first)
      a.scale[batch * a.scale_strides.batch + line.row * a.scale_strides.row +
              line.col * a.scale_strides.col] = scale;
    const Quotient q = quotient_by(scale);
    quotients[threadIdx.x] = {q.reciprocal, q.rest, q.lift, 0.0f};
  }
  __syncthreads();
}

__device__ __forceinline__ Quotient quotient_at(const float4* quotients, int line) {
  const float4 q = quotients[line];
  return {q.x, q.y, q.z};
}

template <class X, class Q, Fp8Lines kLines>
__device__ __forceinline__ void make_codes(const Packet<X, kThreadCols> (&packets)[kThreadRows],
                                           const TilePart& part, const float4* quotients,
                                           uint32_t (&codes)[kThreadRows]) {
  Quotient fixed[kThreadCols];  // unused where every row has its own
#pragma unroll
  for (int j = 0; j < kThreadCols; j++)
    if (kLines != Fp8Lines::kRows)
      fixed[j] = quotient_at(quotients, kLines == Fp8Lines::kOne ? 0 : part.lane * kThreadCols + j);
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) {
    float values[kThreadCols];
    widen(packets[i], values);
    if constexpr (kLines == Fp8Lines::kColumns) {
#pragma unroll
      for (int j = 0; j < kThreadCols; j++)
        values[j] = divided(values[j] * fixed[j].lift, fixed[j]);
    } else if constexpr (kLines == Fp8Lines::kRows) {
      divide<kThreadCols>(values, quotient_at(quotients, part.warp * kThreadRows + i));
    } else {
      divide<kThreadCols>(values, fixed[0]);
    }
    codes[i] = narrow<Q, kThreadCols, true>(values).words[0];
  }
}

template <class X, class Q, Fp8Lines kLines>
__global__ void __launch_bounds__(kTileThreads, 2)
    quantize_tiles_kernel(const Fp8QuantizeArgs a, const Fp8TilesPlan plan) {
  const int64_t across = (a.cols + kTile - 1) / kTile;
  const int64_t tile = plan.phase == Fp8Phase::kApply ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int64_t tile_row = tile / across, tile_col = tile % across;
  const TilePart part(tile_row, tile_col, a.rows, a.cols);
  const TileLine<kLines> line(a, tile_row, tile_col);
  const int64_t batch = blockIdx.y;
  float4* quotients = reinterpret_cast<float4*>(shared_memory() + kQuotientsAt);
  float* tops = reinterpret_cast<float*>(shared_memory() + kTopsAt);

  uint32_t* tops_of_matrix = plan.tops + batch * plan.tops_of_matrix;

  Packet<X, kThreadCols> packets[kThreadRows];
  load_part(packets, static_cast<const X*>(a.x) + batch * a.x_strides.batch, a.x_strides, part,
            plan.vector_loads, shared_memory() + kCodesAt);
  float top = 0.0f;
  if (plan.phase == Fp8Phase::kApply) {
    if (line.exists && !a.saturate)
      top = load_one(reinterpret_cast<const float*>(tops_of_matrix) + line.index);
  } else if (!a.saturate) {
    find_tops<X, kLines>(packets, part, tops);
    if (line.exists) top = tops[threadIdx.x];
    if (plan.phase == Fp8Phase::kTops) {
      if (line.exists) atomicMax(tops_of_matrix + line.index, bits_of_float(top));
      return;
    }
  }
  find_quotients<X, Q, kLines>(a, plan, line, top, quotients);
  uint32_t codes[kThreadRows];
  make_codes<X, Q, kLines>(packets, part, quotients, codes);
  store_part(a.q + batch * a.q_strides.batch, a.q_strides, part, a.rows, a.cols, codes, plan.stores,
             reinterpret_cast<uint4*>(shared_memory() + kCodesAt));
}

// Codes from one layout to another.
__global__ void __launch_bounds__(kTileThreads)
    copy_tiles_kernel(const Fp8CopyArgs a, const Fp8Stores stores, const bool vector_loads) {
  const int64_t across = (a.cols + kTile - 1) / kTile;
  const TilePart part(blockIdx.x / across, blockIdx.x % across, a.rows, a.cols);
  const int64_t batch = blockIdx.y;
  Packet<f8e4m3, kThreadCols> packets[kThreadRows];
  load_part(packets, reinterpret_cast<const f8e4m3*>(a.from) + batch * a.from_strides.batch,
            a.from_strides, part, vector_loads, shared_memory());
  __syncthreads();
  uint32_t codes[kThreadRows];
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) codes[i] = packets[i].words[0];
  store_part(a.to + batch * a.to_strides.batch, a.to_strides, part, a.rows, a.cols, codes, stores,
             shared_memory<uint4>());
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
