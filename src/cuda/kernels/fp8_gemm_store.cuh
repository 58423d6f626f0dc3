// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_store.cuh: from sums to c: scales, bias, one rounding.
//
// A consumer's sums go to shared memory piece by piece and leave by TMA under the next piece or the
// next tile's products. Where registers allow (kDefers), 16-bit results are only rounded when a
// tile is done, into half as many registers as its sums; they go to shared memory under the
// products of the next tile's first blocks of k, so that the tensor cores wait for the rounding
// alone.
#pragma once

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
      : params_(params), consumer_(consumer) {}

  __device__ __forceinline__ void run(const float (&sums)[T::kPieces][T::kSums],
                                      const Work& work) const {
    const Sender<T, Out> sender(params_, consumer_, work.row_tile, work.col_tile);
    [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) {
      (piece<kNumber>(sums, sender), ...);
    }
    (std::make_integer_sequence<int, Pieces::kCount>{});
  }

  // Of 16-bit results, all of a thread's.
  __device__ __forceinline__ void round(const float (&sums)[T::kPieces][T::kSums],
                                        uint32_t (&pairs)[T::kThreadSums / 2]) const {
    if (T::kPairsTerms && params_.one_factor) {
      const float factor = *consumer_.shared.row_scale() * *consumer_.shared.col_scale(0);
#pragma unroll
      for (int i = 0; i < T::kThreadSums; i += 2) {
        const float* two = &sums[i / T::kSums][i % T::kSums];
        pairs[i / 2] = narrow_pair<Out>(fmaf(two[0], factor, 0.0f), fmaf(two[1], factor, 0.0f));
      }
      return;
    }
#pragma unroll
    for (int piece = 0; piece < T::kPieces; piece++)
      round_groups<T::kCols / 8>(sums[piece], 0, scale_of(piece), pairs + piece * T::kSums / 2);
  }

 private:
  template <int kNumber>
  __device__ __forceinline__ void piece(const float (&sums)[T::kPieces][T::kSums],
                                        const Sender<T, Out>& sender) const {
    unsigned char* buffer = sender.template free_buffer<kNumber>();
    if constexpr (T::kSwapped) {
      write_transposed(sums[0], buffer);
    } else {
      constexpr int kDown = Pieces::down(kNumber), kWidth = Pieces::width(kNumber);
      write<kWidth>(sums[kDown], Pieces::across(kNumber) * Pieces::kFullWidth / 8, scale_of(kDown),
                    buffer);
    }
    sender.template send<kNumber>(buffer);
  }

  // Of the thread's row of a piece and of row + 8.
  __device__ __forceinline__ float2 scale_of(int piece) const {
    if constexpr (T::kBlockScales) return make_float2(1, 1);
    return two_rows(consumer_.shared.row_scale(), consumer_.row_of(piece));
  }

  // Four results of columns 8j + 2*(lane%4) and the next: two of the thread's row, two of row + 8.
  __device__ __forceinline__ void finish(const float* sums, int j, float2 row_scale,
                                         float2 row_bias, float (&out)[4]) const {
    const int col = 8 * j + 2 * (consumer_.lane % 4);
    float2 col_scale = make_float2(1, 1), bias = make_float2(0, 0);
    if constexpr (T::kPairsTerms) {
      const float4 terms = *reinterpret_cast<const float4*>(consumer_.shared.col_scale(col));
      col_scale = make_float2(terms.x, terms.y), bias = make_float2(terms.z, terms.w);
    } else if constexpr (T::kSwapped) {
      if (!T::kBlockScales) col_scale = two_at(consumer_.shared.col_scale(col));
    } else {
      bias = two_at(consumer_.shared.bias(col));
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float add = T::kSwapped ? (i < 2 ? row_bias.x : row_bias.y) : (i % 2 ? bias.y : bias.x);
      const float scale = (i < 2 ? row_scale.x : row_scale.y) * (i % 2 ? col_scale.y : col_scale.x);
      out[i] = T::kBlockScales ? sums[i] + add : fmaf(sums[i], scale, add);
    }
  }

  __device__ __forceinline__ static float2 two_at(const float* values) {
    return *reinterpret_cast<const float2*>(values);
  }
  // Of the thread's row and of row + 8.
  __device__ __forceinline__ float2 two_rows(const float* values, int row) const {
    return make_float2(values[row], values[row + 8]);
  }

  template <int kGroups>
  __device__ __forceinline__ void round_groups(const float* sums, int first, float2 scale,
                                               uint32_t* pairs) const {
#pragma unroll
    for (int j = 0; j < kGroups; j++) {
      float out[4];
      finish(sums + 4 * (first + j), first + j, scale, make_float2(0, 0), out);
      pairs[2 * j] = narrow_pair<Out>(out[0], out[1]);
      pairs[2 * j + 1] = narrow_pair<Out>(out[2], out[3]);
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
        finish(sums + 4 * (first + j), first + j, scale, make_float2(0, 0), out);
        float2* to = reinterpret_cast<float2*>(buffer + Form::step(place, 2 * j));
        to[0] = make_float2(out[0], out[1]);
        to[Form::kRowBytes] = make_float2(out[2], out[3]);  // 8 rows of float2
      }
    } else {
      uint32_t pairs[kWidth / 4];
      round_groups<kWidth / 8>(sums, first, scale, pairs);
      write_pairs<Out, kWidth>(pairs, consumer_.warp, lane, buffer);
    }
  }

  // Rows of shared memory are tokens, the tile's columns; the warp's 16 rows are 16 columns there.
  __device__ __forceinline__ void write_transposed(const float (&sums)[T::kSums],
                                                   unsigned char* buffer) const {
    using Form = Piece<Out, Pieces::kFullWidth>;
    constexpr int kGroups = T::kCols / 8;
    const int lane = kept_here(consumer_.lane), warp = consumer_.warp;
    const float2 scale = scale_of(0);
    const float2 bias = two_rows(consumer_.shared.bias(0), consumer_.row_of(0));
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
};

