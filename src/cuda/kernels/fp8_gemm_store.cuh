// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_store.cuh: from sums to c: scales, bias, one rounding, TMA.
//
// A consumer's sums go to shared memory piece by piece, in the form in which TMA takes them: 64
// rows of 128 bytes, the 16-byte chunks of row r swizzled by r % 8, which lets stmatrix write
// without bank conflicts. What a tile's width leaves of 128 bytes is a narrower, unswizzled piece.
// One thread then starts the copy, which runs under the next piece or the next tile's products.
// Swapped, the matrix is stored transposed: a row of shared memory is a row of c, 64 columns wide.
#pragma once

#include <utility>

#include "cuda/device/formats.cuh"
#include "cuda/kernels/fp8_gemm_sums.cuh"
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
};

template <class T, class Out>
class Store {
 public:
  __device__ __forceinline__ Store(const Fp8GemmParams& params, const Consumer<T>& consumer,
                                   const Work& work)
      : params_(params),
        consumer_(consumer),
        row_(work.row_tile * T::kRows + consumer.index * T::kPieces * 64),
        col_(work.col_tile * T::kCols) {}

  __device__ __forceinline__ void run(const float (&sums)[T::kPieces][T::kSums]) const {
    // The last tile's copies have long been read.
    if (is_sender()) tma_store_wait_read<0>();
    meet();
    pieces(sums, std::make_integer_sequence<int, kCount>{});
  }

 private:
  static constexpr int kFullWidth = 128 / static_cast<int>(sizeof(Out));
  static constexpr int kWidthPieces = (T::kCols + kFullWidth - 1) / kFullWidth;
  static constexpr int kRest = T::kCols % kFullWidth;

  static constexpr int kCount = T::kSwapped ? 1 : T::kPieces * kWidthPieces;

  __device__ __forceinline__ void meet() const {
    named_barrier_sync(1 + consumer_.index, kGroupThreads);
  }
  // The thread that starts copies and waits for them.
  __device__ __forceinline__ bool is_sender() const { return consumer_.warp == 0 && elect_one(); }

  template <int... kIndex>
  __device__ __forceinline__ void pieces(const float (&sums)[T::kPieces][T::kSums],
                                         std::integer_sequence<int, kIndex...>) const {
    (piece<kIndex>(sums), ...);
  }

  // Buffers are filled in turn. Where all meet to send a piece, the sender has made sure that the
  // buffer of the next one is free again.
  template <int kNumber>
  __device__ __forceinline__ void piece(const float (&sums)[T::kPieces][T::kSums]) const {
    constexpr bool kIsReused = kNumber + 1 < kCount && kNumber + 1 >= T::kBuffers;
    unsigned char* buffer = consumer_.shared.buffer(consumer_.index, kNumber % T::kBuffers);
    if constexpr (T::kSwapped) {
      write_transposed(sums[0], buffer);
    } else {
      constexpr int kPiece = kNumber / kWidthPieces, kWide = kNumber % kWidthPieces;
      constexpr bool kIsRest = kRest != 0 && kWide == kWidthPieces - 1;
      write<kPiece, kWide, kIsRest ? kRest : kFullWidth>(sums[kPiece], buffer);
    }
    fence_async_shared();
    if constexpr (kIsReused && T::kBuffers > 1)
      if (is_sender()) tma_store_wait_read<T::kBuffers - 2>();
    meet();
    if (params_.store_by_threads) {
      copy<kNumber>(buffer);
    } else if (is_sender()) {
      start<kNumber>(buffer);
      tma_store_commit();
      if constexpr (kIsReused && T::kBuffers == 1) tma_store_wait_read<0>();
    }
    if constexpr (kIsReused && T::kBuffers == 1) meet();
  }

