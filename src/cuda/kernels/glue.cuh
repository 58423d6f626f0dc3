// SPDX-License-Identifier: MIT
// src/cuda/kernels/glue.cuh: a block of 256 threads for a row, groups of eight elements a thread.
//
// Mapping. Thread t takes groups t, t + 256, ... of its row (or of its part of a row) in any dtype
// and layout (device/numbers.cuh); where eight neighbours are aligned a warp reads 512 bytes of a
// 16-bit dtype at a time. Registers and one float (argmax: and one int) a thread in shared memory.
// Bound: memory; a row that is read twice (int8) finds itself in L2.
// Order of sums: thread t adds element i of its groups one after the other into sum i of eight,
// these eight and then the threads meet in the tree of device/reduce.cuh; parts of a row (16384
// elements) are added in the same way, a thread's own in ascending order. It depends on the number
// of columns alone.
#pragma once

#include "cuda/device/numbers.cuh"
#include "cuda/device/reduce.cuh"
#include "cuda/launch/glue.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kGlueThreads = 256;

struct GlueRows : GlueOperand {
  bool vectors = false;  // eight neighbours of every row are aligned
};

__device__ __forceinline__ GroupPlace glue_place(const GlueRows& o, int64_t row, int64_t col,
                                                 int64_t end) {
  GroupPlace at;
  at.offset = row * o.row + col * o.col;
  at.step = o.col;
  at.count = static_cast<int>(end - col < kGroup ? end - col : kGroup);
  at.vector = o.vectors && at.count == kGroup;
  return at;
}

// body(values, first column, how many of them exist) for this thread's groups between two columns.
template <class Body>
__device__ __forceinline__ void for_groups(const GlueRows& x, int64_t row, int64_t begin,
                                           int64_t end, const Body& body) {
#pragma unroll 1
  for (int64_t col = begin + static_cast<int>(threadIdx.x) * kGroup; col < end;
       col += kGlueThreads * kGroup) {
    const GroupPlace at = glue_place(x, row, col, end);
    float values[kGroup];
    load_group<false>(values, x.data, x.dtype, at);
    body(values, col, at.count);
  }
}

__device__ __forceinline__ void store_value(const GlueOperand& o, int64_t row, float value) {
  const GroupPlace at{row * o.row, 1, 1, false};
  float values[kGroup] = {value};
  store_group<false, false>(o.data, o.dtype, at, values);
}

// ---- reductions ----

struct GlueReduce {
  GlueRows x, y;
  GlueOperand out;
  int64_t cols;
  float* partials;
};

template <Reduction kOp>
using CombineOf = std::conditional_t<kOp == Reduction::kMax, Max, Sum>;

template <Reduction kOp>
__device__ __forceinline__ float reduced_term(float x, float y) {
  if constexpr (kOp == Reduction::kDot) return x * y;
  if constexpr (kOp == Reduction::kSumSquares) return x * x;
  return x;
}

template <Reduction kOp>
__global__ void __launch_bounds__(kGlueThreads)
    reduce_parts_kernel(const GlueReduce a, const uint32_t parts) {
  using Combine = CombineOf<kOp>;
  const int64_t row = blockIdx.x / parts, part = blockIdx.x % parts;
  const int64_t begin = part * kReductionPart;
  const int64_t end = begin + kReductionPart < a.cols ? begin + kReductionPart : a.cols;
  float sums[kGroup];
#pragma unroll
  for (float& sum : sums) sum = Combine::kIdentity;
  for_groups(a.x, row, begin, end, [&](const float* x, int64_t col, int count) {
    float y[kGroup] = {};
    if constexpr (kOp == Reduction::kDot)
      load_group<false>(y, a.y.data, a.y.dtype, glue_place(a.y, row, col, end));
#pragma unroll
    for (int i = 0; i < kGroup; i++)
      if (i < count) sums[i] = Combine::combine(sums[i], reduced_term<kOp>(x[i], y[i]));
  });
  const float value = combine_row<Combine>(combine_slots<Combine, kGroup>(sums), kGlueThreads,
                                           shared_memory<float>());
  if (threadIdx.x != 0) return;
  if (parts == 1) {
    store_value(a.out, row, value);
  } else {
    a.partials[blockIdx.x] = value;
  }
}

