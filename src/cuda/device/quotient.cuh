// SPDX-License-Identifier: MIT
// src/cuda/device/quotient.cuh: x / scale for 8-bit codes, at the price of two operations.
//
// The definition rounds twice: x / scale to f32, that to a code. The code depends on the first
// rounding where the quotient lies next to a tie between two codes, so x * (1 / scale) is not
// enough, and a division an element (some ten instructions and a branch) would be the bound of the
// kernel. Instead 1 / scale is kept as a sum: `reciprocal`, rounded towards zero, and `rest`, what
// that lacks. fma(x, reciprocal, x * rest) is the quotient with a relative error below 2^-46 before
// its only rounding to f32.
//
// Why every code is right: a code can differ only if a threshold (a tie between codes of up to four
// significant bits, plus or minus half a unit of f32) lies within that error of x / scale. With
// integers for the significands of x, scale and threshold that is |x 2^k - threshold scale| <=
// 2^-46 threshold scale, a condition on 2^23 scales and 32 thresholds that can be tried one by one:
// it leaves 48 scales, and for these all 2^23 values of x give the right code.
// tests/cuda/quotient_test.cpp does both. Signs of zeros survive, since `rest` has the sign of
// `reciprocal`, and so do Inf and NaN: `rest` is never zero.
#pragma once

#include "cuda/device/vector.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

struct Quotient {
  float reciprocal, rest;
  float lift;  // a power of two for x and scale that keeps all of this off the subnormals; often 1
};

// Any scale: zero, Inf and NaN give what dividing by them gives.
__device__ __forceinline__ Quotient quotient_by(float scale) {
  // Of quotients below 2^-18 only the sign matters: every code is zero.
  const float magnitude = fabsf(scale);
  Quotient d;
  d.lift = magnitude < 0x1p-80f ? 0x1p80f : (magnitude > 0x1p70f ? 0x1p-60f : 1.0f);
  const float lifted = magnitude * d.lift;
  float reciprocal = 1.0f / lifted;
  float missing = fmaf(-lifted, reciprocal, 1.0f);
  if (missing < 0.0f) {  // rounded up: one unit down
    reciprocal = float_of_bits(bits_of_float(reciprocal) - 1);
    missing = fmaf(-lifted, reciprocal, 1.0f);
  }
  float rest = missing / lifted;
  // Far below what the result could show; exact reciprocals have no rest of their own.
  if (rest < reciprocal * 0x1p-50f) rest = reciprocal * 0x1p-50f;
  if (lifted == 0.0f || lifted > kLargest<f32>) rest = reciprocal;
  d.reciprocal = copysignf(reciprocal, scale);
  d.rest = copysignf(rest, scale);
  return d;
}

__device__ __forceinline__ float divided(float x, const Quotient& d) {
  return fmaf(x, d.reciprocal, x * d.rest);
}

// Most scales need no lift: kernels that have time for nothing else ask once and leave it out.
template <int kCount, bool kLift = true>
__device__ __forceinline__ void divide(float* values, const Quotient& d) {
#pragma unroll
  for (int i = 0; i < kCount; i++) values[i] = divided(kLift ? values[i] * d.lift : values[i], d);
}

// The codes of a vector of X, stored side by side.
template <class Q, bool kLift, class X, int kCount>
__device__ __forceinline__ void store_codes(Q* q, const Packet<X, kCount>& packet,
                                            const Quotient& quotient) {
  float values[kCount];
  widen(packet, values);
  divide<kCount, kLift>(values, quotient);
  store<Touch::kOnce>(q, narrow<Q, kCount, true>(values));
}

// ---- scales, as src/ops/scalar/fp8.c has them ----

template <class Format>
__device__ __forceinline__ float own_scale(float top) {
  const float ratio = top / kLargest<Format>;
  return ratio > 0.0f ? ratio : 1.0f;
}

template <class Format>
__device__ __forceinline__ float adjusted_scale(float given, float top) {
  const float ratio = top / kLargest<Format>;
  return (given > ratio || given != given) ? given : ratio;
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
