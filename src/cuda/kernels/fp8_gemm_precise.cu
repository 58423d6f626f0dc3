// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_precise.cu: sums promoted to f32 every 128 of k.
#include "cuda/kernels/fp8_gemm.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t start_fp8_precise(const Fp8GemmLaunch& call, Stream stream) {
  return start_one_of<Fp8Sums::kPrecise, false>(call, stream,
                                                std::make_integer_sequence<int, kFp8KernelCount>{});
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
