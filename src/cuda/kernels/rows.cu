// SPDX-License-Identifier: MIT
// src/cuda/kernels/rows.cu: the table of the kernels of rows.
#include "cuda/kernels/norm_rope_choose.cuh"
#include "cuda/kernels/rows.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t norm_rope(const NormRopeArgs& args, const RowConfig& config, Stream stream) {
  const NormRopeAnyParams any = make_any_params(args);
  if (any.rows == 0 || (any.cols == 0 && !args.scale.present)) return cudaSuccess;
  NormRopeParams p;
  NormRopeChoice choice;
  if (!make_params(args, config, p, choice)) return norm_rope_any(any, stream);
  if (choice.x == DType::kBF16) return norm_rope_bf16(choice, p, stream);
  if (choice.x == DType::kF16) return norm_rope_f16(choice, p, stream);
  return norm_rope_f32(choice, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET

namespace nrd::cuda {

NRD_CUDA_TABLE(RowKernels, row_kernels) = {
    .norm_rope = NRD_CUDA_TARGET::norm_rope,
    .statistics = NRD_CUDA_TARGET::row_statistics,
    .norm_rope_backward = NRD_CUDA_TARGET::norm_rope_backward,
};

}  // namespace nrd::cuda