  template <int kNumber>
  __device__ __forceinline__ void start(const unsigned char* buffer) const {
    if constexpr (T::kSwapped) {
#pragma unroll
      for (int i = 0; i < 64 / kFullWidth; i++)
        tma_store(&params_.out, buffer + i * T::kCols * 128, row_ + i * kFullWidth, col_);
    } else {
      constexpr int kPiece = kNumber / kWidthPieces, kWide = kNumber % kWidthPieces;
      constexpr bool kIsRest = kRest != 0 && kWide == kWidthPieces - 1;
      tma_store(kIsRest ? &params_.out_rest : &params_.out, buffer, col_ + kWide * kFullWidth,
                row_ + kPiece * 64);
    }
  }

  // The way of a c that TMA cannot write: element by element.
  template <int kNumber>
  __device__ __forceinline__ void copy(const unsigned char* buffer) const {
    constexpr int kPiece = kNumber / kWidthPieces, kWide = kNumber % kWidthPieces;
    constexpr bool kIsRest = !T::kSwapped && kRest != 0 && kWide == kWidthPieces - 1;
    constexpr int kWidth = kIsRest ? kRest : kFullWidth;
    constexpr int kHeight = T::kSwapped ? T::kCols : 64;
    constexpr int kCopies = T::kSwapped ? 64 / kFullWidth : 1;
    const int first_row = T::kSwapped ? col_ : row_ + kPiece * 64;
    const int first_col = T::kSwapped ? row_ : col_ + kWide * kFullWidth;
    constexpr int kBytes = sizeof(Out);
    for (int i = consumer_.warp * 32 + consumer_.lane; i < kCopies * kHeight * kWidth;
         i += kGroupThreads) {
      const int which = i / (kHeight * kWidth), row = i / kWidth % kHeight, col = i % kWidth;
      const int c_row = first_row + row, c_col = first_col + which * kWidth + col;
      if (c_row >= params_.c_rows || c_col >= params_.c_cols) continue;
      const int at = Piece<Out, kWidth>::at(row, col * kBytes / 16) + col * kBytes % 16;
      static_cast<Out*>(params_.c)[c_row * params_.c_row + c_col] =
          *reinterpret_cast<const Out*>(buffer + which * T::kCols * 128 + at);
    }
  }

