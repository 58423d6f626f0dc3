// SPDX-License-Identifier: MIT
// src/cuda/ptx/magnitude.cuh: the larger of magnitudes, two 16-bit floats a word or one f32.
#pragma once

#include "cuda/device/formats.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// `top` holds magnitudes already; those of `word` may be negative. A NaN in `word` is passed over.
template <class T>
__device__ __forceinline__ uint32_t larger_magnitudes(uint32_t top, uint32_t word) {
#ifdef NRD_CUDA_EMULATED
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  constexpr uint32_t kMagnitude = (1u << (kBits - 1)) - 1;
  constexpr uint32_t kInf = kSame<T, f32> ? 0x7f800000u : (kSame<T, bf16> ? 0x7f80u : 0x7c00u);
  uint32_t result = 0;
  for (int at = 0; at < 32; at += kBits) {
    const uint32_t before = top >> at & kMagnitude;
    const uint32_t now = word >> at & kMagnitude;
    result |= (now > before && now <= kInf ? now : before) << at;
  }
  return result;
#else
  if constexpr (kSame<T, f32>) {
    return bits_of_float(fmaxf(float_of_bits(top), fabsf(float_of_bits(word))));
  } else if constexpr (kSame<T, bf16>) {
    uint32_t magnitudes, result;
    asm("abs.bf16x2 %0, %1;" : "=r"(magnitudes) : "r"(word));
    asm("max.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(top), "r"(magnitudes));
    return result;
  } else {
    uint32_t magnitudes, result;
    asm("abs.f16x2 %0, %1;" : "=r"(magnitudes) : "r"(word));
    asm("max.f16x2 %0, %1, %2;" : "=r"(result) : "r"(top), "r"(magnitudes));
    return result;
  }
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
