// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_flat.cuh: 8-bit floats with one scale for a tensor without gaps.
//
// The scale must be known before the first code, so that a tensor is either kept on chip or read
// twice.
//
// On chip (one cooperative launch, a block of 512 threads an SM): a batch is 8 vectors of 16 bytes
// a thread, 64 KiB a block. The first batches go to shared memory (three fit in the 227 KiB of
// Hopper), the last stays in registers: 256 KiB an SM, 34 MB on 132 of them. The next batch is
// loaded before the former is looked at. Then a barrier over the grid, each block reads the tops of
// all, and codes are made from what lies on the chip: 3 bytes an element of 16-bit input.
// Two passes: blocks of 512 threads, two an SM, take chunks of 512 x 4 vectors in turn: 64 KB under
// way an SM, with at most 64 registers a thread.
// The second pass walks backwards and finds in L2 what the first read last; what the first cannot
// expect to find again it reads as first to leave. 5 bytes an element, less what L2 keeps.
// Bound: memory in both. Order: none, maxima and codes are exact.
#pragma once

#include "cuda/device/magnitude.cuh"
#include "cuda/device/quotient.cuh"
#include "cuda/device/reduce.cuh"
#include "cuda/launch/fp8_kernels.h"
#include "cuda/ptx/grid.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class Q>
__device__ __forceinline__ float flat_scale(const Fp8QuantizeArgs& a, float top) {
  if (!a.scale_in) return own_scale<Q>(top);
  const float given = load_one(a.scale_in);
  return a.saturate ? given : adjusted_scale<Q>(given, top);
}

template <class X, class Q, bool kLift>
__device__ __forceinline__ void store_codes(uint8_t* q, int64_t vector,
                                            const Packet<X, kPerVector<X>>& packet,
                                            const Quotient& quotient) {
  constexpr int kCount = kPerVector<X>;
  float values[kCount];
  widen(packet, values);
  divide<kCount, kLift>(values, quotient);
  store<Touch::kOnce>(reinterpret_cast<Q*>(q) + vector * kCount, narrow<Q, kCount, true>(values));
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

// The largest of the tops of all blocks. All threads of the block call it and get it.
__device__ __forceinline__ float top_of_blocks(const float* tops, int blocks, float* exchange) {
  float top = 0.0f;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kFp8FlatThreads)
    top = fmaxf(top, load_one(tops + i));
  return combine_row<Larger>(top, kFp8FlatThreads, exchange);
}

// ---- on chip ----

template <class X>
struct ChipBatch {
  static constexpr int kCount = kPerVector<X>;
  Packet<X, kCount> packets[kFp8BatchVectors];

  // Batch b of the grid; what lies behind the tensor is zero.
  __device__ __forceinline__ void load_from(const X* x, int b, int vectors) {
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) {
      const int v = vector(b, k);
      if (v < vectors) {
        load<Touch::kOnce>(packets[k], x + static_cast<int64_t>(v) * kCount);
      } else {
#pragma unroll
        for (uint32_t& word : packets[k].words) word = 0;
      }
    }
  }
  __device__ __forceinline__ static int vector(int b, int k) {
    const int threads = static_cast<int>(gridDim.x) * kFp8FlatThreads;
    const int thread = static_cast<int>(blockIdx.x * kFp8FlatThreads + threadIdx.x);
    return (b * kFp8BatchVectors + k) * threads + thread;
  }
  __device__ __forceinline__ static int place(int b, int k) {
    return (b * kFp8BatchVectors + k) * kFp8FlatThreads + static_cast<int>(threadIdx.x);
  }
};

template <class T, int kCount>
__device__ __forceinline__ void put(uint4* place, const Packet<T, kCount>& packet) {
  *place = {packet.words[0], packet.words[1], packet.words[2], packet.words[3]};
}
template <class T, int kCount>
__device__ __forceinline__ void take(Packet<T, kCount>& packet, const uint4* place) {
  const uint4 words = *place;
  packet.words[0] = words.x, packet.words[1] = words.y;
  packet.words[2] = words.z, packet.words[3] = words.w;
}

