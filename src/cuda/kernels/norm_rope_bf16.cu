// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_bf16.cu: the kernels of norm_rope.cuh for rows of bf16.
#include "cuda/kernels/norm_rope_choose.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t norm_rope_bf16(const NormRopeChoice& choice, const NormRopeParams& p, Stream stream) {
  return narrow_rows<bf16>(choice, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
