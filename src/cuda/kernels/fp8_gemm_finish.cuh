// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_finish.cuh: what becomes of the sums of a tile that is done.
#pragma once

#include "cuda/kernels/fp8_gemm_promote.cuh"
#include "cuda/kernels/fp8_gemm_store.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Of one consumer and one tile.
template <class T>
class Finisher {
 public:
  using Tiles = float[T::kPieces][T::kSums];
  // Sums that can be finished part by part, while the products of the other part run.
  static constexpr bool kHasParts = has_two_parts(T::kernel);
  static_assert(!kHasParts || kDefers<T> || T::kPieces == 2);

  __device__ __forceinline__ Finisher(const Fp8GemmParams& params, const Consumer<T>& consumer,
                                      const Work& work, Departing<T>& departing)
      : params_(params), consumer_(consumer), work_(work), departing_(departing) {}

  // What is not rounded is stored at once.
  __device__ __forceinline__ bool can_part() const {
    return work_.parts == 1 && !(kDefers<T> && params_.c_type == Fp8Out::kF32);
  }

  template <int kPart>
  __device__ __forceinline__ void part(const Tiles& sums) {
    if constexpr (kDefers<T>) {
      departing_.template take<kPart>(consumer_, work_, sums);
    } else {
      store<kPart, kPart + 1>(sums);
    }
  }

  __device__ __forceinline__ void all(const Tiles& sums) {
    if constexpr (kDefers<T>) {
      if (params_.c_type != Fp8Out::kF32) {
        departing_.template take<0>(consumer_, work_, sums);
        departing_.template take<1>(consumer_, work_, sums);
        return;
      }
      departing_.take_nothing();
      Store<T, f32>(params_, consumer_).template run<0, T::kPieces>(sums, work_);
    } else {
      store<0, T::kPieces>(sums);
    }
  }

 private:
  // Pieces of 64 rows.
  template <int kFirst, int kEnd>
  __device__ __forceinline__ void store(const Tiles& sums) {
    if (params_.c_type == Fp8Out::kF32) {
      Store<T, f32>(params_, consumer_).template run<kFirst, kEnd>(sums, work_);
    } else if (params_.c_type == Fp8Out::kF16) {
      Store<T, f16>(params_, consumer_).template run<kFirst, kEnd>(sums, work_);
    } else {
      Store<T, bf16>(params_, consumer_).template run<kFirst, kEnd>(sums, work_);
    }
  }

  const Fp8GemmParams& params_;
  const Consumer<T>& consumer_;
  const Work& work_;
  Departing<T>& departing_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
