// SPDX-License-Identifier: MIT
// src/cuda/ptx/cluster.cuh: where a block stands in its cluster, and the cluster's own barrier.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/cluster.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// 0 in a launch without clusters.
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of all blocks of the cluster arrive; arrivals release and the wait acquires.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
