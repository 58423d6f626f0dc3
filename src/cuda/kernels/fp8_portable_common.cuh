// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_portable_common.cuh: from sums to c: scales, bias, one rounding, the store.
#pragma once

#include "cuda/device/output_type.cuh"
#include "cuda/launch/fp8_gemm.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kScaleBlock = 128;  // of k and n under one scale; sums are promoted as often

// Whether every row of a matrix of codes starts at a multiple of 16 bytes.
__device__ __forceinline__ bool rows_aligned(const void* matrix, int64_t row) {
  return (reinterpret_cast<uintptr_t>(matrix) | static_cast<uintptr_t>(row)) % 16 == 0;
}

// The first `count` of 16 codes at any address; the others are zero.
__device__ __forceinline__ void gather_codes(const char* from, int count, uint32_t (&words)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    words[i] = 0;
#pragma unroll 1
    for (int byte = 0; byte < min(4, count - i * 4); byte++) {
      uint32_t code;
      load_words<1, Touch::kOften>(from + i * 4 + byte, &code);
      words[i] |= code << (byte * 8);
    }
  }
}

// What a row and a column bring to a value. Block scales are already in the sums. Two factors and
// not their product, which may leave the range of f32 where the result does not.
__device__ __forceinline__ float row_factor(const Fp8GemmArgs& args, int row) {
  return args.scales == Fp8Scales::kBlock ? 1.0f : args.a_scale[row * args.a_scale_row];
}
__device__ __forceinline__ float column_factor(const Fp8GemmArgs& args, int column) {
  return args.scales == Fp8Scales::kBlock ? 1.0f : args.b_scale[column * args.b_scale_column];
}
__device__ __forceinline__ float bias_of(const Fp8GemmArgs& args, int column) {
  if (args.bias == nullptr) return 0.0f;
  return load_as(args.bias, args.bias_dtype, column * args.bias_step);
}

// One value of c.
__device__ __forceinline__ void store_result(const Fp8GemmArgs& args, int row, int column,
                                             float sum) {
  const float value =
      sum * row_factor(args, row) * column_factor(args, column) + bias_of(args, column);
  store_as(args.c, args.c_dtype, row * args.c_row + column, value);
}

// Two neighbours of a row, as one access where the address allows it.
template <class T>
__device__ __forceinline__ void store_pair(T* to, float first, float second, bool both) {
  if (both && reinterpret_cast<uintptr_t>(to) % (2 * sizeof(T)) == 0) {
    const float values[2] = {first, second};
    store<Touch::kOften>(to, narrow<T, 2>(values));
    return;
  }
  store_one(to, first);
  if (both) store_one(to + 1, second);
}

// The part of k that block y of the grid sums up, in blocks of 128.
struct KPart {
  int first, last;
};
__device__ __forceinline__ KPart part_of_k(const Fp8GemmArgs& args) {
  const int blocks = static_cast<int>((args.k + kScaleBlock - 1) / kScaleBlock);
  const int parts = static_cast<int>(gridDim.y);
  const int each = (blocks + parts - 1) / parts;
  const int first = min(blocks, static_cast<int>(blockIdx.y) * each);
  return {first, min(blocks, first + each)};
}

// Where this block's part of the sum of one value goes when k is cut: [part][m][n].
__device__ __forceinline__ float* part_of_sum(const Fp8GemmArgs& args, float* sums, int row,
                                              int column) {
  const int64_t part = blockIdx.y;
  return sums + (part * args.m + row) * args.n + column;
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
