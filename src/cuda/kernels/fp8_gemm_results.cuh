// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_results.cuh: from sums to results: scales, bias, one rounding.
#pragma once

#include "cuda/device/formats.cuh"
#include "cuda/kernels/fp8_gemm_consumer.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Of one consumer.
template <class T, class Out>
class Results {
 public:
  __device__ __forceinline__ Results(const Fp8GemmParams& params, const Consumer<T>& consumer)
      : params_(params), consumer_(consumer) {}

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
      const float of_row = i < 2 ? row_scale.x : row_scale.y;
      const float of_col = i % 2 ? col_scale.y : col_scale.x;
      // Two factors and not their product, which may leave the range of f32 where the result does
      // not. That of a comes first, also where the kernel is swapped: the bits are the same.
      const float scaled = sums[i] * (T::kSwapped ? of_col : of_row);
      out[i] = T::kBlockScales ? sums[i] + add : fmaf(scaled, T::kSwapped ? of_row : of_col, add);
    }
  }

  // Of the thread's row and of row + 8.
  __device__ __forceinline__ float2 two_rows(const float* values, int row) const {
    return make_float2(values[row], values[row + 8]);
  }

  // Pairs of kGroups groups of 8 columns from `first` on: of the thread's row, of row + 8.
  template <int kGroups>
  __device__ __forceinline__ void round_groups(const float* sums, int first, float2 scale,
                                               uint32_t* pairs) const {
    // One factor for all, where the two have a product (produce_vectors): the same bits as below.
    if (T::kPairsTerms && params_.one_factor && *consumer_.shared.col_scale(0) == 1.0f) {
      const float factor = *consumer_.shared.row_scale();
      const float* from = sums + 4 * first;
#pragma unroll
      for (int i = 0; i < 2 * kGroups; i++)
        pairs[i] =
            narrow_pair<Out>(fmaf(from[2 * i], factor, 0.0f), fmaf(from[2 * i + 1], factor, 0.0f));
      return;
    }
#pragma unroll
    for (int j = 0; j < kGroups; j++) {
      float out[4];
      finish(sums + 4 * (first + j), first + j, scale, make_float2(0, 0), out);
      pairs[2 * j] = narrow_pair<Out>(out[0], out[1]);
      pairs[2 * j + 1] = narrow_pair<Out>(out[2], out[3]);
    }
  }

 private:
  __device__ __forceinline__ static float2 two_at(const float* values) {
    return *reinterpret_cast<const float2*>(values);
  }

  const Fp8GemmParams& params_;
  const Consumer<T>& consumer_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
