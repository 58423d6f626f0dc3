// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_backward.cuh: gradients of x and of the weight for rows in registers.
//
// Work: block g takes rows g, g + groups, ... one after the other; its threads hold a row's slots
// as in norm_rope.cuh. Registers: x, dy and weights as they lie in memory, the piece of cos and
// sin, and the thread's part of dw as f32, which no one else adds to. At the end a block writes its
// part of dw as a row of the workspace; add_parts_kernel adds these rows. Bound: bytes of x, dy and
// dx over the copy bandwidth, and 8 bytes of dw a column and block. Order: sums of a row as in
// norm_rope.cuh; dw row after row within a block, then the blocks' parts in 32 interleaved chains
// and a tree over those. The number of blocks is a function of the shape.
#pragma once

#include "cuda/kernels/row_angles.cuh"
#include "cuda/launch/launch.cuh"
#include "cuda/launch/row_backward.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

// From a row's sum of squares and its sum of dy * w * x: dx = r * (dy * w) - back * x.
struct RowGradient {
  float r, back;
  __device__ __forceinline__ RowGradient(float squares, float dot, float inverse_cols, float eps) {
    r = inverse_root(squares, inverse_cols, eps);
    back = r * r * r * (dot * inverse_cols);
  }
  __device__ __forceinline__ float dx(float g, float w, float x) const {
    return fmaf(r, g * w, -(back * x));
  }
  __device__ __forceinline__ float add_dw(float dw, float g, float x) const {
    return fmaf(g * x, r, dw);
  }
};

template <class T, Turn kTurn, int kItems>
struct BackwardRows {
  static constexpr int kPacket = kPerVector<T>;
  static constexpr int kPackets = kTurn == Turn::kNone ? 1 : 2;
  using Packets = SlotPackets<T, kPacket, kItems, kPackets>;

  const NormRopeBackwardParams& p;
  const ThreadSlots& slots;
  Packets weights, x, dy;
  Angles<T, kPacket> angles;
  float2* dw;  // of this thread: every blockDim-th

  // Shared memory that dw takes, in floats a thread.
  static constexpr int kDwFloats = kItems * kPackets * kPacket;

  __device__ __forceinline__ BackwardRows(const NormRopeBackwardParams& params,
                                          const ThreadSlots& thread_slots, float* shared)
      : p(params), slots(thread_slots), dw(reinterpret_cast<float2*>(shared) + threadIdx.x) {
    weights.template load_from<Touch::kOften>(in_row<const T>(p.weight, 0, slots.first), slots);
#pragma unroll
    for (int n = 0; n < kDwFloats / 2; n++) dw[n * blockDim.x] = {0, 0};
  }

  // Of elements i and i + 1 of packet j of slot k.
  __device__ __forceinline__ float2& dw_at(int k, int j, int i) const {
    return dw[(((k * kPackets + j) * kPacket + i) / 2) * blockDim.x];
  }

  __device__ __forceinline__ void load(const RowPlace& place) {
    const uint32_t position = kTurn == Turn::kNone ? 0 : load_position(p.tables, place);
    x.template load_from<kStreamed>(in_row<const T>(p.x, place(p.x_pitch), slots.first), slots);
    dy.template load_from<kStreamed>(in_row<const T>(p.dy, place(p.dy_pitch), slots.first), slots);
    if constexpr (kTurn != Turn::kNone) {
      angles.load_from(p.tables, place.outer, position, slots);
      const uint32_t all = angles.cos[0].words[0] | angles.cos[1].words[0] |
                           angles.sin[0].words[0] | angles.sin[1].words[0];
      x.at[0][0].words[0] ^= all & p.zero;  // issued before x is used
    }
  }

  // Elements i and i + 1 of the packets of slot k: the gradient of what was turned, x and w.
  struct Two {
    float g[2][2], x[2][2], w[2][2];
  };
  __device__ __forceinline__ Two two(int k, int i) const {
    Two t;
#pragma unroll
    for (int j = 0; j < kPackets; j++) {
      widen_two(dy.at[k][j], i, t.g[j]);
      widen_two(x.at[k][j], i, t.x[j]);
      widen_two(weights.at[k][j], i, t.w[j]);
    }
    if constexpr (kTurn != Turn::kNone) turn_two<kTurn, UnturnPair>(angles, i, t.g);
    return t;
  }

