// SPDX-License-Identifier: MIT
// src/cuda/kernels/elements.cu: casts, what the elementwise operators share on the host, the table.
#include "cuda/kernels/elements.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

struct Same {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return x; }
};

bool is_aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Every group of eight neighbours along the innermost axis can be moved as vectors.
bool has_vectors(const ElementOperand& o, const ElementArgs& args) {
  const auto bytes = static_cast<int64_t>(byte_size(o.dtype));
  const int64_t alignment = kGroup * bytes < kVectorBytes ? kGroup * bytes : kVectorBytes;
  bool whole = o.steps[args.rank - 1] == 1 && is_aligned(o.data, static_cast<size_t>(alignment));
  for (int d = 0; d < args.rank - 1; d++) whole = whole && o.steps[d] * bytes % alignment == 0;
  return whole;
}

GroupOperand group_operand(const ElementOperand& o, const ElementArgs& args) {
  GroupOperand g{o.data, o.dtype, has_vectors(o, args), {}};
  for (int d = 0; d < args.rank; d++) g.steps[d] = o.steps[d];
  return g;
}

int64_t rows_of(const ElementArgs& args) {
  int64_t rows = 1;
  for (int d = 0; d < args.rank - 1; d++) rows *= args.sizes[d];
  return rows;
}

int64_t groups_of_row(const ElementArgs& args) {
  return (args.sizes[args.rank - 1] + kGroup - 1) / kGroup;
}

GroupElements group_elements(const ElementArgs& args) {
  GroupElements g{};
  g.in[0] = group_operand(args.in[0], args);
  g.in[1] = group_operand(args.in[1], args);
  g.out = group_operand(args.out, args);
  g.rank = args.rank;
  g.groups = static_cast<uint32_t>(rows_of(args) * groups_of_row(args));
  g.groups_of_row = Division(static_cast<uint32_t>(groups_of_row(args)));
  for (int d = 0; d < args.rank - 1; d++)
    g.outer[d] = Division(static_cast<uint32_t>(args.sizes[d]));
  g.cols = args.sizes[args.rank - 1];
  return g;
}

void advance(ElementOperand& o, int64_t by) {
  o.data = static_cast<char*>(o.data) + by * o.steps[0] * static_cast<int64_t>(byte_size(o.dtype));
}

cudaError_t cast_elements(const ElementArgs& args, Stream stream) {
  return for_parts(
      args, 1,
      args.saturate ? start_groups<Same, 1, true, true> : start_groups<Same, 1, true, false>,
      stream);
}

}  // namespace

bool is_flat(const ElementArgs& args, int inputs) {
  if (args.rank != 1 || args.out.steps[0] != 1 || !is_aligned(args.out.data, kVectorBytes))
    return false;
  for (int i = 0; i < inputs; i++)
    if (args.in[i].steps[0] != 1 || args.in[i].dtype != args.out.dtype ||
        !is_aligned(args.in[i].data, kVectorBytes))
      return false;
  return true;
}

cudaError_t for_parts(const ElementArgs& args, int inputs,
                      cudaError_t (*start)(const GroupElements&, float, Stream), Stream stream) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (rows_of(args) * groups_of_row(args) <= kMost)
    return start(group_elements(args), args.number, stream);
  // Halves of the outermost axis; of the innermost at a multiple of a group.
  ElementArgs first = args, second = args;
  first.sizes[0] = args.sizes[0] / 2 / kGroup * kGroup;
  if (first.sizes[0] == 0) first.sizes[0] = 1;
  second.sizes[0] -= first.sizes[0];
  for (int i = 0; i < inputs; i++) advance(second.in[i], first.sizes[0]);
  advance(second.out, first.sizes[0]);
  const cudaError_t code = for_parts(first, inputs, start, stream);
  return code != cudaSuccess ? code : for_parts(second, inputs, start, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET

namespace nrd::cuda {

NRD_CUDA_TABLE(ElementKernels, element_kernels) = {
    .unary = NRD_CUDA_TARGET::unary_elements,
    .binary = NRD_CUDA_TARGET::binary_elements,
    .cast = NRD_CUDA_TARGET::cast_elements,
};

}  // namespace nrd::cuda
