// SPDX-License-Identifier: MIT
// src/cuda/ptx/global.cuh: words in global memory through which blocks speak to each other.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/global.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// Reads a word; what was released before it was written is seen afterwards.
__device__ __forceinline__ uint64_t load_acquire(const uint64_t* word) {
  uint64_t value;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

// Writes `desired` where the word is `expected`, and returns what was there. Acquires and releases.
__device__ __forceinline__ uint64_t compare_and_swap(uint64_t* word, uint64_t expected,
                                                     uint64_t desired) {
  uint64_t before;
  asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "l"(word), "l"(expected), "l"(desired)
               : "memory");
  return before;
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
