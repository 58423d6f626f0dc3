// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm.cu: the table of fp8_gemm's kernels.
#include "cuda/config/fp8_gemm_kernels.h"
#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/fp8_gemm_params.h"
#include "cuda/launch/memory.h"
#include "cuda/launch/tables.h"
#include "cuda/ptx/tma.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t start_fp8_fast(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_precise(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_block(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_swapped(const Fp8GemmLaunch& call, Stream stream);

namespace {

cudaError_t start(const Fp8GemmLaunch& call, Stream stream) {
  if (call.kernel < 0 || call.kernel >= kFp8KernelCount) return cudaErrorInvalidValue;
  const Fp8Kernel& kernel = kFp8Kernels[call.kernel];
  if (kernel.swapped) return start_fp8_swapped(call, stream);
  switch (kernel.sums) {
    case Fp8Sums::kFast: return start_fp8_fast(call, stream);
    case Fp8Sums::kPrecise: return start_fp8_precise(call, stream);
    case Fp8Sums::kBlock: break;
  }
  return start_fp8_block(call, stream);
}

}  // namespace
}  // namespace nrd::cuda::NRD_CUDA_TARGET

namespace nrd::cuda {

#ifdef NRD_CUDA_EMULATED
NRD_CUDA_TABLE(Fp8GemmKernels, fp8_gemm_kernels) = {
    .encode = emulator::encode_matrix_map,
    .launch = emulated::start,
    .allocate = emulator::allocate_in_stream,
    .release = emulator::release_in_stream,
};
#else
NRD_CUDA_TABLE(Fp8GemmKernels, fp8_gemm_kernels) = {
    .encode = encode_matrix_map,
    .launch = NRD_CUDA_TARGET::start,
    .allocate = allocate_in_stream,
    .release = release_in_stream,
};
#endif

}  // namespace nrd::cuda
