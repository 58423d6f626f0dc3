// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_send.cuh: pieces of c from shared memory to c.
//
// A piece lies in the form in which TMA takes it: 64 rows of 128 bytes, the 16-byte chunks of row r
// swizzled by r % 8, which lets stmatrix write without bank conflicts. What a tile's width leaves
// of 128 bytes is a narrower, unswizzled piece. Swapped, there is one piece: c transposed, a row of
// shared memory is a row of c, 64 columns wide.
#pragma once

#include <utility>

#include "cuda/device/formats.cuh"
#include "cuda/kernels/fp8_gemm_consumer.cuh"
#include "cuda/ptx/matrix.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// A piece of c in shared memory: kWidth columns, 128-byte rows swizzled or shorter ones not.
template <class Out, int kWidth>
struct Piece {
  static constexpr int kRowBytes = kWidth * static_cast<int>(sizeof(Out));
  static constexpr bool kIsSwizzled = kRowBytes == 128;
  __device__ __forceinline__ static int at(int row, int chunk) {
    return row * kRowBytes + (kIsSwizzled ? chunk ^ (row % 8) : chunk) * 16;
  }
  // From the place of a chunk to that of the chunk `further` on, a power of two that divides both
  // and is larger than the first: one operation in place of a register for each.
  __device__ __forceinline__ static int step(int place, int further) {
    return kIsSwizzled ? place ^ further * 16 : place + further * 16;
  }
};

// How the rows of a consumer are cut into pieces.
template <class T, class Out>
struct Cut {
  static constexpr int kFullWidth = 128 / static_cast<int>(sizeof(Out));
  static constexpr int kAcross = (T::kCols + kFullWidth - 1) / kFullWidth;
  static constexpr int kRest = T::kCols % kFullWidth;
  static constexpr int kCount = T::kSwapped ? 1 : T::kPieces * kAcross;

  static constexpr int down(int number) { return number / kAcross; }
  static constexpr int across(int number) { return number % kAcross; }
  static constexpr bool is_rest(int number) { return kRest != 0 && across(number) == kAcross - 1; }
  static constexpr int width(int number) { return is_rest(number) ? kRest : kFullWidth; }
};

// Of one consumer and one tile. Pieces take the buffers in turn.
template <class T, class Out>
class Sender {
 public:
  using Pieces = Cut<T, Out>;

  __device__ __forceinline__ Sender(const Fp8GemmParams& params, const Consumer<T>& consumer,
                                    int row_tile, int col_tile)
      : params_(params),
        consumer_(consumer),
        row_(row_tile * T::kRows + consumer.index * T::kPieces * 64),
        col_(col_tile * T::kCols) {}

  // Waits until TMA has read all buffers but those of the last kPending pieces.
  template <int kPending>
  __device__ __forceinline__ void free_buffers() const {
    if (is_sender()) tma_store_wait_read<kPending>();
    meet();
  }

  __device__ __forceinline__ unsigned char* buffer(int number) const {
    return consumer_.shared.buffer(consumer_.index, number % T::kBuffers);
  }

  // Sends pieces that all threads have written to their buffers.
  template <int... kNumber>
  __device__ __forceinline__ void send() const {
    send_from<kNumber...>([&](int number) { return buffer(number); });
  }

  // The same from where place(number) says.
  template <int... kNumber, class Place>
  __device__ __forceinline__ void send_from(Place place) const {
    fence_async_shared();
    meet();
    if (params_.store_by_threads) {
      (copy<kNumber>(place(kNumber)), ...);
    } else if (is_sender()) {
      ((start<kNumber>(place(kNumber)), tma_store_commit()), ...);
    }
  }

 private:
  __device__ __forceinline__ void meet() const {
    named_barrier_sync(1 + consumer_.index, kGroupThreads);
  }
  // The thread that starts copies and waits for them.
  __device__ __forceinline__ bool is_sender() const { return consumer_.warp == 0 && elect_one(); }

  // Weights that stream through L2 should not push the few results out to memory.
  __device__ __forceinline__ L2Keep keep() const {
    return params_.weights_once ? L2Keep::kLastOut : L2Keep::kNormal;
  }

  template <int kNumber>
  __device__ __forceinline__ void start(const unsigned char* buffer) const {
    if constexpr (T::kSwapped) {
#pragma unroll
      for (int i = 0; i < 64 / Pieces::kFullWidth; i++)
        tma_store(&params_.out, buffer + i * T::kCols * 128, row_ + i * Pieces::kFullWidth, col_,
                  keep());
    } else {
      tma_store(Pieces::is_rest(kNumber) ? &params_.out_rest : &params_.out, buffer,
                col_ + Pieces::across(kNumber) * Pieces::kFullWidth,
                row_ + Pieces::down(kNumber) * 64, keep());
    }
  }

  // The way of a c that TMA cannot write: element by element.
  template <int kNumber>
  __device__ __forceinline__ void copy(const unsigned char* buffer) const {
    constexpr int kWidth = T::kSwapped ? Pieces::kFullWidth : Pieces::width(kNumber);
    constexpr int kHeight = T::kSwapped ? T::kCols : 64;
    constexpr int kCopies = T::kSwapped ? 64 / kWidth : 1;
    constexpr int kBytes = sizeof(Out);
    const int first_row = T::kSwapped ? col_ : row_ + Pieces::down(kNumber) * 64;
    const int first_col = T::kSwapped ? row_ : col_ + Pieces::across(kNumber) * Pieces::kFullWidth;
#pragma unroll 1
    for (int i = kept_here(consumer_.warp * 32 + consumer_.lane); i < kCopies * kHeight * kWidth;
         i += kGroupThreads) {
      const int which = i / (kHeight * kWidth), row = i / kWidth % kHeight, col = i % kWidth;
      const int c_row = first_row + row, c_col = first_col + which * kWidth + col;
      if (c_row >= params_.c_rows || c_col >= params_.c_cols) continue;
      const int at = Piece<Out, kWidth>::at(row, col * kBytes / 16) + col * kBytes % 16;
      static_cast<Out*>(params_.c)[c_row * params_.c_row + c_col] =
          *reinterpret_cast<const Out*>(buffer + which * T::kCols * 128 + at);
    }
  }

  const Fp8GemmParams& params_;
  const Consumer<T>& consumer_;
  const int row_, col_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
