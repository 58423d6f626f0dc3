// SPDX-License-Identifier: MIT
// src/cuda/device/formats.cuh: the floating dtypes of the library and their way to f32 and back.
//
// Widening is exact. Narrowing rounds once, to nearest even, by one of the two rules of
// base/convert.h: IEEE (what stores of a definition's outputs do) or saturating (what round_to
// does).
#pragma once

#include <cstring>

#include "base/float_format.h"
#include "cuda/device/language.cuh"
#include "cuda/ptx/convert.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

using f32 = float;
using f16 = __half;
using bf16 = __nv_bfloat16;
using f8e4m3 = __nv_fp8_e4m3;
using f8e5m2 = __nv_fp8_e5m2;

template <class T, class U>
inline constexpr bool kSame = false;
template <class T>
inline constexpr bool kSame<T, T> = true;

template <class T>
inline constexpr bool kIsFp8 = kSame<T, f8e4m3> || kSame<T, f8e5m2>;
// The largest finite value.
template <class T>
inline constexpr float kLargest = 3.402823466e+38f;
template <>
inline constexpr float kLargest<f16> = 65504.0f;
template <>
inline constexpr float kLargest<bf16> = 3.38953138925153547590e+38f;
template <>
inline constexpr float kLargest<f8e4m3> = 448.0f;
template <>
inline constexpr float kLargest<f8e5m2> = 57344.0f;

__device__ __forceinline__ float float_of_bits(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

__device__ __forceinline__ uint32_t bits_of_float(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

// Two neighbours of a 16-bit type in one word, the first in the low half.
template <class T>
__device__ __forceinline__ void widen_pair(uint32_t word, float* out) {
  if constexpr (kSame<T, bf16>) {
    out[0] = float_of_bits(word << 16);
    out[1] = float_of_bits(word & 0xffff0000u);
  } else {
    widen_f16_pair(word, out);
  }
}

template <class T, bool kSaturate = false>
__device__ __forceinline__ uint32_t narrow_pair(float first, float second) {
  if constexpr (kSaturate) {
    return narrow_pair_saturating<kSame<T, bf16>>(first, second);
  } else if constexpr (kSame<T, bf16>) {
    const __nv_bfloat162_raw raw = __floats2bfloat162_rn(first, second);
    return raw.x | static_cast<uint32_t>(raw.y) << 16;
  } else {
    const __half2_raw raw = __floats2half2_rn(first, second);
    return raw.x | static_cast<uint32_t>(raw.y) << 16;
  }
}

// 8-bit codes are converted by the hardware from sm_89 on, elsewhere by the integer operations of
// base/float_format.h. The hardware's conversion saturates.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define NRD_CUDA_CONVERTS_FP8 1
#else
#define NRD_CUDA_CONVERTS_FP8 0
#endif

template <class T>
inline constexpr FloatFormat kFp8Format = kSame<T, f8e4m3> ? kFormatF8E4M3 : kFormatF8E5M2;
template <class T>
inline constexpr __nv_fp8_interpretation_t kFp8Kind = kSame<T, f8e4m3> ? __NV_E4M3 : __NV_E5M2;

// Two codes in the low 16 bits.
template <class T>
__device__ __forceinline__ void widen_codes(uint32_t codes, float* out) {
#if NRD_CUDA_CONVERTS_FP8
  const __half2_raw raw =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(codes), kFp8Kind<T>);
  const float2 wide = __half22float2(__half2(raw));
  out[0] = wide.x;
  out[1] = wide.y;
#else
  out[0] = float_of_bits(nrd::widen<kFp8Format<T>, SourceF32>(codes & 0xff));
  out[1] = float_of_bits(nrd::widen<kFp8Format<T>, SourceF32>(codes >> 8 & 0xff));
#endif
}

// What the largest code becomes where a value does not fit: e4m3 keeps up to half a step above it
// and has no Inf, e5m2 has one from half a step on.
template <class T>
__device__ __forceinline__ uint32_t overflowed(uint32_t code, float x) {
  const float magnitude = fabsf(x);
  const bool is_over = kSame<T, f8e4m3> ? magnitude > 464.0f : magnitude >= 61440.0f;
  return is_over ? (code & 0x80u) | kFp8Format<T>.overflow_code : code;
}

template <class T, bool kSaturate>
__device__ __forceinline__ uint32_t narrow_codes(float first, float second) {
#if NRD_CUDA_CONVERTS_FP8
  const uint32_t codes =
      __nv_cvt_float2_to_fp8x2(make_float2(first, second), __NV_SATFINITE, kFp8Kind<T>);
  if constexpr (kSaturate) return codes;
  return overflowed<T>(codes & 0xff, first) | overflowed<T>(codes >> 8, second) << 8;
#else
  constexpr Overflow kRule = kSaturate ? Overflow::kSaturate : Overflow::kIeee;
  return nrd::narrow<kFp8Format<T>, SourceF32, kRule>(bits_of_float(first)) |
         nrd::narrow<kFp8Format<T>, SourceF32, kRule>(bits_of_float(second)) << 8;
#endif
}

// One element, given and returned as the bits that lie in memory.
template <class T>
__device__ __forceinline__ float widen_bits(uint32_t bits) {
  if constexpr (kSame<T, f32>) return float_of_bits(bits);
  float pair[2];
  if constexpr (kIsFp8<T>) {
    widen_codes<T>(bits & 0xffu, pair);
  } else {
    widen_pair<T>(bits & 0xffffu, pair);
  }
  return pair[0];
}

template <class T, bool kSaturate = false>
__device__ __forceinline__ uint32_t narrow_bits(float x) {
  if constexpr (kSame<T, f32>) {
    return bits_of_float(x);
  } else if constexpr (kIsFp8<T>) {
    return narrow_codes<T, kSaturate>(x, 0.0f) & 0xffu;
  } else {
    return narrow_pair<T, kSaturate>(x, 0.0f) & 0xffffu;
  }
}

// What a definition's round_to(x, type) does.
template <class T>
__device__ __forceinline__ float round_to(float x) {
  if constexpr (kSame<T, f32>) return x;
  return widen_bits<T>(narrow_bits<T, true>(x));
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
