// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_promote.cuh: the loop over k where sums are promoted.
//
// A second set of registers takes the products of one piece of 64 rows and one block of k, and is
// added up in f32 in the order of k; meanwhile the products of other warpgroups run. They last as
// long as a warpgroup may take from the end of its products to the next ones: what need not happen
// there happens under products.
#pragma once

#include "cuda/kernels/fp8_gemm_factors.cuh"
#include "cuda/kernels/fp8_gemm_sums.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class T>
class PromotedSums {
 public:
  float sums[T::kPieces][T::kSums];

  // The first stage of a tile is there.
  __device__ __forceinline__ void begin(const Consumer<T>& consumer) { consumer.wait_full(); }

  // What departs leaves under the products of the first blocks.
  template <class Departing>
  __device__ __forceinline__ void run(Consumer<T>& consumer, const Work& work, bool has_next,
                                      Departing& departing) {
#pragma unroll
    for (int piece = 0; piece < T::kPieces; piece++)
#pragma unroll
      for (int i = 0; i < T::kSums; i++) sums[piece][i] = 0.0f;
    const int count = work.k_end - work.k_begin;
    before_ = kNone;
    factors_.begin(work);
    [&]<int... kBlock>(std::integer_sequence<int, kBlock...>) {
      [[maybe_unused]] auto block = [&]<int kb>() {
        auto send = [&] { departing.template send<kb>(consumer); };
        kb < count ? add_block(consumer, has_next || kb + 1 < count, send) : send();
      };
      (block.template operator()<kBlock>(), ...);
    }
    (std::make_integer_sequence<int, Departing::kCount>{});
    for (int kb = Departing::kCount; kb < count; kb++)
      add_block(consumer, has_next || kb + 1 < count, [] {});
    if constexpr (T::kBlockScales) __syncwarp();  // no products follow that would wait for all
    consumer.release(before_);
  }

  template <class Finish>
  __device__ __forceinline__ void end(Consumer<T>&, bool, Finish finish) {
    finish();
  }

 private:
  static constexpr int kNone = -1;

  // One block of k, whose stage is there. Under its products: the stage before is given back,
  // `meanwhile` runs, the next stage is waited for.
  template <class Meanwhile>
  __device__ __forceinline__ void add_block(Consumer<T>& consumer, bool has_next,
                                            Meanwhile meanwhile) {
    auto wait_for_next = [&] {
      before_ = consumer.ring.slot;
      consumer.advance_ring();
      if (has_next) consumer.wait_full();
    };
    add_piece<0>(consumer, [&] {
      if (before_ != kNone) consumer.release(before_);
      meanwhile();
      factors_.take(consumer);
      if constexpr (T::kPieces == 1) wait_for_next();
    });
    if constexpr (T::kPieces == 2) add_piece<1>(consumer, wait_for_next);
  }

  template <int kPiece, class Meanwhile>
  __device__ __forceinline__ void add_piece(Consumer<T>& consumer, Meanwhile meanwhile) {
    float products[T::kSums];
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; step++)
      consumer.template issue<kPiece, 0, T::kCols>(products, step, step > 0);
    wgmma_commit();
    meanwhile();
    wgmma_wait<0>();
    float(&to)[T::kSums] = sums[kPiece];
#pragma unroll
    for (int i = 0; i < T::kSums; i++) to[i] = factors_.template add<kPiece>(i, products[i], to[i]);
  }

  Factors<T> factors_;
  int before_;  // the stage of the block before
};

// Wide: the halves of the columns have a set each, and one is added up while the other's products
// run. Those of the next tile's first block are issued before the sums are stored.
template <class T>
class PairedSums {
 public:
  float sums[T::kPieces][T::kSums];

  // Of the first block.
  __device__ __forceinline__ void begin(Consumer<T>& consumer) {
    consumer.wait_full();
    issue<0>(consumer);
    issue<1>(consumer);
  }

  // At the end the first products of the next tile are under way. Nothing departs.
  template <class Departing>
  __device__ __forceinline__ void run(Consumer<T>& consumer, const Work& work, bool has_next,
                                      Departing&) {
    static_assert(Departing::kCount == 0 && T::kPieces == 1 && !T::kBlockScales);
#pragma unroll
    for (int i = 0; i < T::kSums; i++) sums[0][i] = 0.0f;
    const int count = work.k_end - work.k_begin;
    int kb = 0;
    for (; kb + kAtOnce <= count; kb += kAtOnce)
      add_blocks<kAtOnce>(consumer, has_next || kb + kAtOnce < count);
    if (count - kb >= kAtOnce / 2) {
      kb += kAtOnce / 2;
      add_blocks<kAtOnce / 2>(consumer, has_next || kb < count);
    }
    for (; kb < count; kb++) add_blocks<1>(consumer, has_next || kb + 1 < count);
  }

  template <class Finish>
  __device__ __forceinline__ void end(Consumer<T>&, bool, Finish finish) {
    finish();
  }

 private:
  static constexpr int kCols = T::kCols / 2, kHalf = kCols / 2;
  // The compiler takes waits for all products but the last in code without branches alone: the
  // first wait of so many blocks is for all.
  static constexpr int kAtOnce = 8;

  template <int kSet>
  __device__ __forceinline__ void issue(const Consumer<T>& consumer) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; step++)
      consumer.template issue<0, kSet * kCols, kCols>(products_[kSet], step, step > 0);
    wgmma_commit();
  }

  // Blocks of which the first has its products under way; then those of the next one are. Where
  // none follows they are for nobody: the compiler would wait for products that are under way on
  // one of two ways to the same place.
  template <int kBlocks>
  __device__ __forceinline__ void add_blocks(Consumer<T>& consumer, bool has_next) {
    add_block<true>(consumer, has_next || kBlocks > 1);
#pragma unroll
    for (int i = 1; i < kBlocks; i++) add_block<false>(consumer, has_next || i + 1 < kBlocks);
  }

  template <bool kIsFirst>
  __device__ __forceinline__ void add_block(Consumer<T>& consumer, bool has_next) {
    const int slot = consumer.ring.slot;
    wgmma_wait<kIsFirst ? 0 : 1>();
    add<0>();
    consumer.advance_ring();
    if (has_next) consumer.wait_full();
    issue<0>(consumer);
    wgmma_wait<1>();
    consumer.release(slot);
    add<1>();
    issue<1>(consumer);
  }

  template <int kSet>
  __device__ __forceinline__ void add() {
    keep_here(products_[kSet]);
#pragma unroll
    for (int i = 0; i < kHalf; i++) sums[0][kSet * kHalf + i] += products_[kSet][i];
    keep_here(sums[0]);
  }

  float products_[2][kHalf];
};

template <class T>
using Sums =
    std::conditional_t<T::kernel.sums == Fp8Sums::kFast, FastSums<T>,
                       std::conditional_t<has_two_sets(T::kernel), PairedSums<T>, PromotedSums<T>>>;

}  // namespace nrd::cuda::NRD_CUDA_TARGET