// The top of the grid from those of its threads, by way of one slot a block.
__device__ __forceinline__ float top_of_grid(float top, float* slots, float* exchange) {
  __syncthreads();
  top = combine_row<Larger>(top, kFp8FlatThreads, exchange);
  if (threadIdx.x == 0) slots[blockIdx.x] = top;
  grid_barrier();
  return top_of_blocks(slots, static_cast<int>(gridDim.x), exchange);
}

// Codes of what the block keeps: the last batch in registers, the others in shared memory.
template <class X, class Q, bool kLift>
__device__ __forceinline__ void store_kept(const Fp8QuantizeArgs& a, int shared_batches,
                                           int vectors, const ChipBatch<X>& batch,
                                           const uint4* kept, const Quotient& quotient) {
#pragma unroll
  for (int k = 0; k < kFp8BatchVectors; k++) {
    const int v = ChipBatch<X>::vector(shared_batches, k);
    if (v < vectors) store_codes<X, Q, kLift>(a.q, v, batch.packets[k], quotient);
  }
#pragma unroll 4
  for (int i = 0; i < shared_batches * kFp8BatchVectors; i++) {
    const int v = ChipBatch<X>::vector(0, i);
    if (v >= vectors) break;
    Packet<X, kPerVector<X>> packet;
    take(packet, kept + ChipBatch<X>::place(0, i));
    store_codes<X, Q, kLift>(a.q, v, packet, quotient);
  }
}

template <class X, class Q>
__global__ void __launch_bounds__(kFp8FlatThreads, 1)
    quantize_on_chip_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  constexpr int kCount = kPerVector<X>;
  float* exchange = shared_memory<float>();
  uint4* kept = reinterpret_cast<uint4*>(shared_memory() + kFp8ExchangeBytes);
  const X* x = static_cast<const X*>(a.x);
  const int vectors = static_cast<int>(plan.count / kCount);
  const int64_t rest = static_cast<int64_t>(vectors) * kCount;
  const bool has_rest = blockIdx.x == 0 && threadIdx.x == 0;

  ChipBatch<X> batch;
  Top<X> seen;
  batch.load_from(x, 0, vectors);
#pragma unroll 1
  for (int b = 0; b < plan.shared_batches; b++) {
    ChipBatch<X> next;
    next.load_from(x, b + 1, vectors);
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) {
      seen.add(batch.packets[k]);
      put(kept + ChipBatch<X>::place(b, k), batch.packets[k]);
    }
    batch = next;
  }
#pragma unroll
  for (int k = 0; k < kFp8BatchVectors; k++) seen.add(batch.packets[k]);
  const float own = has_rest ? top_of_rest<X>(a, rest, plan.count) : 0.0f;

  float top = top_of_grid(fmaxf(own, seen.value()), plan.tops, exchange);
  if (!is_finite(top)) {  // somewhere is an Inf: once more without it, all blocks alike
    Top<X> finite;
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) finite.template add<true>(batch.packets[k]);
#pragma unroll 1
    for (int i = 0; i < plan.shared_batches * kFp8BatchVectors; i++) {
      Packet<X, kCount> packet;
      take(packet, kept + ChipBatch<X>::place(0, i));
      finite.template add<true>(packet);
    }
    top = top_of_grid(fmaxf(own, finite.value()), plan.tops + gridDim.x, exchange);
  }

  const float scale = flat_scale<Q>(a, top);
  const Quotient quotient = quotient_by(scale);
  if (quotient.lift == 1.0f) {
    store_kept<X, Q, false>(a, plan.shared_batches, vectors, batch, kept, quotient);
  } else {
    store_kept<X, Q, true>(a, plan.shared_batches, vectors, batch, kept, quotient);
  }
  if (has_rest) {
    store_rest<X, Q>(a, rest, plan.count, quotient);
    *a.scale = scale;
  }
}

// ---- two passes ----

