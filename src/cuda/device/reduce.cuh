// SPDX-License-Identifier: MIT
// src/cuda/device/reduce.cuh: sums and maxima over the threads that share a row.
//
// The order is fixed and does not depend on how many threads share the row. A row is N = 2^a slots
// (unused ones hold the identity), and they are combined as a tree whose first level joins slots
// that lie N/2 apart, the next N/4, the last neighbours. Slot s belongs to thread s mod T: a thread
// combines its own slots first (combine_slots), then the warps of a row exchange through shared
// memory, then lanes exchange by shuffles. Each step is the next level of the same tree whatever T,
// a power of two, is.
#pragma once

#include "cuda/device/language.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

struct Sum {
  static constexpr float kIdentity = 0.0f;
  __device__ __forceinline__ static float combine(float a, float b) { return a + b; }
};

// NaN wins, as m_max of the definitions.
struct Max {
  static constexpr float kIdentity = -__builtin_inff();
  __device__ __forceinline__ static float combine(float a, float b) {
    return (a > b || a != a) ? a : b;
  }
};

namespace detail {

// One level of the tree a call: loops over halves do not unroll, and a runtime index would put the
// slots into local memory.
template <class Combine, int kHalf, int kCount>
__device__ __forceinline__ void combine_halves(float* slots) {
  if constexpr (kHalf > 0) {
#pragma unroll
    for (int i = 0; i < kHalf; i++)
      if (i + kHalf < kCount) slots[i] = Combine::combine(slots[i], slots[i + kHalf]);
    combine_halves<Combine, kHalf / 2, kHalf>(slots);
  }
}

constexpr int half_of_padded(int count) {
  int half = 1;
  while (2 * half < count) half *= 2;
  return count > 1 ? half : 0;
}

}  // namespace detail

// A thread's own slots, in the order of the tree; kCount need not be a power of two. Overwrites
// them.
template <class Combine, int kCount>
__device__ __forceinline__ float combine_slots(float* slots) {
  detail::combine_halves<Combine, detail::half_of_padded(kCount), kCount>(slots);
  return slots[0];
}

// Over the lanes of a group of `width` (a power of two up to 32); every lane gets the result.
template <class Combine>
__device__ __forceinline__ float combine_lanes(float value, int width = kWarp) {
#pragma unroll
  for (int apart = kWarp / 2; apart > 0; apart /= 2)
    if (apart < width) value = Combine::combine(value, __shfl_xor_sync(kAllLanes, value, apart));
  return value;
}

namespace detail {

// The tree over warps kFirst, kFirst + kStep, ..., depth first: few values wait at a time.
template <class Combine, int kWarps, int kFirst = 0, int kStep = 1>
__device__ __forceinline__ float combine_warps(const float* lane_of_first_warp) {
  if constexpr (kStep == kWarps) {
    return lane_of_first_warp[kFirst * kWarp];
  } else {
    const float even = combine_warps<Combine, kWarps, kFirst, 2 * kStep>(lane_of_first_warp);
    const float odd = combine_warps<Combine, kWarps, kFirst + kStep, 2 * kStep>(lane_of_first_warp);
    return Combine::combine(even, odd);
  }
}

}  // namespace detail

// Over the `threads` (a power of two up to 1024) that share a row, kValues of them at once. Rows
// start at multiples of `threads` in the block. `exchange` is kValues floats for each thread of the
// block and may be used again after another barrier; it is not touched, and there is no barrier,
// where a row is within a warp. All threads of the block call this.
template <class Combine, int kValues>
__device__ __forceinline__ void combine_row(float* values, int threads, float* exchange) {
  const int thread = static_cast<int>(threadIdx.x);
  if (threads > kWarp) {
#pragma unroll
    for (int v = 0; v < kValues; v++) exchange[v * blockDim.x + thread] = values[v];
    __syncthreads();
    const float* first = exchange + (thread & ~(threads - 1)) + thread % kWarp;
#pragma unroll
    for (int v = 0; v < kValues; v++, first += blockDim.x) {
      switch (threads / kWarp) {
        case 2: values[v] = detail::combine_warps<Combine, 2>(first); break;
        case 4: values[v] = detail::combine_warps<Combine, 4>(first); break;
        case 8: values[v] = detail::combine_warps<Combine, 8>(first); break;
        case 16: values[v] = detail::combine_warps<Combine, 16>(first); break;
        default: values[v] = detail::combine_warps<Combine, 32>(first); break;
      }
    }
  }
#pragma unroll
  for (int v = 0; v < kValues; v++)
    values[v] = combine_lanes<Combine>(values[v], threads < kWarp ? threads : kWarp);
}

template <class Combine>
__device__ __forceinline__ float combine_row(float value, int threads, float* exchange) {
  combine_row<Combine, 1>(&value, threads, exchange);
  return value;
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
