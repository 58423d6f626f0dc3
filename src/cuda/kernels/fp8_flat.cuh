// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_flat.cuh: 8-bit floats with one scale for a tensor without gaps.
//
// The scale must be known before the first code, so that a tensor is kept on the chip or read
// twice.
//
// One cooperative launch, a block of 512 threads an SM. A batch is 8 vectors of 16 bytes a thread,
// 64 KiB a block: what an SM needs under way, twice over. The end of the tensor stays on the chip:
// batches in shared memory (three fit in the 227 KiB of Hopper) and one in registers, 34 MB on 132
// SMs; each batch is loaded before the former is looked at. What lies in front is streamed, chunk
// by chunk of a batch, the next under way. Then comes a barrier over the grid, each block reads the
// tops of all, makes codes of what it has kept, and walks backwards through the rest, of which L2
// still has the last part: what has no chance to be found there again is read as first to leave.
// Bytes an element of 16-bit input: 3 for what is kept on the chip, 5 for the rest less what L2
// keeps. Where a grid cannot be on the device at once, two kernels do the same by chunks of four
// vectors a thread, with two blocks an SM and at most 64 registers.
// Bound: memory. Order: none, maxima and codes are exact.
#pragma once

#include "cuda/device/reduce.cuh"
#include "cuda/kernels/fp8_stream.cuh"
#include "cuda/ptx/grid.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class Q>
__device__ __forceinline__ float flat_scale(const Fp8QuantizeArgs& a, float top) {
  if (!a.scale_in) return own_scale<Q>(top);
  const float given = load_one(a.scale_in);
  return a.saturate ? given : adjusted_scale<Q>(given, top);
}

// The largest of the tops of all blocks. All threads of the block call it and get it.
__device__ __forceinline__ float top_of_blocks(const float* tops, int blocks, float* exchange) {
  float top = 0.0f;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kFp8FlatThreads)
    top = fmaxf(top, load_one(tops + i));
  return combine_row<Larger>(top, kFp8FlatThreads, exchange);
}

// ---- one launch ----

// Vectors that stay on the chip, numbered from `first` on.
template <class X>
struct Kept {
  static constexpr int kCount = kPerVector<X>;
  using Vector = Packet<X, kCount>;
  const X* x;
  int64_t first;
  int vectors;
  int shared_batches;
  uint4* shared;

  __device__ __forceinline__ static int vector(int i) {
    const int threads = static_cast<int>(gridDim.x) * kFp8FlatThreads;
    return i * threads + static_cast<int>(blockIdx.x * kFp8FlatThreads + threadIdx.x);
  }
  __device__ __forceinline__ uint4* place(int i) const {
    return shared + i * kFp8FlatThreads + static_cast<int>(threadIdx.x);
  }

  // Batch b of the grid; what lies behind the tensor is zero.
  __device__ __forceinline__ void load_batch(Vector (&batch)[kFp8BatchVectors], int b) const {
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) {
      const int v = vector(b * kFp8BatchVectors + k);
      if (v < vectors) {
        load<Touch::kFirstOut>(batch[k], x + (first + v) * kCount);
      } else {
#pragma unroll
        for (uint32_t& word : batch[k].words) word = 0;
      }
    }
  }
  __device__ __forceinline__ void put(int i, const Vector& packet) const {
    *place(i) = {packet.words[0], packet.words[1], packet.words[2], packet.words[3]};
  }
  __device__ __forceinline__ Vector take(int i) const {
    const uint4 words = *place(i);
    return {{words.x, words.y, words.z, words.w}};
  }

  // Fills shared memory and `batch`, which is the last; the top of this thread's vectors.
  __device__ __forceinline__ float fill(Vector (&batch)[kFp8BatchVectors]) const {
    Top<X> top;
    load_batch(batch, 0);
#pragma unroll 1
    for (int b = 0; b < shared_batches; b++) {
      Vector next[kFp8BatchVectors];
      load_batch(next, b + 1);
#pragma unroll
      for (int k = 0; k < kFp8BatchVectors; k++) {
        top.add(batch[k]);
        put(b * kFp8BatchVectors + k, batch[k]);
        batch[k] = next[k];
      }
    }
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) top.add(batch[k]);
    if (is_finite(top.value())) return top.value();
    Top<X> finite;
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) finite.template add<true>(batch[k]);
#pragma unroll 1
    for (int i = 0; i < shared_batches * kFp8BatchVectors; i++) finite.template add<true>(take(i));
    return finite.value();
  }

  template <class Q, bool kLift>
  __device__ __forceinline__ void store(Q* q, const Vector (&batch)[kFp8BatchVectors],
                                        const Quotient& quotient) const {
#pragma unroll
    for (int k = 0; k < kFp8BatchVectors; k++) {
      const int v = vector(shared_batches * kFp8BatchVectors + k);
      if (v < vectors) store_codes<Q, kLift>(q + (first + v) * kCount, batch[k], quotient);
    }
#pragma unroll 4
    for (int i = 0; i < shared_batches * kFp8BatchVectors; i++) {
      const int v = vector(i);
      if (v >= vectors) break;
      store_codes<Q, kLift>(q + (first + v) * kCount, take(i), quotient);
    }
  }
};

