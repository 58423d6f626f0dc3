// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_consumer.cuh: a warpgroup that multiplies, and its place in the ring.
#pragma once

#include "cuda/kernels/fp8_gemm_schedule.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

constexpr int kStepBytes = 32;  // of k, one product
constexpr int kSteps = kBlockK / kStepBytes;

template <class T>
struct Consumer {
  const Fp8GemmParams& params;
  Shared<T> shared;
  int index;                  // of the warpgroup among the consumers
  int warp, lane;             // of the warpgroup, of the warp
  TileDescriptor rows, cols;  // of the stage: to find them anew would delay its products
  Ring<T::kStages> ring;

  __device__ __forceinline__ Consumer(Shared<T> memory, int consumer, const Fp8GemmParams& from)
      : params(from),
        shared(memory),
        index(consumer),
        warp(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32 % 4, 0)),
        lane(static_cast<int>(threadIdx.x) % 32),
        rows(describe_tile(memory.row_tile(0) + consumer * T::kPieces * 64 * kBlockK)),
        cols(describe_tile(memory.col_tile(0))) {}

  // The first of the two rows of a piece that this thread has sums of; the other is 8 further.
  __device__ __forceinline__ int row_of(int piece) const {
    return (index * T::kPieces + piece) * 64 + warp * 16 + lane / 4;
  }

  __device__ __forceinline__ void wait_full() const {
    mbarrier_wait(shared.full(ring.slot), ring.parity, "consumer", ring.slot);
  }

  // To the next stage.
  __device__ __forceinline__ void advance_ring() {
    ring.next();
    constexpr int kBack = 1 - T::kStages;
    rows = advance(rows, ring.slot == 0 ? kBack * T::kRowBytes : T::kRowBytes);
    cols = advance(cols, ring.slot == 0 ? kBack * T::kColBytes : T::kColBytes);
  }

  // Tells every block that fills this slot; one arrival a warp and block. All threads of the warp
  // have read it: who has issued products since has waited for them.
  __device__ __forceinline__ void release(int slot) const {
    if (lane < params.cluster) mbarrier_arrive_at(shared.empty(slot), lane);
  }

  // One step of k: kCount columns from kFirst on of a piece.
  template <int kPiece, int kFirst, int kCount>
  __device__ __forceinline__ void issue(float (&sums)[kCount / 2], int step,
                                        bool accumulate) const {
    const int at = step * kStepBytes;
    wgmma_e4m3<kCount>(sums, advance(rows, kPiece * 64 * kBlockK + at),
                       advance(cols, kFirst * kBlockK + at), accumulate);
  }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
