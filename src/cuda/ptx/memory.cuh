// SPDX-License-Identifier: MIT
// src/cuda/ptx/memory.cuh: loads and stores of global memory that say how often data is touched.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include <cstring>
#endif

namespace nrd::cuda::NRD_CUDA_TARGET {

// kOften: kept in L1 and L2 (weights, tables). kOnce: passes L1 by, and leaves L2 early when it is
// stored. kFirstOut: leaves both caches first.
enum class Touch { kOften, kOnce, kFirstOut };

// For what a kernel reads once and writes once in one go. kOnce says just that, but an H200 is
// faster where nothing is said: rows take 2 to 4 % less time, rows that become 8-bit codes 5 to 8,
// and no call falls behind the others (docs/performance-gpu.md). Loads count more than stores.
inline constexpr Touch kStreamed = Touch::kOften;

// kBytes (1, 2, 4, 8 or 16) as 32-bit words; the address is a multiple of kBytes. Volatile, so that
// loads are issued in the order in which they are written down.
template <int kBytes, Touch kTouch>
__device__ __forceinline__ void load_words(const void* address, uint32_t* words) {
#ifdef NRD_CUDA_EMULATED
  emulator::check_aligned(address, kBytes);
  if (kBytes < 4) words[0] = 0;
  std::memcpy(words, address, kBytes);
#else
  if constexpr (kBytes == 16 && kTouch == Touch::kOnce) {
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address));
  } else if constexpr (kBytes == 16 && kTouch == Touch::kFirstOut) {
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address));
  } else if constexpr (kBytes == 16) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address));
  } else if constexpr (kBytes == 8) {
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "l"(address));
  } else if constexpr (kBytes == 4) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(words[0]) : "l"(address));
  } else if constexpr (kBytes == 2) {
    uint16_t half;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(half) : "l"(address));
    words[0] = half;
  } else {
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(words[0]) : "l"(address));
  }
#endif
}

template <int kBytes, Touch kTouch>
__device__ __forceinline__ void store_words(void* address, const uint32_t* words) {
#ifdef NRD_CUDA_EMULATED
  emulator::check_aligned(address, kBytes);
  std::memcpy(address, words, kBytes);
#else
  if constexpr (kBytes == 16 && kTouch == Touch::kOften) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  } else if constexpr (kBytes == 16) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  } else if constexpr (kBytes == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(words[0]), "r"(words[1])
                 : "memory");
  } else if constexpr (kBytes == 4) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(words[0]) : "memory");
  } else if constexpr (kBytes == 2) {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "h"(static_cast<uint16_t>(words[0]))
                 : "memory");
  } else {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(words[0]) : "memory");
  }
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
