// SPDX-License-Identifier: MIT
// src/cuda/ptx/cp_async.cuh: copies from device memory to shared memory that no thread waits for.
//
// Each thread counts its own groups. A thread sees its copies after cp_async_wait, the other
// threads of the block after the barrier that follows.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/cp_async.h"
#else
namespace nrd::cuda::NRD_CUDA_TARGET {

// 16 bytes to `shared`: the first `bytes` (0 to 16) come from `global`, the others are zero. Both
// addresses are multiples of 16. Through L2 only: what is read once need not pass through L1.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, int bytes) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
               "r"(bytes)
               : "memory");
}

// Closes the thread's group of copies; an empty one counts too.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until at most `kPending` of the thread's youngest groups are under way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
