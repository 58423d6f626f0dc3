// SPDX-License-Identifier: MIT
// src/cuda/kernels/elements.cuh: elementwise operators, one template over a functor.
//
// Two kernels an operator.
// flat: all operands contiguous, aligned and of one dtype. A block of 256 threads takes
// up to kFlatSteps x 256 vectors of 16 bytes of each operand, fewer where there would not be two
// blocks for every SM; a thread's are 256 apart and are all loaded before the first is used: 64
// bytes an operand under way, with 2048 threads 128 KB an SM and operand, several times what the
// latency of memory asks for. groups: any strides, dtypes and alignments. A thread takes eight
// neighbours along the innermost axis; outer indices come from divisions by numbers known before
// the launch. Where eight neighbours are aligned they are moved as vectors: rows with gaps and
// mixed dtypes lose little. Registers only. Bound: memory; the dearest functor (erf) has some 25
// instructions an element, where 16-bit operands leave time for about 27 on an H200.
#pragma once

#include "cuda/device/math.cuh"
#include "cuda/device/numbers.cuh"
#include "cuda/launch/division.h"
#include "cuda/launch/elements.h"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kElementThreads = 256;
inline constexpr int kFlatSteps = 4;

// ---- flat ----

struct FlatElements {
  const void* in[2];
  void* out;
  int64_t count;
  int steps;  // vectors of a thread, at most kFlatSteps
};

template <class F, class T, int kInputs>
__global__ void __launch_bounds__(kElementThreads)
    flat_elements_kernel(const FlatElements a, const F op) {
  constexpr int kCount = kPerVector<T>;
  const T* x = static_cast<const T*>(a.in[0]);
  const T* y = static_cast<const T*>(a.in[kInputs - 1]);
  T* out = static_cast<T*>(a.out);
  const int64_t vectors = a.count / kCount;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * (kElementThreads * a.steps) +
                        static_cast<int>(threadIdx.x);

  Packet<T, kCount> packets[kInputs][kFlatSteps];
#pragma unroll
  for (int k = 0; k < kFlatSteps; k++) {
    const int64_t v = first + k * kElementThreads;
    if (k >= a.steps || v >= vectors) continue;
    load<kStreamed>(packets[0][k], x + v * kCount);
    if constexpr (kInputs == 2) load<kStreamed>(packets[1][k], y + v * kCount);
  }
#pragma unroll
  for (int k = 0; k < kFlatSteps; k++) {
    const int64_t v = first + k * kElementThreads;
    if (k >= a.steps || v >= vectors) continue;
    float values[kInputs][kCount];
#pragma unroll
    for (int i = 0; i < kInputs; i++) widen(packets[i][k], values[i]);
#pragma unroll
    for (int i = 0; i < kCount; i++) {
      if constexpr (kInputs == 1) values[0][i] = op(values[0][i]);
      if constexpr (kInputs == 2) values[0][i] = op(values[0][i], values[1][i]);
    }
    store<kStreamed>(out + v * kCount, narrow<T, kCount>(values[0]));
  }
  // What is behind the last whole vector, by as many threads of the last block.
  const int64_t i = vectors * kCount + static_cast<int>(threadIdx.x);
  if (blockIdx.x == gridDim.x - 1 && i < a.count) {
    if constexpr (kInputs == 1) store_one(out + i, op(load_one(x + i)));
    if constexpr (kInputs == 2) store_one(out + i, op(load_one(x + i), load_one(y + i)));
  }
}

// ---- groups ----

struct GroupOperand {
  void* data;
  DType dtype;
  bool vectors;  // eight neighbours are aligned
  int64_t steps[kMaxRank];
};

struct GroupElements {
  GroupOperand in[2], out;
  int rank;
  uint32_t groups;           // in all
  Division groups_of_row;    // along the innermost axis
  Division outer[kMaxRank];  // sizes of the others
  int64_t cols;              // size of the innermost
};