template <Reduction kOp>
__global__ void __launch_bounds__(kGlueThreads)
    reduce_partials_kernel(const GlueReduce a, const uint32_t parts) {
  using Combine = CombineOf<kOp>;
  const int64_t row = blockIdx.x;
  float value = Combine::kIdentity;
  for (uint32_t p = threadIdx.x; p < parts; p += kGlueThreads)
    value = Combine::combine(value, load_one(a.partials + row * parts + p));
  value = combine_row<Combine>(value, kGlueThreads, shared_memory<float>());
  if (threadIdx.x == 0) store_value(a.out, row, value);
}

// ---- argmax ----

// The first of the largest; the first NaN before all others.
struct Candidate {
  float value;
  int index;

  __device__ __forceinline__ void meet(float other, int at) {
    const bool is_nan = value != value, other_is_nan = other != other;
    const bool is_better = other_is_nan
                               ? !is_nan || at < index
                               : !is_nan && (other > value || (other == value && at < index));
    if (!is_better) return;
    value = other;
    index = at;
  }
};

struct GlueArgmax {
  GlueRows x;
  GlueOperand index;
  int64_t cols;
};

__global__ void __launch_bounds__(kGlueThreads) argmax_kernel(const GlueArgmax a) {
  const int64_t row = blockIdx.x;
  Candidate best{-__builtin_inff(), 0};  // what a row of nothing but -Inf has
  for_groups(a.x, row, 0, a.cols, [&](const float* values, int64_t col, int count) {
#pragma unroll
    for (int i = 0; i < kGroup; i++)
      if (i < count) best.meet(values[i], static_cast<int>(col) + i);
  });
  float* values = shared_memory<float>();
  int* indices = reinterpret_cast<int*>(values + kGlueThreads);
  const int thread = static_cast<int>(threadIdx.x);
  values[thread] = best.value;
  indices[thread] = best.index;
  for (int half = kGlueThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    best.meet(values[thread + half], indices[thread + half]);
    values[thread] = best.value;
    indices[thread] = best.index;
  }
  if (thread == 0) static_cast<int32_t*>(a.index.data)[row * a.index.row] = best.index;
}

// ---- rows of int8 ----

struct GlueQuantize {
  GlueRows x, q;
  GlueOperand scale;
  int64_t cols;
};

__global__ void __launch_bounds__(kGlueThreads) quantize_i8_kernel(const GlueQuantize a) {
  const int64_t row = blockIdx.x;
  float top = 0.0f;
  for_groups(a.x, row, 0, a.cols, [&](const float* values, int64_t, int count) {
#pragma unroll
    for (int i = 0; i < kGroup; i++) {
      const float magnitude = fabsf(values[i]);
      if (i < count && magnitude <= kLargest<f32>) top = fmaxf(top, magnitude);
    }
  });
  top = combine_row<Max>(top, kGlueThreads, shared_memory<float>());
  const float ratio = top / 127.0f;
  const float scale = ratio > 0.0f ? ratio : 1.0f;
  if (threadIdx.x == 0) static_cast<float*>(a.scale.data)[row * a.scale.row] = scale;
  for_groups(a.x, row, 0, a.cols, [&](float* values, int64_t col, int) {
#pragma unroll
    for (int i = 0; i < kGroup; i++) {
      const float number = rintf(values[i] / scale);
      values[i] = number < -127.0f ? -127.0f : number;  // the store clamps above, and NaN is 0
    }
    detail::store_group_of<int8_t, false>(a.q.data, glue_place(a.q, row, col, a.cols), values);
  });
}

// ---- embedding ----

struct GlueEmbedding {
  GlueRows table, out;
  GlueOperand ids;
  int64_t cols, vocab;
};

__global__ void __launch_bounds__(kGlueThreads) embedding_kernel(const GlueEmbedding a) {
  const int64_t row = blockIdx.x;
  const int64_t id = static_cast<const int32_t*>(a.ids.data)[row * a.ids.row];
  const bool exists = id >= 0 && id < a.vocab;
  for_groups(a.table, exists ? id : 0, 0, exists ? a.cols : 0,
             [&](const float* values, int64_t col, int) {
               store_group<false, false>(a.out.data, a.out.dtype,
                                         glue_place(a.out, row, col, a.cols), values);
             });
  if (exists) return;
  float unknown[kGroup];
#pragma unroll
  for (float& value : unknown) value = __builtin_nanf("");
  for (int64_t col = static_cast<int>(threadIdx.x) * kGroup; col < a.cols;
       col += kGlueThreads * kGroup)
    store_group<false, false>(a.out.data, a.out.dtype, glue_place(a.out, row, col, a.cols),
                              unknown);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
