// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_block.cu: a scale for every 128 of k.
#include "cuda/kernels/fp8_gemm.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t start_fp8_block(const Fp8GemmLaunch& call, Stream stream) {
  return start_one_of<Fp8Sums::kBlock, false>(call, stream,
                                              std::make_integer_sequence<int, kFp8KernelCount>{});
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
