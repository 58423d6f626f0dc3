// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_sums.cuh: the loop over k of a consumer warpgroup.
//
// Sums of a tile are f32 registers. Fast: the tensor cores add to them, one group of products is
// always under way, and a stage is given back when the group after it has been issued. Precise and
// block: a second set takes the products of one piece of 64 rows and one block of k, and is added
// up in f32 in the order of k; meanwhile the other warpgroup's products run.
#pragma once

#include <utility>

#include "cuda/kernels/fp8_gemm_schedule.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

constexpr int kStepBytes = 32;  // of k, one product
constexpr int kSteps = kBlockK / kStepBytes;

template <class T>
struct Consumer {
  Shared<T> shared;
  int index;       // of the warpgroup among the consumers
  int warp, lane;  // of the warpgroup, of the warp
  int cluster;
  TileDescriptor rows, cols;  // of stage 0
  Ring<T::kStages> ring;
  Ring<T::kScaleSlots ? T::kScaleSlots : 1> scale_ring;

  __device__ __forceinline__ Consumer(Shared<T> memory, int consumer, const Fp8GemmParams& params)
      : shared(memory),
        index(consumer),
        warp(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32 % 4, 0)),
        lane(static_cast<int>(threadIdx.x) % 32),
        cluster(params.cluster),
        rows(describe_tile(memory.row_tile(0) + consumer * T::kPieces * 64 * kBlockK)),
        cols(describe_tile(memory.col_tile(0))) {}

  // The first of the two rows of a piece that this thread has sums of; the other is 8 further.
  __device__ __forceinline__ int row_of(int piece) const {
    return (index * T::kPieces + piece) * 64 + warp * 16 + lane / 4;
  }

  __device__ __forceinline__ void wait_full() const {
    mbarrier_wait(shared.full(ring.slot), ring.parity, "consumer", ring.slot);
  }

  // Tells every block that fills this slot; one arrival a warp and block.
  __device__ __forceinline__ void release(int slot) const {
    if (lane < cluster) mbarrier_arrive_at(shared.empty(slot), lane);
  }

  template <int kPiece>
  __device__ __forceinline__ void issue(float (&sums)[T::kSums], int step, bool accumulate) const {
    const int at = step * kStepBytes;
    wgmma_e4m3<T::kCols>(sums, advance(rows, ring.slot * T::kRowBytes + kPiece * 64 * kBlockK + at),
                         advance(cols, ring.slot * T::kColBytes + at), accumulate);
  }
};

// The first kCount steps of a block of k.
template <class T, int kCount>
__device__ __forceinline__ void issue_block(Consumer<T>& consumer,
                                            float (&sums)[T::kPieces][T::kSums], bool accumulate) {
  consumer.wait_full();
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kCount; step++) {
    consumer.template issue<0>(sums[0], step, accumulate || step > 0);
    if constexpr (T::kPieces == 2)
      consumer.template issue<1>(sums[1], step, accumulate || step > 0);
  }
  wgmma_commit();
}

// `departing` has results of the tile before: a piece leaves under each of the first blocks of k.
template <class T, class Departing>
__device__ __forceinline__ void multiply_fast(Consumer<T>& consumer,
                                              float (&sums)[T::kPieces][T::kSums], const Work& work,
                                              Departing& departing) {
  const int whole = work.k_end - work.k_begin - (work.ends_early ? 1 : 0);
  int before = 0;
  auto give_back = [&](bool is_first) {
    wgmma_wait<1>();
    if (!is_first) consumer.release(before);
    before = consumer.ring.slot;
    consumer.ring.next();
  };
  [&]<int... kBlock>(std::integer_sequence<int, kBlock...>) {
    [[maybe_unused]] auto block = [&]<int kb>() {
      if (kb < whole) issue_block<T, kSteps>(consumer, sums, kb > 0);
      departing.template send<kb>(consumer);
      if (kb >= whole) return;
      give_back(kb == 0);
    };
    (block.template operator()<kBlock>(), ...);
  }
  (std::make_integer_sequence<int, Departing::kCount>{});
  for (int kb = Departing::kCount; kb < whole; kb++) {
    issue_block<T, kSteps>(consumer, sums, kb > 0);
    give_back(kb == 0);
  }
  if (work.ends_early) {
    issue_block<T, kSteps / 2>(consumer, sums, whole > 0);
    give_back(whole == 0);
  }
  wgmma_wait<0>();
  consumer.release(before);
}

