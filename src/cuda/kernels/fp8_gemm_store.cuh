// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_store.cuh: results to c by way of shared memory.
//
// A consumer's sums go to shared memory piece by piece and leave by TMA under the next piece or the
// next tile's products. Where registers allow (kDefers), 16-bit results are only rounded when a
// tile is done, into half as many registers as its sums; they go to shared memory under the
// products of the next tile's first blocks of k (Departing).
#pragma once

#include "cuda/kernels/fp8_gemm_results.cuh"
#include "cuda/kernels/fp8_gemm_send.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Rounded pairs of a piece into its buffer: two a group of 8 columns, of the thread's row and of
// row + 8.
template <class Out, int kWidth>
__device__ __forceinline__ void write_pairs(const uint32_t* pairs, int warp, int lane,
                                            unsigned char* buffer) {
  using Form = Piece<Out, kWidth>;
  constexpr int kGroups = kWidth / 8;
  lane = kept_here(lane);
  const int place = Form::at(warp * 16 + lane % 16, lane / 16);
#pragma unroll
  for (int j = 0; j < kGroups; j += 2) {
    const uint32_t* p = pairs + 2 * j;
    if (j + 1 < kGroups) {
      store_matrices(buffer + Form::step(place, j), p[0], p[1], p[2], p[3]);
    } else {
      store_matrices(buffer + Form::at(warp * 16 + lane % 16, j), p[0], p[1]);
    }
  }
}

template <class T, class Out>
class Store {
 public:
  using Pieces = Cut<T, Out>;

  __device__ __forceinline__ Store(const Fp8GemmParams& params, const Consumer<T>& consumer)
      : params_(params), consumer_(consumer), results_(params, consumer) {}

  // Those 64 rows high from kFirst to kEnd - 1.
  template <int kFirst, int kEnd>
  __device__ __forceinline__ void run(const float (&sums)[T::kPieces][T::kSums],
                                      const Work& work) const {
    const Sender<T, Out> sender(params_, consumer_, work.row_tile, work.col_tile);
    constexpr int kEach = Pieces::kCount / T::kPieces;
    send<kFirst * kEach, kEnd * kEach>(sums, sender);
  }

  // Of 16-bit results, one half of a thread's: a piece or, where there is one, half its columns.
  template <int kHalf>
  __device__ __forceinline__ void round(const float (&sums)[T::kPieces][T::kSums],
                                        uint32_t* pairs) const {
    constexpr int kGroups = T::kThreadSums / 4, kFirst = kHalf * (kGroups / 2);
    constexpr int kPiece = T::kPieces == 2 ? kHalf : 0;
    results_.template round_groups<kHalf == 0 ? kGroups / 2 : kGroups - kGroups / 2>(
        sums[kPiece], T::kPieces == 2 ? 0 : kFirst, results_.scale_of(kPiece), pairs + 2 * kFirst);
  }

 private:
  // As many pieces at once as there are buffers: each time all meet costs more than a piece.
  template <int kFirst, int kEnd>
  __device__ __forceinline__ void send(const float (&sums)[T::kPieces][T::kSums],
                                       const Sender<T, Out>& sender) const {
    if constexpr (kFirst < kEnd) {
      constexpr int kCount = kEnd - kFirst < T::kBuffers ? kEnd - kFirst : T::kBuffers;
      sender.template free_buffers<0>();
      [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
        (write_piece<kFirst + kIndex>(sums, sender.buffer(kFirst + kIndex)), ...);
        sender.template send<kFirst + kIndex...>();
      }
      (std::make_integer_sequence<int, kCount>{});
      send<kFirst + kCount, kEnd>(sums, sender);
    }
  }

  template <int kNumber>
  __device__ __forceinline__ void write_piece(const float (&sums)[T::kPieces][T::kSums],
                                              unsigned char* buffer) const {
    if constexpr (T::kSwapped) {
      write_transposed(sums[0], buffer);
    } else {
      constexpr int kDown = Pieces::down(kNumber), kWidth = Pieces::width(kNumber);
      write<kWidth>(sums[kDown], Pieces::across(kNumber) * Pieces::kFullWidth / 8,
                    results_.scale_of(kDown), buffer);
    }
  }

  template <int kWidth>
  __device__ __forceinline__ void write(const float* sums, int first, float2 scale,
                                        unsigned char* buffer) const {
    const int lane = kept_here(consumer_.lane);
    if constexpr (sizeof(Out) == 4) {
      using Form = Piece<Out, kWidth>;
      const int row = consumer_.warp * 16 + lane / 4, inside = lane % 2 * 8;
      const int place = Form::at(row, lane % 4 / 2) + inside;
#pragma unroll
      for (int j = 0; j < kWidth / 8; j++) {
        float out[4];
        results_.finish(sums + 4 * (first + j), first + j, scale, make_float2(0, 0), out);
        float2* to = reinterpret_cast<float2*>(buffer + Form::step(place, 2 * j));
        to[0] = make_float2(out[0], out[1]);
        to[Form::kRowBytes] = make_float2(out[2], out[3]);  // 8 rows of float2
      }
    } else {
      uint32_t pairs[kWidth / 4];
      results_.template round_groups<kWidth / 8>(sums, first, scale, pairs);
      write_pairs<Out, kWidth>(pairs, consumer_.warp, lane, buffer);
    }
  }