template <class T>
constexpr bool kDefers = defers_store(T::kernel);

// Rounded results of the tile before, on their way out.
template <class T>
class Departing {
 public:
  using Pieces = Cut<T, f16>;  // any type of 16 bits
  static constexpr int kCount = kDefers<T> ? Pieces::kCount : 0;

  __device__ __forceinline__ explicit Departing(const Fp8GemmParams& params) : params_(params) {}

  __device__ __forceinline__ void take(const Consumer<T>& consumer, const Work& work,
                                       const float (&sums)[T::kPieces][T::kSums]) {
    if (params_.c_type == Fp8Out::kF16) {
      Store<T, f16>(params_, consumer).round(sums, pairs_);
    } else {
      Store<T, bf16>(params_, consumer).round(sums, pairs_);
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

  template <int kNumber>
  __device__ __forceinline__ void send(const Consumer<T>& consumer) {
    if (!is_waiting_) return;
    const Sender<T, f16> sender(params_, consumer, row_tile_, col_tile_);
    unsigned char* buffer = sender.template free_buffer<kNumber>();
    constexpr int kFrom =
        Pieces::down(kNumber) * T::kSums / 2 + Pieces::across(kNumber) * Pieces::kFullWidth / 4;
    write_pairs<f16, Pieces::width(kNumber)>(pairs_ + kFrom, consumer.warp, consumer.lane, buffer);
    sender.template send<kNumber>(buffer);
    if constexpr (kNumber == kCount - 1) is_waiting_ = false;
  }

  __device__ __forceinline__ void send_all(const Consumer<T>& consumer) {
    [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) { (send<kNumber>(consumer), ...); }
    (std::make_integer_sequence<int, kCount>{});
  }

 private:
  const Fp8GemmParams& params_;
  uint32_t pairs_[T::kThreadSums / 2];
  int row_tile_ = 0, col_tile_ = 0;
  bool is_waiting_ = false;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
