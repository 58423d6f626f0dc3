// SPDX-License-Identifier: MIT
// src/cuda/kernels/row_statistics.cuh: layer_norm and softmax of rows that are held in registers.
//
// Work, registers, latency and order are those of norm_rope.cuh, with slots of one packet and two
// reductions a row: mean and mean square of the deviations, or maximum and sum of exponentials.
// Bound: bytes of x and out over the copy bandwidth. The exponentials of softmax are computed twice
// rather than kept: registers are what lets other rows load meanwhile.
#pragma once

#include "cuda/kernels/norm_rope.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// e^(x - top): within 1e-7 of the largest, which is 1; relative errors grow with the distance, as
// what they belong to shrinks faster.
__device__ __forceinline__ float exponential_below(float x, float top) {
  return exp2f((x - top) * 1.44269504088896340736f);
}

template <class T, int kItems>
struct StatisticsRow {
  static constexpr int kPacket = kPerVector<T>;
  using Packets = SlotPackets<T, kPacket, kItems, 1>;

  const RowStatisticsParams& p;
  const ThreadSlots& slots;
  float* exchange;
  Packets x;

  __device__ __forceinline__ int threads() const {
    return static_cast<int>(p.steps.thread_mask) + 1;
  }

  // part(values) of each slot that is there, combined.
  template <class Combine, class Part>
  __device__ __forceinline__ float combine(float* buffer, Part part) {
    float own[kItems];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
      float values[kPacket];
      widen(x.at[k][0], values);
      own[k] = slots.has(k) ? part(values) : Combine::kIdentity;
    }
    const float all = combine_row<Combine>(combine_slots<Combine, kItems>(own), threads(), buffer);
    keep_narrow(x, p.zero);
    return all;
  }

  template <class Each>
  __device__ __forceinline__ void for_pairs(Each each) {
#pragma unroll
    for (int i = 0; i < kPacket; i += 2) {
#pragma unroll
      for (int k = 0; k < kItems; k++) {
        float two[2];
        widen_two(x.at[k][0], i, two);
        each(k, i, two);
        narrow_two(x.at[k][0], i, two);
      }
    }
  }

  __device__ __forceinline__ void softmax() {
    const float top = combine<Max>(exchange, [](const float* v) {
      float most = v[0];
#pragma unroll
      for (int i = 1; i < kPacket; i++) most = Max::combine(most, v[i]);
      return most;
    });
    const float sum = combine<Sum>(exchange + blockDim.x, [&](const float* v) {
      float e[kPacket];
#pragma unroll
      for (int i = 0; i < kPacket; i++) e[i] = exponential_below(v[i], top);
      return sum_values<kPacket>(e);
    });
    const float inverse = 1.0f / sum;
    for_pairs([&](int, int, float* two) {
      two[0] = exponential_below(two[0], top) * inverse;
      two[1] = exponential_below(two[1], top) * inverse;
    });
  }

  __device__ __forceinline__ void layer_norm() {
    Packets weight, bias;
    weight.template load_from<Touch::kOften>(in_row<const T>(p.weight, 0, slots.first), slots);
    bias.template load_from<Touch::kOften>(in_row<const T>(p.bias, 0, slots.first), slots);
    x.at[0][0].words[0] ^= (fold(weight) | fold(bias)) & p.zero;  // issued before x is used
    // A quotient: rows of one value have it as their mean, to the bit.
    const float mean =
        combine<Sum>(exchange, [](const float* v) { return sum_values<kPacket>(v); }) / p.cols;
    const float squares = combine<Sum>(exchange + blockDim.x, [&](const float* v) {
      float d[kPacket];
#pragma unroll
      for (int i = 0; i < kPacket; i++) d[i] = v[i] - mean;
      return sum_squares<kPacket>(d);
    });
    const float r = inverse_root(squares, p.inverse_cols, p.eps);
    for_pairs([&](int k, int i, float* two) {
      float w[2], b[2];
      widen_two(weight.at[k][0], i, w);
      widen_two(bias.at[k][0], i, b);
      two[0] = (two[0] - mean) * r, two[1] = (two[1] - mean) * r;
      if (p.before_weight) round_two<T>(two);
      two[0] = fmaf(two[0], w[0], b[0]), two[1] = fmaf(two[1], w[1], b[1]);
    });
  }
};

template <class T, int kItems, bool kSoftmax>
__global__ void __launch_bounds__(kMostRowThreads)
    row_statistics_kernel(const RowStatisticsParams p) {
  const ThreadSlots slots(p.steps, threadIdx.x & p.steps.thread_mask);
  const uint32_t row = blockIdx.x * p.steps.rows_per_block + (threadIdx.x >> p.steps.thread_bits);
  const RowPlace place = RowPlace::of(p.steps.inner, min(row, p.steps.rows - 1));
  StatisticsRow<T, kItems> work{p, slots, shared_memory<float>()};
  work.x.template load_from<kStreamed>(in_row<const T>(p.x, place(p.x_pitch), slots.first), slots);
  if constexpr (kSoftmax) {
    work.softmax();
  } else {
    work.layer_norm();
  }
  if (row < p.steps.rows)
    work.x.template store_to<kStreamed>(in_row<T>(p.out, place(p.out_pitch), slots.first), slots);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