template <class X, class Q>
__global__ void __launch_bounds__(kFp8FlatThreads, 1)
    quantize_on_chip_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  constexpr int kCount = kPerVector<X>;
  float* exchange = shared_memory<float>();
  const X* x = static_cast<const X*>(a.x);
  const int64_t vectors = plan.count / kCount, streamed = plan.streamed / kCount;
  const Kept<X> kept{x, streamed, static_cast<int>(vectors - streamed), plan.shared_batches,
                     reinterpret_cast<uint4*>(shared_memory() + kFp8ExchangeBytes)};
  Q* q = reinterpret_cast<Q*>(a.q);
  const bool has_rest = blockIdx.x == 0 && threadIdx.x == 0;

  float top = top_of_streamed<X, kFp8BatchVectors>(x, streamed, plan.kept / kCount);
  typename Kept<X>::Vector batch[kFp8BatchVectors];
  top = fmaxf(top, kept.fill(batch));
  if (has_rest) top = fmaxf(top, top_of_rest<X>(a, vectors * kCount, plan.count));
  top = combine_row<Larger>(top, kFp8FlatThreads, exchange);
  if (threadIdx.x == 0) plan.tops[blockIdx.x] = top;
  grid_barrier();
  top = top_of_blocks(plan.tops, static_cast<int>(gridDim.x), exchange);

  const float scale = flat_scale<Q>(a, top);
  const Quotient quotient = quotient_by(scale);
  if (quotient.lift == 1.0f) {
    kept.template store<Q, false>(q, batch, quotient);
    store_chunks<X, Q, kFp8BatchVectors, false>(a, streamed, quotient);
  } else {
    kept.template store<Q, true>(q, batch, quotient);
    store_chunks<X, Q, kFp8BatchVectors, true>(a, streamed, quotient);
  }
  if (has_rest) {
    store_rest<X, Q>(a, vectors * kCount, plan.count, quotient);
    *a.scale = scale;
  }
}

// ---- two launches ----

template <class X>
__global__ void __launch_bounds__(kFp8FlatThreads, kFp8FlatBlocks)
    flat_tops_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  constexpr int kCount = kPerVector<X>;
  const int64_t vectors = plan.count / kCount;
  float top =
      top_of_streamed<X, kFp8FlatVectors>(static_cast<const X*>(a.x), vectors, plan.kept / kCount);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    top = fmaxf(top, top_of_rest<X>(a, vectors * kCount, plan.count));
  top = combine_row<Larger>(top, kFp8FlatThreads, shared_memory<float>());
  if (threadIdx.x == 0) plan.tops[blockIdx.x] = top;
}

template <class X, class Q>
__global__ void __launch_bounds__(kFp8FlatThreads, kFp8FlatBlocks)
    quantize_flat_kernel(const Fp8QuantizeArgs a, const Fp8FlatPlan plan) {
  const int64_t vectors = plan.count / kPerVector<X>;
  const float top =
      a.saturate ? 0.0f : top_of_blocks(plan.tops, plan.blocks, shared_memory<float>());
  const float scale = flat_scale<Q>(a, top);
  const Quotient quotient = quotient_by(scale);
  if (quotient.lift == 1.0f) {
    store_chunks<X, Q, kFp8FlatVectors, false>(a, vectors, quotient);
  } else {
    store_chunks<X, Q, kFp8FlatVectors, true>(a, vectors, quotient);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    store_rest<X, Q>(a, vectors * kPerVector<X>, plan.count, quotient);
    *a.scale = scale;
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
