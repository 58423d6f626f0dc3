// SPDX-License-Identifier: MIT
// src/cuda/device/numbers.cuh: groups of eight neighbours of a dtype that is known at run time.
//
// One kernel serves every combination of dtypes: a group is loaded behind a branch that all threads
// take alike, and is f32 from there on. Integers round to nearest even and clamp; NaN becomes 0.
#pragma once

#include "base/dtype.h"
#include "cuda/device/vector.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kGroup = 8;

// Where a group lies: `count` elements `step` apart; `vector`: eight of them side by side, aligned.
struct GroupPlace {
  int64_t offset, step;
  int count;
  bool vector;
};

namespace detail {

template <class T>
inline constexpr bool kIsInteger = kSame<T, int8_t> || kSame<T, uint8_t> || kSame<T, int32_t>;

template <class T>
__device__ __forceinline__ void widen_group(const Packet<T, kGroup>& packet, float* values) {
  if constexpr (!kIsInteger<T>) {
    widen(packet, values);
  } else {
#pragma unroll
    for (int i = 0; i < kGroup; i++) {
      if constexpr (sizeof(T) == 4) {
        values[i] = static_cast<float>(static_cast<int32_t>(packet.words[i]));
      } else {
        values[i] = static_cast<float>(static_cast<T>(packet.words[i / 4] >> i % 4 * 8));
      }
    }
  }
}

template <class T>
__device__ __forceinline__ uint32_t rounded(float x) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<uint32_t>(__float2int_rn(x));  // clamps, and NaN is 0
  } else {
    constexpr float kLow = kSame<T, int8_t> ? -128.0f : 0.0f;
    constexpr float kHigh = kSame<T, int8_t> ? 127.0f : 255.0f;
    return static_cast<uint32_t>(__float2int_rn(fminf(fmaxf(x != x ? 0.0f : x, kLow), kHigh))) &
           0xffu;
  }
}

template <class T, bool kSaturate>
__device__ __forceinline__ Packet<T, kGroup> narrow_group(const float* values) {
  if constexpr (!kIsInteger<T>) {
    return narrow<T, kGroup, kSaturate>(values);
  } else {
    Packet<T, kGroup> packet{};
#pragma unroll
    for (int i = 0; i < kGroup; i++) {
      if constexpr (sizeof(T) == 4) {
        packet.words[i] = rounded<T>(values[i]);
      } else {
        packet.words[i / 4] |= rounded<T>(values[i]) << i % 4 * 8;
      }
    }
    return packet;
  }
}

template <class T>
__device__ __forceinline__ void load_group_of(float* values, const void* data,
                                              const GroupPlace& at) {
  Packet<T, kGroup> packet;
  const T* first = static_cast<const T*>(data) + at.offset;
  if (at.vector) {
    load<Touch::kOften>(packet, first);
  } else {
    gather(packet, first, at.step, at.count);
  }
  widen_group<T>(packet, values);
}

template <class T, bool kSaturate>
__device__ __forceinline__ void store_group_of(void* data, const GroupPlace& at,
                                               const float* values) {
  const Packet<T, kGroup> packet = narrow_group<T, kSaturate>(values);
  T* first = static_cast<T*>(data) + at.offset;
  if (at.vector) {
    store<Touch::kOnce>(first, packet);
  } else {
    scatter(first, at.step, at.count, packet);
  }
}

}  // namespace detail

// kNumbers: every dtype that a cast takes; otherwise f32, f16 and bf16.
template <bool kNumbers>
__device__ __forceinline__ void load_group(float* values, const void* data, DType dtype,
                                           const GroupPlace& at) {
  if (dtype == DType::kBF16) return detail::load_group_of<bf16>(values, data, at);
  if (dtype == DType::kF16) return detail::load_group_of<f16>(values, data, at);
  if (!kNumbers || dtype == DType::kF32) return detail::load_group_of<f32>(values, data, at);
  if constexpr (kNumbers) {
    if (dtype == DType::kF8E4M3) return detail::load_group_of<f8e4m3>(values, data, at);
    if (dtype == DType::kF8E5M2) return detail::load_group_of<f8e5m2>(values, data, at);
    if (dtype == DType::kI8) return detail::load_group_of<int8_t>(values, data, at);
    if (dtype == DType::kU8) return detail::load_group_of<uint8_t>(values, data, at);
    detail::load_group_of<int32_t>(values, data, at);
  }
}

template <bool kNumbers, bool kSaturate>
__device__ __forceinline__ void store_group(void* data, DType dtype, const GroupPlace& at,
                                            const float* values) {
  using namespace detail;
  if (dtype == DType::kBF16) return store_group_of<bf16, kSaturate>(data, at, values);
  if (dtype == DType::kF16) return store_group_of<f16, kSaturate>(data, at, values);
  if (!kNumbers || dtype == DType::kF32) return store_group_of<f32, kSaturate>(data, at, values);
  if constexpr (kNumbers) {
    if (dtype == DType::kF8E4M3) return store_group_of<f8e4m3, kSaturate>(data, at, values);
    if (dtype == DType::kF8E5M2) return store_group_of<f8e5m2, kSaturate>(data, at, values);
    if (dtype == DType::kI8) return store_group_of<int8_t, kSaturate>(data, at, values);
    if (dtype == DType::kU8) return store_group_of<uint8_t, kSaturate>(data, at, values);
    store_group_of<int32_t, kSaturate>(data, at, values);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