inline constexpr int kChunkVectors = kFp8FlatThreads * kFp8FlatVectors;

// A thread's vectors of a chunk; those behind the end are zero.
template <Touch kTouch, class X>
__device__ __forceinline__ void load_chunk(Packet<X, kPerVector<X>> (&packets)[kFp8FlatVectors],
                                           const X* x, int64_t chunk, int64_t vectors) {
  const int64_t first = chunk * kChunkVectors + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < kFp8FlatVectors; k++) {
    const int64_t v = first + k * kFp8FlatThreads;
    if (v < vectors) {
      load<kTouch>(packets[k], x + v * kPerVector<X>);
    } else {
#pragma unroll
      for (uint32_t& word : packets[k].words) word = 0;
    }
  }
}

template <class X, bool kFinite>
__device__ __forceinline__ float top_of_chunks(const X* x, int64_t vectors, int64_t kept_from) {
  const int64_t chunks = (vectors + kChunkVectors - 1) / kChunkVectors;
  Top<X> top;
#pragma unroll 1
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    Packet<X, kPerVector<X>> packets[kFp8FlatVectors];
    if (chunk < kept_from) {
      load_chunk<Touch::kFirstOut>(packets, x, chunk, vectors);
    } else {
      load_chunk<Touch::kOnce>(packets, x, chunk, vectors);
    }
#pragma unroll
    for (int k = 0; k < kFp8FlatVectors; k++) top.template add<kFinite>(packets[k]);
  }
  return top.value();
}

template <class X>
__global__ void __launch_bounds__(kFp8FlatThreads, 2)
    flat_tops_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  constexpr int kCount = kPerVector<X>;
  const X* x = static_cast<const X*>(a.x);
  const int64_t vectors = plan.count / kCount;
  const int64_t kept_from = (plan.count - plan.kept) / (kChunkVectors * kCount);
  float top = top_of_chunks<X, false>(x, vectors, kept_from);
  if (!is_finite(top)) top = top_of_chunks<X, true>(x, vectors, kept_from);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    top = fmaxf(top, top_of_rest<X>(a, vectors * kCount, plan.count));
  top = combine_row<Larger>(top, kFp8FlatThreads, shared_memory<float>());
  if (threadIdx.x == 0) plan.tops[blockIdx.x] = top;
}

template <class X, class Q, bool kLift>
__device__ __forceinline__ void store_chunks(const Fp8QuantizeArgs& a, int64_t vectors,
                                             const Quotient& quotient) {
  const int64_t chunks = (vectors + kChunkVectors - 1) / kChunkVectors;
#pragma unroll 1
  for (int64_t chunk = chunks - 1 - static_cast<int>(blockIdx.x); chunk >= 0; chunk -= gridDim.x) {
    Packet<X, kPerVector<X>> packets[kFp8FlatVectors];
    load_chunk<Touch::kFirstOut>(packets, static_cast<const X*>(a.x), chunk, vectors);
#pragma unroll
    for (int k = 0; k < kFp8FlatVectors; k++) {
      const int64_t v = chunk * kChunkVectors + k * kFp8FlatThreads + static_cast<int>(threadIdx.x);
      if (v < vectors) store_codes<X, Q, kLift>(a.q, v, packets[k], quotient);
    }
  }
}

template <class X, class Q>
__global__ void __launch_bounds__(kFp8FlatThreads, 2)
    quantize_flat_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  const int64_t vectors = plan.count / kPerVector<X>;
  const float top =
      a.saturate ? 0.0f : top_of_blocks(plan.tops, plan.blocks, shared_memory<float>());
  const float scale = flat_scale<Q>(a, top);
  const Quotient quotient = quotient_by(scale);
  if (quotient.lift == 1.0f) {
    store_chunks<X, Q, false>(a, vectors, quotient);
  } else {
    store_chunks<X, Q, true>(a, vectors, quotient);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    store_rest<X, Q>(a, vectors * kPerVector<X>, plan.count, quotient);
    *a.scale = scale;
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
