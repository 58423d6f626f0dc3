// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_fast.cu: sums that stay in the tensor cores.
#include "cuda/kernels/fp8_gemm.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t start_fp8_fast(const Fp8GemmLaunch& call, Stream stream) {
  return start_one_of<Fp8Sums::kFast, false>(call, stream,
                                             std::make_integer_sequence<int, kFp8KernelCount>{});
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