// Of an elementwise operator on one operand: where the group's elements lie.
__device__ __forceinline__ GroupPlace place_of(const GroupElements& a, const GroupOperand& operand,
                                               uint32_t row, uint32_t group) {
  const int64_t col = static_cast<int64_t>(group) * kGroup;
  GroupPlace at;
  at.step = operand.steps[a.rank - 1];
  at.offset = col * at.step;
  for (int d = a.rank - 2; d >= 0; d--) {
    const uint32_t next = a.outer[d].quotient(row);
    at.offset += (row - next * a.outer[d].divisor) * operand.steps[d];
    row = next;
  }
  at.count = static_cast<int>(a.cols - col < kGroup ? a.cols - col : kGroup);
  at.vector = operand.vectors && at.count == kGroup;
  return at;
}

template <class F, int kInputs, bool kNumbers, bool kSaturate>
__global__ void __launch_bounds__(kElementThreads)
    group_elements_kernel(const GroupElements a, const F op) {
  const uint32_t item = blockIdx.x * kElementThreads + threadIdx.x;
  if (item >= a.groups) return;
  const uint32_t row = a.groups_of_row.quotient(item);
  const uint32_t group = item - row * a.groups_of_row.divisor;
  float values[kInputs][kGroup];
#pragma unroll
  for (int i = 0; i < kInputs; i++)
    load_group<kNumbers>(values[i], a.in[i].data, a.in[i].dtype, place_of(a, a.in[i], row, group));
#pragma unroll
  for (int i = 0; i < kGroup; i++) {
    if constexpr (kInputs == 1) values[0][i] = op(values[0][i]);
    if constexpr (kInputs == 2) values[0][i] = op(values[0][i], values[1][i]);
  }
  store_group<kNumbers, kSaturate>(a.out.data, a.out.dtype, place_of(a, a.out, row, group),
                                   values[0]);
}

// ---- launches ----

bool is_flat(const ElementArgs& args, int inputs);
// Calls start(part) for parts small enough for 31 bits of groups.
cudaError_t for_parts(const ElementArgs& args, int inputs,
                      cudaError_t (*start)(const GroupElements&, float, Stream), Stream stream);

template <class F, int kInputs, bool kNumbers, bool kSaturate>
cudaError_t start_groups(const GroupElements& part, float number, Stream stream) {
  LaunchShape shape;
  shape.grid = (part.groups + kElementThreads - 1) / kElementThreads;
  shape.block = kElementThreads;
  shape.stream = stream;
  return launch(group_elements_kernel<F, kInputs, kNumbers, kSaturate>, shape, part, F{number});
}

template <class F, class T, int kInputs>
cudaError_t start_flat(const ElementArgs& args, Stream stream) {
  const int64_t vectors = args.sizes[0] / kPerVector<T>;
  const int64_t steps = vectors / (int64_t{kElementThreads} * args.multiprocessors * 2);
  const FlatElements flat{
      {args.in[0].data, args.in[1].data},
      args.out.data,
      args.sizes[0],
      static_cast<int>(steps < 1 ? 1 : (steps > kFlatSteps ? kFlatSteps : steps))};
  const int64_t of_block = int64_t{kElementThreads} * flat.steps * kPerVector<T>;
  LaunchShape shape;
  shape.grid = static_cast<unsigned>((flat.count + of_block - 1) / of_block);
  shape.block = kElementThreads;
  shape.stream = stream;
  return launch(flat_elements_kernel<F, T, kInputs>, shape, flat, F{args.number});
}

template <class F, int kInputs>
cudaError_t start_elements(const ElementArgs& args, Stream stream) {
  if (is_flat(args, kInputs)) {
    switch (args.out.dtype) {
      case DType::kBF16: return start_flat<F, bf16, kInputs>(args, stream);
      case DType::kF16: return start_flat<F, f16, kInputs>(args, stream);
      default: return start_flat<F, f32, kInputs>(args, stream);
    }
  }
  return for_parts(args, kInputs, start_groups<F, kInputs, false, false>, stream);
}

cudaError_t unary_elements(const ElementArgs& args, Stream stream);
cudaError_t binary_elements(const ElementArgs& args, Stream stream);

}  // namespace nrd::cuda::NRD_CUDA_TARGET
