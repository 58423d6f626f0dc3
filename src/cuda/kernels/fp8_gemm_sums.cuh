// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_sums.cuh: the loop over k where the tensor cores add up.
//
// Sums of a tile are f32 registers. One group of products is always under way, and a stage is given
// back when the group after it has been issued.
//
// The tensor cores need not wait between tiles: wide sums have two parts, the last block of a tile
// and the first of the next are issued part by part, and while one part is finished the products of
// the other run. Narrow products read shared memory too often for that.
//
// All kinds of sums (fp8_gemm_promote.cuh has the others): begin() readies the first tile, run()
// multiplies a tile, end() calls `finish` for its sums. When end() returns the next tile, where
// there is one, is ready too: its first block issued or, promoted by one set, its first stage
// there.
#pragma once

#include <utility>

#include "cuda/kernels/fp8_gemm_consumer.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class T>
class FastSums {
 public:
  // Pieces, or halves of the columns of one.
  static constexpr int kParts = has_two_parts(T::kernel) ? 2 : 1;
  float sums[T::kPieces][T::kSums];

  __device__ __forceinline__ void begin(Consumer<T>& consumer) {
    consumer.wait_full();
    issue_parts<kSteps>(consumer, false);
  }

  // `departing` has results of the tile before: a piece leaves under each of the first blocks of k.
  template <class Departing>
  __device__ __forceinline__ void run(Consumer<T>& consumer, const Work& work, bool,
                                      Departing& departing) {
    const int last = work.k_end - work.k_begin - 1;
    [&]<int... kBlock>(std::integer_sequence<int, kBlock...>) {
      [[maybe_unused]] auto block = [&]<int kb>() {
        const int before = consumer.ring.slot;
        if (1 + kb < last) issue_block(consumer);
        departing.template send<kb>(consumer);
        if (1 + kb < last) give_back<1>(consumer, before);
      };
      (block.template operator()<kBlock>(), ...);
    }
    (std::make_integer_sequence<int, Departing::kCount>{});
    for (int kb = 1 + Departing::kCount; kb < last; kb++) {
      const int before = consumer.ring.slot;
      issue_block(consumer);
      give_back<1>(consumer, before);
    }
    if (last == 0) {
      wgmma_wait<0>();
      return;
    }
    const int before = consumer.ring.slot;
    consumer.advance_ring();
    consumer.wait_full();
    if (work.ends_early) {
      issue_parts<kSteps / 2>(consumer, true);
    } else {
      issue_parts<kSteps>(consumer, true);
    }
    give_back<kParts>(consumer, before);
  }

  template <class Finish>
  __device__ __forceinline__ void end(Consumer<T>& consumer, bool has_next, Finish finish) {
    wgmma_wait<0>();
    consumer.release(consumer.ring.slot);
    consumer.advance_ring();
    finish();
    if (has_next) begin(consumer);
  }

  // Where parts can be finished alone, by finish<0>() and finish<1>(), and a tile follows.
  template <class Finish>
  __device__ __forceinline__ void end_by_parts(Consumer<T>& consumer, Finish finish) {
    wgmma_wait<1>();
    finish.template operator()<0>();
    const int before = consumer.ring.slot;
    consumer.advance_ring();
    consumer.wait_full();
    issue_part<0, kSteps>(consumer, false);
    wgmma_wait<1>();
    consumer.release(before);
    finish.template operator()<1>();
    issue_part<1, kSteps>(consumer, false);
  }

 private:
  template <int kPart>
  __device__ __forceinline__ void issue_step(const Consumer<T>& consumer, int step,
                                             bool accumulate) {
    constexpr int kPiece = T::kPieces == 2 ? kPart : 0;
    constexpr int kCols = T::kPieces == 2 ? T::kCols : T::kCols / kParts;
    constexpr int kFirst = T::kPieces == 2 ? 0 : kPart * kCols;
    float(&part)[kCols / 2] = *reinterpret_cast<float(*)[kCols / 2]>(sums[kPiece] + kFirst / 2);
    consumer.template issue<kPiece, kFirst, kCols>(part, step, accumulate);
  }

  template <int kPart, int kCount>
  __device__ __forceinline__ void issue_part(const Consumer<T>& consumer, bool accumulate) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kCount; step++)
      issue_step<kPart>(consumer, step, accumulate || step > 0);
    wgmma_commit();
  }

  // Each a group of its own.
  template <int kCount>
  __device__ __forceinline__ void issue_parts(const Consumer<T>& consumer, bool accumulate) {
    issue_part<0, kCount>(consumer, accumulate);
    if constexpr (kParts == 2) issue_part<1, kCount>(consumer, accumulate);
  }

  // The next block of k, as one group.
  __device__ __forceinline__ void issue_block(Consumer<T>& consumer) {
    consumer.advance_ring();
    consumer.wait_full();
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; step++) {
      issue_step<0>(consumer, step, true);
      if constexpr (kParts == 2) issue_step<1>(consumer, step, true);
    }
    wgmma_commit();
  }

  // A slot, when all but the last kGroups groups are done.
  template <int kGroups>
  __device__ __forceinline__ static void give_back(const Consumer<T>& consumer, int slot) {
    wgmma_wait<kGroups>();
    consumer.release(slot);
  }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
