// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_stream.cuh: a tensor without gaps, chunk by chunk through registers.
//
// A block of 512 threads takes every gridDim.x-th chunk of 512 x kVectors vectors of 16 bytes, with
// the next one under way while it works on one.
#pragma once

#include "cuda/device/magnitude.cuh"
#include "cuda/device/quotient.cuh"
#include "cuda/launch/fp8_kernels.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

// A thread's vectors of a chunk; those behind the end are zero.
template <Touch kTouch, class X, int kVectors>
__device__ __forceinline__ void load_chunk(Packet<X, kPerVector<X>> (&packets)[kVectors],
                                           const X* x, int64_t chunk, int64_t vectors) {
  const int64_t first = chunk * (kFp8FlatThreads * kVectors) + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const int64_t v = first + k * kFp8FlatThreads;
    if (v < vectors) {
      load<kTouch>(packets[k], x + v * kPerVector<X>);
    } else {
#pragma unroll
      for (uint32_t& word : packets[k].words) word = 0;
    }
  }
}

template <int kVectors>
__device__ __forceinline__ int64_t chunks_of(int64_t vectors) {
  constexpr int kChunk = kFp8FlatThreads * kVectors;
  return (vectors + kChunk - 1) / kChunk;
}

// Of this thread's vectors. `kept`: how many at the end L2 should keep.
template <class X, int kVectors, bool kFinite>
__device__ __forceinline__ float top_of_chunks(const X* x, int64_t vectors, int64_t kept) {
  using Vector = Packet<X, kPerVector<X>>;
  const int64_t chunks = chunks_of<kVectors>(vectors);
  const int64_t kept_from = (vectors - kept) / (kFp8FlatThreads * kVectors);
  const auto load_next = [&](Vector(&packets)[kVectors], int64_t chunk) {
    if (chunk < kept_from) {
      load_chunk<Touch::kFirstOut>(packets, x, chunk, vectors);
    } else {
      load_chunk<Touch::kOnce>(packets, x, chunk, vectors);
    }
  };
  Top<X> top;
  Vector packets[kVectors], next[kVectors];
  load_next(packets, blockIdx.x);
#pragma unroll 1
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    load_next(next, chunk + gridDim.x);
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
      top.template add<kFinite>(packets[k]);
      packets[k] = next[k];
    }
  }
  return top.value();
}
template <class X, int kVectors>
__device__ __forceinline__ float top_of_streamed(const X* x, int64_t vectors, int64_t kept) {
  const float top = top_of_chunks<X, kVectors, false>(x, vectors, kept);
  return is_finite(top) ? top : top_of_chunks<X, kVectors, true>(x, vectors, kept);
}

template <class X, class Q, int kVectors, bool kLift>
__device__ __forceinline__ void store_chunks(const Fp8QuantizeArgs& a, int64_t vectors,
                                             const Quotient& quotient) {
  constexpr int64_t kNone = -(int64_t{1} << 62);  // below every vector of a chunk in front of all
  const X* x = static_cast<const X*>(a.x);
  Q* q = reinterpret_cast<Q*>(a.q);
  Packet<X, kPerVector<X>> packets[kVectors], next[kVectors];
  int64_t chunk = chunks_of<kVectors>(vectors) - 1 - static_cast<int>(blockIdx.x);
  load_chunk<Touch::kFirstOut>(packets, x, chunk, chunk < 0 ? kNone : vectors);
#pragma unroll 1
  for (; chunk >= 0; chunk -= gridDim.x) {
    const int64_t after = chunk - gridDim.x;
    load_chunk<Touch::kFirstOut>(next, x, after, after < 0 ? kNone : vectors);
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
      const int64_t v = (chunk * kVectors + k) * kFp8FlatThreads + static_cast<int>(threadIdx.x);
      if (v < vectors) store_codes<Q, kLift>(q + v * kPerVector<X>, packets[k], quotient);
      packets[k] = next[k];
    }
  }
}

// The elements behind the last whole vector, by one thread of the grid.
template <class X>
__device__ __forceinline__ float top_of_rest(const Fp8QuantizeArgs& a, int64_t first,
                                             int64_t count) {
  float top = 0.0f;
  for (int64_t i = first; i < count; i++) {
    const float x = load_one(static_cast<const X*>(a.x) + i);
    if (is_finite(x)) top = fmaxf(top, fabsf(x));
  }
  return top;
}
template <class X, class Q>
__device__ __forceinline__ void store_rest(const Fp8QuantizeArgs& a, int64_t first, int64_t count,
                                           const Quotient& quotient) {
  for (int64_t i = first; i < count; i++) {
    float x = load_one(static_cast<const X*>(a.x) + i);
    divide<1>(&x, quotient);
    store_one<true>(reinterpret_cast<Q*>(a.q) + i, x);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
