// SPDX-License-Identifier: MIT
// src/cuda/ptx/approximate.cuh: what the special function unit computes in one instruction.
#pragma once

#include "cuda/device/language.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// 1 / x within one unit; 0 where the result would be subnormal.
__device__ __forceinline__ float approximate_reciprocal(float x) {
#ifdef NRD_CUDA_EMULATED
  return 1.0f / x;
#else
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