  // Four results of columns 8j + 2*(lane%4) and the next: two of the thread's row, two of row + 8.
  __device__ __forceinline__ void finish(const float* sums, int j, float2 row_scale,
                                         float2 row_bias, float (&out)[4]) const {
    const int col = 8 * j + 2 * (consumer_.lane % 4);
    float2 col_scale = make_float2(1, 1), bias = make_float2(0, 0);
    if constexpr (!T::kBlockScales)
      col_scale = *reinterpret_cast<const float2*>(consumer_.shared.col_scale() + col);
    if constexpr (!T::kSwapped)
      bias = *reinterpret_cast<const float2*>(consumer_.shared.bias() + col);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float add = T::kSwapped ? (i < 2 ? row_bias.x : row_bias.y) : (i % 2 ? bias.y : bias.x);
      const float scale = (i < 2 ? row_scale.x : row_scale.y) * (i % 2 ? col_scale.y : col_scale.x);
      out[i] = T::kBlockScales ? sums[i] + add : fmaf(sums[i], scale, add);
    }
  }

  // Of the thread's row and of row + 8.
  __device__ __forceinline__ float2 two_rows(const float* values, int row) const {
    return make_float2(values[row], values[row + 8]);
  }

  template <int kPiece, int kWide, int kWidth>
  __device__ __forceinline__ void write(const float (&sums)[T::kSums],
                                        unsigned char* buffer) const {
    using Form = Piece<Out, kWidth>;
    constexpr int kFirst = kWide * kFullWidth / 8, kGroups = kWidth / 8;
    const int lane = consumer_.lane;
    float2 scale = make_float2(1, 1);
    if constexpr (!T::kBlockScales)
      scale = two_rows(consumer_.shared.row_scale(), consumer_.row_of(kPiece));
    const float2 none = make_float2(0, 0);
    const int row = consumer_.warp * 16;
    if constexpr (sizeof(Out) == 4) {
#pragma unroll
      for (int j = 0; j < kGroups; j++) {
        float out[4];
        finish(sums + 4 * (kFirst + j), kFirst + j, scale, none, out);
        const int chunk = 2 * j + lane % 4 / 2, inside = lane % 2 * 8;
        const int top = row + lane / 4;
        *reinterpret_cast<float2*>(buffer + Form::at(top, chunk) + inside) =
            make_float2(out[0], out[1]);
        *reinterpret_cast<float2*>(buffer + Form::at(top + 8, chunk) + inside) =
            make_float2(out[2], out[3]);
      }
    } else {
      unsigned char* to = buffer;
#pragma unroll
      for (int j = 0; j < kGroups; j += 2) {
        float out[4], beside[4];
        finish(sums + 4 * (kFirst + j), kFirst + j, scale, none, out);
        const uint32_t top = narrow_pair<Out>(out[0], out[1]);
        const uint32_t bottom = narrow_pair<Out>(out[2], out[3]);
        if (j + 1 < kGroups) {
          finish(sums + 4 * (kFirst + j + 1), kFirst + j + 1, scale, none, beside);
          store_matrices(to + Form::at(row + lane % 16, j + lane / 16), top, bottom,
                         narrow_pair<Out>(beside[0], beside[1]),
                         narrow_pair<Out>(beside[2], beside[3]));
        } else {
          store_matrices(to + Form::at(row + lane % 16, j), top, bottom);
        }
      }
    }
  }

  // Rows of shared memory are tokens, the tile's columns; the warp's 16 rows are 16 columns there.
  __device__ __forceinline__ void write_transposed(const float (&sums)[T::kSums],
                                                   unsigned char* buffer) const {
    using Form = Piece<Out, kFullWidth>;
    constexpr int kGroups = T::kCols / 8;
    const int lane = consumer_.lane, warp = consumer_.warp;
    float2 scale = make_float2(1, 1);
    if constexpr (!T::kBlockScales)
      scale = two_rows(consumer_.shared.row_scale(), consumer_.row_of(0));
    const float2 bias = two_rows(consumer_.shared.bias(), consumer_.row_of(0));
    if constexpr (sizeof(Out) == 4) {
      unsigned char* half = buffer + warp / 2 * T::kCols * 128;
#pragma unroll
      for (int j = 0; j < kGroups; j++) {
        float out[4];
        finish(sums + 4 * j, j, scale, bias, out);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int token = 8 * j + 2 * (lane % 4) + i % 2;
          const int col = warp % 2 * 16 + lane / 4 + i / 2 * 8;
          *reinterpret_cast<float*>(half + Form::at(token, col / 4) + col % 4 * 4) = out[i];
        }
      }
    } else {
      const int chunk = 2 * warp + lane / 8 % 2;
#pragma unroll
      for (int j = 0; j < kGroups; j += 2) {
        float out[4], beside[4];
        finish(sums + 4 * j, j, scale, bias, out);
        const uint32_t left = narrow_pair<Out>(out[0], out[1]);
        const uint32_t right = narrow_pair<Out>(out[2], out[3]);
        if (j + 1 < kGroups) {
          finish(sums + 4 * (j + 1), j + 1, scale, bias, beside);
          store_matrices_transposed(buffer + Form::at(8 * (j + lane / 16) + lane % 8, chunk), left,
                                    right, narrow_pair<Out>(beside[0], beside[1]),
                                    narrow_pair<Out>(beside[2], beside[3]));
        } else {
          store_matrices_transposed(buffer + Form::at(8 * j + lane % 8, chunk), left, right);
        }
      }
    }
  }

  const Fp8GemmParams& params_;
  const Consumer<T>& consumer_;
  const int row_, col_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
