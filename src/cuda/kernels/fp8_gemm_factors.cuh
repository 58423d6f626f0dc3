// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_factors.cuh: the scales of blocks, as the sums of a block of k meet
// them: the factor of an element is a's scale times b's.
//
// Two warps bring a stage's factors to shared memory (fp8_gemm_produce.cuh), and its barrier counts
// them in. Every instruction of a consumer, and every register that one reads, takes some of the
// registers' bandwidth from the tensor cores: with loads of scales in this loop, addresses and all,
// it took a quarter longer.
#pragma once

#include <numeric>

#include "cuda/kernels/fp8_gemm_consumer.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Sums without factors.
template <class T>
struct NoFactors {
  __device__ __forceinline__ void begin(const Work&) {}
  __device__ __forceinline__ void take(const Consumer<T>&) {}
  template <int kPiece>
  __device__ __forceinline__ float add(int, float product, float sum) const {
    return sum + product;
  }
};

// Of the two rows of a piece that a thread has sums of, for each group of columns that lies within
// one block of b.
template <class T>
class RowFactors {
 public:
  __device__ __forceinline__ void begin(const Work& work) {
    if constexpr (T::kColBlocks > 1) first_ = work.col_tile * T::kCols % 128;
  }

  __device__ __forceinline__ void take(const Consumer<T>& consumer) {
    const float* from = consumer.shared.factors(consumer.ring.slot);
#pragma unroll
    for (int g = 0; g < kGroups; g++) {
      const float* block = from + (first_ + g * kGroupCols) / 128 * T::kFactors;
#pragma unroll
      for (int i = 0; i < 2 * T::kPieces; i++)
        factors_[g][i] = block[consumer.row_of(i / 2) + i % 2 * 8];
      keep_here(factors_[g]);  // before the products end
    }
  }

  template <int kPiece>
  __device__ __forceinline__ float add(int i, float product, float sum) const {
    return fmaf(product, factors_[i / 4 * 8 / kGroupCols][2 * kPiece + i % 4 / 2], sum);
  }

 private:
  static constexpr int kGroupCols = std::gcd(T::kCols, 128), kGroups = T::kCols / kGroupCols;
  int first_ = 0;  // column of the tile, of its block of b
  float factors_[kGroups][2 * T::kPieces];
};

// Swapped, of columns: too many for registers.
template <class T>
class ColumnFactors {
 public:
  __device__ __forceinline__ void begin(const Work&) {}
  __device__ __forceinline__ void take(const Consumer<T>& consumer) {
    factors_ = consumer.shared.factors(consumer.ring.slot) + 2 * (consumer.lane % 4);
  }

  template <int kPiece>
  __device__ __forceinline__ float add(int i, float product, float sum) const {
    const float2 two = *reinterpret_cast<const float2*>(factors_ + 8 * (i / 4));
    return fmaf(product, i % 2 ? two.y : two.x, sum);
  }

 private:
  const float* factors_;
};

template <class T>
using Factors =
    std::conditional_t<!T::kBlockScales, NoFactors<T>,
                       std::conditional_t<T::kSwapped, ColumnFactors<T>, RowFactors<T>>>;

}  // namespace nrd::cuda::NRD_CUDA_TARGET
