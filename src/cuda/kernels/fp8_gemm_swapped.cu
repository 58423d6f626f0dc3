// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_swapped.cu: few tokens: the weights are the side of 64 rows.
#include "cuda/kernels/fp8_gemm.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t start_fp8_swapped(const Fp8GemmLaunch& call, Stream stream) {
  const auto all = std::make_integer_sequence<int, kFp8KernelCount>{};
  if (kFp8Kernels[call.kernel].sums == Fp8Sums::kBlock)
    return start_one_of<Fp8Sums::kBlock, true>(call, stream, all);
  return start_one_of<Fp8Sums::kPrecise, true>(call, stream, all);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
