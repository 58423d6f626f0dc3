// SPDX-License-Identifier: MIT
// src/cuda/ptx/warp.cuh: one lane of a warp, barriers of some warps, registers that change hands.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/warp.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// True in one lane of a converged warp, and always in the same one: the thread that issues TMA
// copies and waits for its own.
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

// The same value, worked out here: it is not moved in front of a loop, where it would hold a
// register all along.
__device__ __forceinline__ int kept_here(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// The same for values that products of tensor cores go to: what reads them stays where it is
// written, behind the wait for these products and in front of the next ones.
template <int kCount>
__device__ __forceinline__ void keep_here(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i++) asm volatile("" : "+f"(values[i])::"memory");
}

// Waits until `threads` threads (a multiple of 32) of the block have come to barrier `id` (1..15;
// 0 is __syncthreads). Orders their accesses to memory.
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// All warps of a warpgroup go down to kCount registers a thread; the rest can be taken by others.
template <int kCount>
__device__ __forceinline__ void registers_release() {
  static_assert(kCount >= 24 && kCount <= 256 && kCount % 8 == 0);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

// All warps of a warpgroup wait until they have kCount registers a thread.
template <int kCount>
__device__ __forceinline__ void registers_request() {
  static_assert(kCount >= 24 && kCount <= 256 && kCount % 8 == 0);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
