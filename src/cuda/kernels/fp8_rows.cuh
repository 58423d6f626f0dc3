// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_rows.cuh: 8-bit floats with a scale a row, each element read once.
//
// Mapping. 32 to 1024 threads share a row; thread t holds vectors t, t + threads, ... of 16 bytes,
// all of them loaded before the first is used. Blocks have at least 128 threads, so that four rows
// of up to 4096 16-bit elements share one. With 16 vectors a thread has 256 bytes under way, an SM
// with 20 such warps 160 KB, where some 28 KB cover the latency of memory.
// Registers hold the row as it lies (at most 64 words); shared memory one float a thread, used
// where a row spans warps.
// Bound: memory, 3 bytes an element of 16-bit input. An element costs about five instructions
// (half a maximum, one to widen, two to divide, half to convert).
// Order: none. Maxima and codes are exact, whatever the number of threads.
#pragma once

#include "cuda/device/magnitude.cuh"
#include "cuda/device/quotient.cuh"
#include "cuda/device/reduce.cuh"
#include "cuda/launch/fp8_kernels.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

// The largest finite magnitude of a thread's vectors, read again: only where they have an Inf.
template <class X>
__device__ __forceinline__ float finite_top_of_row(const X* x, int vectors, int first, int step) {
  Top<X> top;
#pragma unroll 1
  for (int v = first; v < vectors; v += step) {
    Packet<X, kPerVector<X>> packet;
    load<Touch::kOften>(packet, x + v * kPerVector<X>);
    top.template add<true>(packet);
  }
  return top.value();
}

// The codes of a row with an extreme scale, which is read again.
template <class X, class Q>
__device__ __forceinline__ void store_lifted(const X* x, Q* q, int vectors, int first, int step,
                                             const Quotient& quotient) {
#pragma unroll 1
  for (int v = first; v < vectors; v += step) {
    Packet<X, kPerVector<X>> packet;
    load<Touch::kOften>(packet, x + v * kPerVector<X>);
    store_codes<Q, true>(q + v * kPerVector<X>, packet, quotient);
  }
}

// More than 64 registers for 8 vectors and more: fewer threads.
template <int kVectors>
inline constexpr int kRowThreads = kVectors <= 4 ? 1024 : kFp8RowThreads;

template <class X, class Q, int kVectors>
__global__ void __launch_bounds__(kRowThreads<kVectors>)
    quantize_rows_kernel(const Fp8QuantizeArgs a, const int threads) {
  constexpr int kCount = kPerVector<X>;
  const int in_row = static_cast<int>(threadIdx.x) & (threads - 1);
  const int rows_of_block = static_cast<int>(blockDim.x) / threads;
  const int64_t row =
      static_cast<int64_t>(blockIdx.x) * rows_of_block + static_cast<int>(threadIdx.x) / threads;
  const int64_t batch = blockIdx.y;
  const bool is_row = row < a.rows;
  const int vectors = is_row ? static_cast<int>(a.cols / kCount) : 0;
  const X* x = static_cast<const X*>(a.x) + batch * a.x_strides.batch + row * a.x_strides.row;

  Packet<X, kCount> packets[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const int v = k * threads + in_row;
    if (v < vectors) {
      load<kStreamed>(packets[k], x + v * kCount);
    } else {
#pragma unroll
      for (uint32_t& word : packets[k].words) word = 0;
    }
  }
  float scale = 0.0f;
  if (a.scale_in && is_row)
    scale = load_one(a.scale_in + batch * a.scale_in_strides.batch + row * a.scale_in_strides.row);

  if (!a.saturate) {
    Top<X> seen;
#pragma unroll
    for (int k = 0; k < kVectors; k++) seen.add(packets[k]);
    float top = seen.value();
    if (!is_finite(top)) top = finite_top_of_row(x, vectors, in_row, threads);
    top = combine_row<Larger>(top, threads, shared_memory<float>());
    scale = a.scale_in ? adjusted_scale<Q>(scale, top) : own_scale<Q>(top);
  }
  if (in_row == 0 && is_row)
    a.scale[batch * a.scale_strides.batch + row * a.scale_strides.row] = scale;

  const Quotient quotient = quotient_by(scale);
  Q* q = reinterpret_cast<Q*>(a.q) + batch * a.q_strides.batch + row * a.q_strides.row;
  if (quotient.lift != 1.0f) return store_lifted(x, q, vectors, in_row, threads, quotient);
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const int v = k * threads + in_row;
    if (v < vectors) store_codes<Q, false>(q + v * kCount, packets[k], quotient);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
