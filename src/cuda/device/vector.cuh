// SPDX-License-Identifier: MIT
// src/cuda/device/vector.cuh: packets, a few neighbouring elements in registers as they lie in
// memory.
//
// Sixteen bytes are the widest access of a thread, and 32 neighbouring threads with sixteen each
// are the pattern that memory serves best. A packet stays narrow until it is used: half the
// registers of the same elements as f32. Where rows are misaligned or strided the same packet is
// gathered element by element, so that all that follows, and hence every bit, is the same.
#pragma once

#include "cuda/device/formats.cuh"
#include "cuda/ptx/memory.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kVectorBytes = 16;
// Elements of T that one access moves.
template <class T>
inline constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(T));

template <class T, int kCount>
struct Packet {
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(T));
  static constexpr int kWords = (kBytes + 3) / 4;
  uint32_t words[kWords];
};

// ---- between memory and registers ----

// The address is a multiple of the packet's bytes, or of sixteen where it has more.
template <Touch kTouch, class T, int kCount>
__device__ __forceinline__ void load(Packet<T, kCount>& packet, const T* address) {
  constexpr int kBytes = Packet<T, kCount>::kBytes;
  constexpr int kStep = kBytes < kVectorBytes ? kBytes : kVectorBytes;
  static_assert(kBytes % kStep == 0 && (kStep & (kStep - 1)) == 0);
#pragma unroll
  for (int at = 0; at < kBytes; at += kStep)
    load_words<kStep, kTouch>(reinterpret_cast<const char*>(address) + at, packet.words + at / 4);
}

template <Touch kTouch, class T, int kCount>
__device__ __forceinline__ void store(T* address, const Packet<T, kCount>& packet) {
  constexpr int kBytes = Packet<T, kCount>::kBytes;
  constexpr int kStep = kBytes < kVectorBytes ? kBytes : kVectorBytes;
  static_assert(kBytes % kStep == 0 && (kStep & (kStep - 1)) == 0);
#pragma unroll
  for (int at = 0; at < kBytes; at += kStep)
    store_words<kStep, kTouch>(reinterpret_cast<char*>(address) + at, packet.words + at / 4);
}

// The first `count` elements, `stride` elements apart; the others of a gathered packet are 0.
template <class T, int kCount>
__device__ __forceinline__ void gather(Packet<T, kCount>& packet, const T* address, int64_t stride,
                                       int count) {
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
#pragma unroll
  for (uint32_t& word : packet.words) word = 0;
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    if (i >= count) continue;
    uint32_t bits;
    load_words<sizeof(T), Touch::kOften>(address + i * stride, &bits);
    packet.words[i / kPerWord] |= bits << (i % kPerWord * 8 * static_cast<int>(sizeof(T)) % 32);
  }
}

template <class T, int kCount>
__device__ __forceinline__ void scatter(T* address, int64_t stride, int count,
                                        const Packet<T, kCount>& packet) {
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    if (i >= count) continue;
    const uint32_t bits =
        packet.words[i / kPerWord] >> (i % kPerWord * 8 * static_cast<int>(sizeof(T)) % 32);
    store_words<sizeof(T), Touch::kOften>(address + i * stride, &bits);
  }
}

// ---- to f32 and back ----

template <class T, int kCount>
__device__ __forceinline__ void widen(const Packet<T, kCount>& packet, float* values) {
  if constexpr (kCount == 1) {
    values[0] = widen_bits<T>(packet.words[0]);
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < kCount; i++) values[i] = float_of_bits(packet.words[i]);
  } else if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) widen_pair<T>(packet.words[i / 2], values + i);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      widen_codes<T>(packet.words[i / 4] >> (i % 4 * 8), values + i);
  }
}

template <class T, int kCount, bool kSaturate = false>
__device__ __forceinline__ Packet<T, kCount> narrow(const float* values) {
  Packet<T, kCount> packet;
  if constexpr (kCount == 1) {
    packet.words[0] = narrow_bits<T, kSaturate>(values[0]);
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < kCount; i++) packet.words[i] = bits_of_float(values[i]);
  } else if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      packet.words[i / 2] = narrow_pair<T, kSaturate>(values[i], values[i + 1]);
  } else {
#pragma unroll
    for (uint32_t& word : packet.words) word = 0;
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      packet.words[i / 4] |= narrow_codes<T, kSaturate>(values[i], values[i + 1]) << (i % 4 * 8);
  }
  return packet;
}

// Two neighbours of a packet, the first at an even index: a word of 16-bit elements. What goes
// through a row in these steps never has more of it in f32.
template <class T, int kCount>
__device__ __forceinline__ void widen_two(const Packet<T, kCount>& packet, int i, float* two) {
  if constexpr (sizeof(T) == 4) {
    two[0] = float_of_bits(packet.words[i]);
    two[1] = float_of_bits(packet.words[i + 1]);
  } else if constexpr (sizeof(T) == 2) {
    widen_pair<T>(packet.words[i / 2], two);
  } else {
    widen_codes<T>(packet.words[i / 4] >> (i % 4 * 8), two);
  }
}

// Of 8-bit elements the two at i % 4 == 0 come first.
template <bool kSaturate = false, class T, int kCount>
__device__ __forceinline__ void narrow_two(Packet<T, kCount>& packet, int i, const float* two) {
  if constexpr (sizeof(T) == 4) {
    packet.words[i] = bits_of_float(two[0]);
    packet.words[i + 1] = bits_of_float(two[1]);
  } else if constexpr (sizeof(T) == 2) {
    packet.words[i / 2] = narrow_pair<T, kSaturate>(two[0], two[1]);
  } else {
    const uint32_t codes = narrow_codes<T, kSaturate>(two[0], two[1]);
    packet.words[i / 4] = i % 4 == 0 ? codes : packet.words[i / 4] | codes << 16;
  }
}

// round_to of each value.
template <class T, int kCount>
__device__ __forceinline__ void round_all(float* values) {
  if constexpr (!kSame<T, f32>) widen(narrow<T, kCount, true>(values), values);
}

// ---- one element ----

template <class T>
__device__ __forceinline__ float load_one(const T* address) {
  uint32_t bits;
  load_words<sizeof(T), Touch::kOften>(address, &bits);
  return widen_bits<T>(bits);
}

template <bool kSaturate = false, class T>
__device__ __forceinline__ void store_one(T* address, float value) {
  const uint32_t bits = narrow_bits<T, kSaturate>(value);
  store_words<sizeof(T), Touch::kOften>(address, &bits);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