// The factors of a block of k: of the thread's two rows or, swapped, of its columns.
template <class T, int kPiece>
__device__ __forceinline__ void add_scaled(const Consumer<T>& consumer, const float* scales,
                                           const float (&products)[T::kSums],
                                           float (&sums)[T::kSums]) {
  if constexpr (T::kSwapped) {
#pragma unroll
    for (int j = 0; j < T::kCols / 8; j++) {
      const float2 s = *reinterpret_cast<const float2*>(scales + 8 * j + 2 * (consumer.lane % 4));
#pragma unroll
      for (int i = 0; i < 4; i++)
        sums[4 * j + i] = fmaf(products[4 * j + i], i % 2 ? s.y : s.x, sums[4 * j + i]);
    }
  } else {
    const float top = scales[consumer.row_of(kPiece)], bottom = scales[consumer.row_of(kPiece) + 8];
#pragma unroll
    for (int i = 0; i < T::kSums; i++)
      sums[i] = fmaf(products[i], i % 4 < 2 ? top : bottom, sums[i]);
  }
}

template <class T, int kPiece, class Meanwhile>
__device__ __forceinline__ void multiply_piece(Consumer<T>& consumer, float (&sums)[T::kSums],
                                               Meanwhile meanwhile) {
  float products[T::kSums];
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kSteps; step++)
    consumer.template issue<kPiece>(products, step, step > 0);
  wgmma_commit();
  meanwhile();
  if constexpr (T::kBlockScales && kPiece == 0)
    mbarrier_wait(consumer.shared.scales_full(consumer.scale_ring.slot), consumer.scale_ring.parity,
                  "consumer of scales", consumer.scale_ring.slot);
  wgmma_wait<0>();
  if constexpr (kPiece == T::kPieces - 1) consumer.release(consumer.ring.slot);
  if constexpr (T::kBlockScales) {
    add_scaled<T, kPiece>(consumer, consumer.shared.block_scale(consumer.scale_ring.slot), products,
                          sums);
  } else {
#pragma unroll
    for (int i = 0; i < T::kSums; i++) sums[i] += products[i];
  }
}

// One block of k; `meanwhile` runs under its products.
template <class T, class Meanwhile>
__device__ __forceinline__ void promote_block(Consumer<T>& consumer,
                                              float (&sums)[T::kPieces][T::kSums],
                                              Meanwhile meanwhile) {
  consumer.wait_full();
  multiply_piece<T, 0>(consumer, sums[0], meanwhile);
  if constexpr (T::kPieces == 2) multiply_piece<T, 1>(consumer, sums[1], [] {});
  if constexpr (T::kBlockScales) {
    __syncwarp();
    if (consumer.lane == 0) mbarrier_arrive(consumer.shared.scales_empty(consumer.scale_ring.slot));
    consumer.scale_ring.next();
  }
  consumer.ring.next();
}

template <class T, class Departing>
__device__ __forceinline__ void multiply_precise(Consumer<T>& consumer,
                                                 float (&sums)[T::kPieces][T::kSums],
                                                 const Work& work, Departing& departing) {
#pragma unroll
  for (int piece = 0; piece < T::kPieces; piece++)
#pragma unroll
    for (int i = 0; i < T::kSums; i++) sums[piece][i] = 0.0f;
  const int count = work.k_end - work.k_begin;
  [&]<int... kBlock>(std::integer_sequence<int, kBlock...>) {
    [[maybe_unused]] auto block = [&]<int kb>() {
      auto send = [&] { departing.template send<kb>(consumer); };
      kb < count ? promote_block<T>(consumer, sums, send) : send();
    };
    (block.template operator()<kBlock>(), ...);
  }
  (std::make_integer_sequence<int, Departing::kCount>{});
  for (int kb = Departing::kCount; kb < count; kb++) promote_block<T>(consumer, sums, [] {});
}

template <class T, class Departing>
__device__ __forceinline__ void multiply(Consumer<T>& consumer, float (&sums)[T::kPieces][T::kSums],
                                         const Work& work, Departing& departing) {
  if constexpr (T::kernel.sums == Fp8Sums::kFast) {
    multiply_fast<T>(consumer, sums, work, departing);
  } else {
    multiply_precise<T>(consumer, sums, work, departing);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