  __device__ __forceinline__ RowGradient reduce(float* exchange) {
    float square[kItems][2] = {}, dot[kItems][2] = {};
#pragma unroll
    for (int i = 0; i < kPacket; i += 2) {
#pragma unroll
      for (int k = 0; k < kItems; k++) {
        const Two t = two(k, i);
#pragma unroll
        for (int j = 0; j < kPackets; j++) {
#pragma unroll
          for (int e = 0; e < 2; e++) {
            square[k][j] = fmaf(t.x[j][e], t.x[j][e], square[k][j]);
            dot[k][j] = fmaf(t.g[j][e] * t.w[j][e], t.x[j][e], dot[k][j]);
          }
        }
      }
    }
    float squares[kItems], dots[kItems];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
      squares[k] = kPackets == 1 ? square[k][0] : square[k][0] + square[k][1];
      dots[k] = kPackets == 1 ? dot[k][0] : dot[k][0] + dot[k][1];
    }
    float sums[2] = {combine_slots<Sum, kItems>(squares), combine_slots<Sum, kItems>(dots)};
    combine_row<Sum, 2>(sums, static_cast<int>(p.steps.thread_mask) + 1, exchange);
    keep_narrow(x, p.zero);
    keep_narrow(dy, p.zero);
    keep_narrow(weights, p.zero);
    if constexpr (kTurn != Turn::kNone) angles.keep_narrow(p.zero);
    return {sums[0], sums[1], p.inverse_cols, p.eps};
  }

  // dx takes the place of x.
  __device__ __forceinline__ void finish(const RowGradient& gradient, const RowPlace& place) {
#pragma unroll
    for (int i = 0; i < kPacket; i += 2) {
#pragma unroll
      for (int k = 0; k < kItems; k++) {
        const Two t = two(k, i);
#pragma unroll
        for (int j = 0; j < kPackets; j++) {
          float dx[2];
#pragma unroll
          for (int e = 0; e < 2; e++) dx[e] = gradient.dx(t.g[j][e], t.w[j][e], t.x[j][e]);
          narrow_two(x.at[k][j], i, dx);
          float2 sum = dw_at(k, j, i);
          sum.x = gradient.add_dw(sum.x, t.g[j][0], t.x[j][0]);
          sum.y = gradient.add_dw(sum.y, t.g[j][1], t.x[j][1]);
          dw_at(k, j, i) = sum;
        }
      }
    }
    x.template store_to<kStreamed>(in_row<T>(p.dx, place(p.dx_pitch), slots.first), slots);
  }

  __device__ __forceinline__ void store_parts(float* row) const {
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++) {
        if (!slots.has(k)) continue;
        float values[kPacket];
#pragma unroll
        for (int i = 0; i < kPacket; i += 2) {
          const float2 sum = dw_at(k, j, i);
          values[i] = sum.x, values[i + 1] = sum.y;
        }
        store<Touch::kOften>(row + slots.first + (k * slots.jump + j * slots.half),
                             narrow<f32, kPacket>(values));
      }
    }
  }
};

// What the rows need, and room for two neighbours of everything.
template <class T, Turn kTurn, int kItems>
inline constexpr int kBackwardRegisters = [] {
  constexpr int kPackets = kTurn == Turn::kNone ? 1 : 2;
  constexpr int kHeld = kItems * kPackets * 3 * 4 + (kPackets - 1) * 16;
  return kHeld + 48;
}();

template <class T, Turn kTurn, int kItems>
__global__ void __maxnreg__((kBackwardRegisters<T, kTurn, kItems>))
    norm_rope_backward_kernel(const NormRopeBackwardParams p) {
  const ThreadSlots slots(p.steps, threadIdx.x);
  using Rows = BackwardRows<T, kTurn, kItems>;
  float* shared = shared_memory<float>();
  Rows work(p, slots, shared);
  // Behind dw: two places for the sums of a row, which take turns, as a barrier lies between two
  // uses of one.
  float* const exchanges = shared + Rows::kDwFloats * blockDim.x;
  uint32_t place_of_sums = 0;
  for (uint32_t row = blockIdx.x; row < p.steps.rows; row += gridDim.x) {
    const RowPlace place = RowPlace::of(p.steps.inner, row);
    work.load(place);
    work.finish(work.reduce(exchanges + place_of_sums), place);
    place_of_sums ^= 2 * blockDim.x;
  }
  work.store_parts(p.parts + int64_t{blockIdx.x} * p.cols);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
