// SPDX-License-Identifier: MIT
// src/cuda/ptx/convert.cuh: conversions that C++ has no words for.
#pragma once

#include "cuda/device/language.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Two f32 to bf16 or f16, the first into the low half, to nearest even. What is too large, Inf
// included, becomes the largest finite value of its sign; NaN stays NaN.
template <bool kBf16>
__device__ __forceinline__ uint32_t narrow_pair_saturating(float first, float second) {
#ifdef NRD_CUDA_EMULATED
  const float top = kBf16 ? 0x1.fep127f : 65504.0f;
  auto bits = [&](float x) -> uint32_t {
    const float clamped = x > top ? top : (x < -top ? -top : x);
    if (kBf16) return __nv_bfloat16_raw(__float2bfloat16_rn(clamped)).x;
    return __half_raw(__float2half_rn(clamped)).x;
  };
  return bits(first) | bits(second) << 16;
#else
  uint32_t pair;
  if constexpr (kBf16) {
    asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
