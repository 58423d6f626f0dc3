// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_tile.cuh: a tile of fp8_gemm in numbers: who holds what where.
#pragma once

#include <numeric>

#include "cuda/config/fp8_gemm_kernels.h"
#include "cuda/launch/fp8_gemm_params.h"
#include "cuda/ptx/cluster.cuh"
#include "cuda/ptx/grid.cuh"
#include "cuda/ptx/tma.cuh"
#include "cuda/ptx/warp.cuh"
#include "cuda/ptx/wgmma.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

constexpr int kGroupThreads = 128;  // of a warpgroup
constexpr int kBlockK = 128;        // bytes of k a stage: one swizzled row
constexpr int kSharedLimit = 232448;

constexpr int round_up(int value, int step) { return (value + step - 1) / step * step; }

// Shared memory, from the start: the ring of operand tiles, the pieces of results that TMA stores,
// the tile's vectors, the stages' factors, barriers, one word a consumer.
template <Fp8Kernel kKernel>
struct Tile {
  static constexpr Fp8Kernel kernel = kKernel;
  static constexpr bool kSwapped = kKernel.swapped;
  static constexpr bool kBlockScales = kKernel.sums == Fp8Sums::kBlock;
  static constexpr int kRows = kKernel.rows, kCols = kKernel.cols;
  static constexpr int kConsumers = consumers_of(kRows);
  static constexpr int kStages = kKernel.stages, kBuffers = kKernel.buffers;
  static constexpr int kPieces = kRows / (64 * kConsumers);  // of 64 rows, a consumer
  static constexpr int kSums = kCols / 2;                    // f32 sums of a piece, a thread
  static constexpr int kThreadSums = kPieces * kSums;
  static_assert(kPieces * 64 * kConsumers == kRows && kCols % 8 == 0);

  static constexpr int kRowBytes = kRows * kBlockK, kColBytes = kCols * kBlockK;
  // A piece of the result: 64 rows of 128 bytes; swapped, kCols rows of 64 f32 at most.
  static constexpr int kBufferBytes = kSwapped ? kCols * 256 : 64 * 128;
  // Factors of the side of tokens, for one block of k: a part of the stage.
  static constexpr int kFactors = !kBlockScales ? 0 : kSwapped ? kCols : kRows;
  // Blocks of b, 128 columns wide, that a tile's columns can touch: each has factors of its own.
  static constexpr int kColBlocks =
      kBlockScales && !kSwapped ? (255 - std::gcd(kCols, 128) + kCols) / 128 : 1;
  static constexpr int kFactorWarps = kBlockScales ? 2 : 0;  // that bring them
  // Two columns' scales, then their biases, so that one load brings what a thread needs.
  static constexpr bool kPairsTerms = !kSwapped && !kBlockScales;

  static constexpr int kRowTiles = 0;
  static constexpr int kColTiles = kRowTiles + kStages * kRowBytes;
  static constexpr int kOut = kColTiles + kStages * kColBytes;
  static constexpr int kRowScale = kOut + kConsumers * kBuffers * kBufferBytes;
  static constexpr int kColScale = kRowScale + (kBlockScales ? 0 : kRows * 4);
  static constexpr int kBias = kColScale + (kBlockScales ? 0 : kCols * 4);
  static constexpr int kFactorsAt = kBias + (kSwapped ? kRows : kCols) * 4;
  static constexpr int kBarriers = round_up(kFactorsAt + kStages * kColBlocks * kFactors * 4, 8);
  static constexpr int kBarrierCount = 2 * kStages + 2;
  static constexpr int kWords = kBarriers + kBarrierCount * 8;
  static constexpr int kSharedBytes = kWords + kConsumers * 4;
  static_assert(kSharedBytes <= kSharedLimit);
};

// A place in a ring of slots, and the parity of the barriers' phase there.
template <int kSlots>
struct Ring {
  int slot = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void next() {
    if (++slot == kSlots) slot = 0, parity ^= 1;
  }
};

// The block's shared memory by name.
template <class T>
struct Shared {
  unsigned char* base;

  __device__ __forceinline__ unsigned char* row_tile(int stage) const {
    return base + T::kRowTiles + stage * T::kRowBytes;
  }
  __device__ __forceinline__ unsigned char* col_tile(int stage) const {
    return base + T::kColTiles + stage * T::kColBytes;
  }
  __device__ __forceinline__ unsigned char* buffer(int consumer, int i) const {
    return base + T::kOut + (consumer * T::kBuffers + i) * T::kBufferBytes;
  }
  // Places of 8 KB where a consumer had its rows of the ring: free when it has no products any
  // more.
  __device__ __forceinline__ unsigned char* spare(int consumer, int i) const {
    return row_tile(i / T::kPieces) + (consumer * T::kPieces + i % T::kPieces) * 64 * kBlockK;
  }
  // Of column i of the tile, and of column i of c (swapped: of row i of the tile).
  __device__ __forceinline__ float* row_scale() const { return floats(T::kRowScale); }
  __device__ __forceinline__ float* col_scale(int i) const {
    return floats(T::kColScale) + (T::kPairsTerms ? i / 2 * 4 + i % 2 : i);
  }
  __device__ __forceinline__ float* bias(int i) const {
    return T::kPairsTerms ? col_scale(i) + 2 : floats(T::kBias) + i;
  }
  __device__ __forceinline__ float* factors(int stage) const {
    return floats(T::kFactorsAt) + stage * T::kColBlocks * T::kFactors;
  }
  __device__ __forceinline__ Barrier* full(int stage) const { return barrier(stage); }
  __device__ __forceinline__ Barrier* empty(int stage) const { return barrier(T::kStages + stage); }
  __device__ __forceinline__ Barrier* vectors_full() const { return barrier(2 * T::kStages); }
  __device__ __forceinline__ Barrier* vectors_empty() const { return barrier(2 * T::kStages + 1); }
  __device__ __forceinline__ volatile int* word(int consumer) const {
    return reinterpret_cast<volatile int*>(base + T::kWords) + consumer;
  }

 private:
  __device__ __forceinline__ float* floats(int offset) const {
    return reinterpret_cast<float*>(base + offset);
  }
  __device__ __forceinline__ Barrier* barrier(int i) const {
    return reinterpret_cast<Barrier*>(base + T::kBarriers) + i;
  }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
