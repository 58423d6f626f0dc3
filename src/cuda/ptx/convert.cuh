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

// Two f16 to f32, exactly. In words of C++ the halves of the word would first be shifted out of it,
// which is as much work again.
__device__ __forceinline__ void widen_f16_pair(uint32_t word, float* out) {
#ifdef NRD_CUDA_EMULATED
  __half_raw low, high;
  low.x = static_cast<unsigned short>(word);
  high.x = static_cast<unsigned short>(word >> 16);
  out[0] = __half2float(__half(low));
  out[1] = __half2float(__half(high));
#else
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\n"
      "cvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
      : "=f"(out[0]), "=f"(out[1])
      : "r"(word));
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
