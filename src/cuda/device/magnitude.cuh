// SPDX-License-Identifier: MIT
// src/cuda/device/magnitude.cuh: the largest magnitudes of packets that stay as they lie.
//
// A maximum is exact in any order, so it needs no f32: two 16-bit magnitudes an instruction. NaN is
// passed over. An Inf is not, and shows in the result: whoever must ignore it looks again for the
// largest finite one (kFinite), which almost never happens.
#pragma once

#include "cuda/device/vector.cuh"
#include "cuda/ptx/magnitude.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) <= kLargest<f32>; }

// For combine_row and its like: of magnitudes, none of them NaN.
struct Larger {
  static constexpr float kIdentity = 0.0f;
  __device__ __forceinline__ static float combine(float a, float b) { return fmaxf(a, b); }
};

// The word with zeros for its Inf and NaN.
template <class T>
__device__ __forceinline__ uint32_t without_specials(uint32_t word) {
  constexpr uint32_t kInf = kSame<T, f32> ? 0x7f800000u : (kSame<T, bf16> ? 0x7f80u : 0x7c00u);
  if constexpr (sizeof(T) == 4) {
    return (word & kInf) == kInf ? 0 : word;
  } else {
    if ((word & kInf) == kInf) word &= 0xffff0000u;
    return (word >> 16 & kInf) == kInf ? word & 0xffffu : word;
  }
}

// One top for each place in a packet's words.
template <class T, int kCount, bool kFinite = false>
__device__ __forceinline__ void raise_tops(Packet<T, kCount>& tops,
                                           const Packet<T, kCount>& packet) {
#pragma unroll
  for (int i = 0; i < Packet<T, kCount>::kWords; i++) {
    const uint32_t word = kFinite ? without_specials<T>(packet.words[i]) : packet.words[i];
    tops.words[i] = larger_magnitudes<T>(tops.words[i], word);
  }
}

// One top for all.
template <class T>
struct Top {
  uint32_t word = 0;  // one f32, or two 16-bit magnitudes that have not met yet

  template <bool kFinite = false, int kCount>
  __device__ __forceinline__ void add(const Packet<T, kCount>& packet) {
#pragma unroll
    for (uint32_t w : packet.words)
      word = larger_magnitudes<T>(word, kFinite ? without_specials<T>(w) : w);
  }

  __device__ __forceinline__ float value() const {
    if constexpr (sizeof(T) == 4) return float_of_bits(word);
    float pair[2];
    widen_pair<T>(word, pair);
    return fmaxf(pair[0], pair[1]);
  }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
