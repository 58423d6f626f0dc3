// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_f16.cu: the kernels of norm_rope.cuh for rows of f16.
#include "cuda/kernels/norm_rope_choose.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t norm_rope_f16(const NormRopeChoice& choice, const NormRopeParams& p, Stream stream) {
  return narrow_rows<f16>(choice, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