  // Rows of shared memory are tokens, the tile's columns; the warp's 16 rows are 16 columns there.
  __device__ __forceinline__ void write_transposed(const float (&sums)[T::kSums],
                                                   unsigned char* buffer) const {
    using Form = Piece<Out, Pieces::kFullWidth>;
    constexpr int kGroups = T::kCols / 8;
    const int lane = kept_here(consumer_.lane), warp = consumer_.warp;
    const float2 scale = results_.scale_of(0);
    const float2 bias = results_.two_rows(consumer_.shared.bias(0), consumer_.row_of(0));
    if constexpr (sizeof(Out) == 4) {
      unsigned char* half = buffer + warp / 2 * T::kCols * 128;
#pragma unroll
      for (int j = 0; j < kGroups; j++) {
        float out[4];
        results_.finish(sums + 4 * j, j, scale, bias, out);
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
        results_.finish(sums + 4 * j, j, scale, bias, out);
        const uint32_t left = narrow_pair<Out>(out[0], out[1]);
        const uint32_t right = narrow_pair<Out>(out[2], out[3]);
        if (j + 1 < kGroups) {
          results_.finish(sums + 4 * (j + 1), j + 1, scale, bias, beside);
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
  const Results<T, Out> results_;
};

template <class T>
constexpr bool kDefers = defers_store(T::kernel);

// Rounded results of the tile before, on their way out in steps, each under the products of a block
// of k: one writes pieces to their buffers, in the next, when shared memory has them, TMA takes
// them. Together they would last longer than a block. Fast sums need the next stages so soon that
// what leaves at once delays them: a piece at a time, and in one step where a block of k is short
// (128 x 128 took 3 % longer in two).
template <class T>
class Departing {
 public:
  using Pieces = Cut<T, f16>;  // any type of 16 bits
  static constexpr bool kIsFast = T::kernel.sums == Fp8Sums::kFast;
  static constexpr int kAtOnce = kIsFast ? 1 : T::kBuffers;
  static constexpr int kBatches = (Pieces::kCount + kAtOnce - 1) / kAtOnce;
  static constexpr int kStepsEach = kIsFast && T::kThreadSums <= 64 ? 1 : 2;
  static constexpr int kCount = kDefers<T> ? kStepsEach * kBatches : 0;

  __device__ __forceinline__ explicit Departing(const Fp8GemmParams& params) : params_(params) {}

  template <int kHalf>
  __device__ __forceinline__ void take(const Consumer<T>& consumer, const Work& work,
                                       const float (&sums)[T::kPieces][T::kSums]) {
    if (params_.c_type == Fp8Out::kF16) {
      Store<T, f16>(params_, consumer).template round<kHalf>(sums, pairs_);
    } else {
      Store<T, bf16>(params_, consumer).template round<kHalf>(sums, pairs_);
    }
    row_tile_ = work.row_tile, col_tile_ = work.col_tile;
    is_waiting_ = true;
  }

  // Nothing follows. The compiler learns that no register is kept on this way.
  __device__ __forceinline__ void take_nothing() {
#pragma unroll
    for (uint32_t& pair : pairs_) pair = 0;
    is_waiting_ = false;
  }

  // Step kNumber of kCount.
  template <int kNumber>
  __device__ __forceinline__ void send(const Consumer<T>& consumer) {
    if (!is_waiting_) return;
    const Sender<T, f16> sender(params_, consumer, row_tile_, col_tile_);
    constexpr int kFirst = kNumber / kStepsEach * kAtOnce, kLeft = Pieces::kCount - kFirst;
    constexpr bool kWrites = kNumber % kStepsEach == 0;
    constexpr bool kSends = kNumber % kStepsEach == kStepsEach - 1;
    [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
      if constexpr (kWrites) {
        sender.template free_buffers<T::kBuffers - kAtOnce>();
        (write<kFirst + kIndex>(consumer, sender.buffer(kFirst + kIndex)), ...);
      }
      if constexpr (kSends) sender.template send<kFirst + kIndex...>();
    }
    (std::make_integer_sequence<int, (kLeft < kAtOnce ? kLeft : kAtOnce)>{});
    if constexpr (kNumber == kCount - 1) is_waiting_ = false;
  }

  // Nothing follows: all at once, from what the ring no longer needs.
  __device__ __forceinline__ void send_last(const Consumer<T>& consumer) const {
    if constexpr (kDefers<T>) {
      if (!is_waiting_) return;
      const Sender<T, f16> sender(params_, consumer, row_tile_, col_tile_);
      auto place = [&](int number) { return consumer.shared.spare(consumer.index, number); };
      sender.template free_buffers<0>();  // all warps' products have read their rows there
      [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) {
        (write<kNumber>(consumer, place(kNumber)), ...);
        sender.template send_from<kNumber...>(place);
      }
      (std::make_integer_sequence<int, Pieces::kCount>{});
    }
  }

 private:
  static_assert(!kDefers<T> || Pieces::kCount <= T::kStages * T::kPieces);

  template <int kPiece>
  __device__ __forceinline__ void write(const Consumer<T>& consumer, unsigned char* buffer) const {
    constexpr int kFrom =
        Pieces::down(kPiece) * T::kSums / 2 + Pieces::across(kPiece) * Pieces::kFullWidth / 4;
    write_pairs<f16, Pieces::width(kPiece)>(pairs_ + kFrom, consumer.warp, consumer.lane, buffer);
  }

  const Fp8GemmParams& params_;
  uint32_t pairs_[kDefers<T> ? T::kThreadSums / 2 : 1];
  int row_tile_ = 0, col_tile_ = 0;
  bool is_waiting_ = false;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
