// SPDX-License-Identifier: MIT
// src/cuda/ptx/grid.cuh: a barrier over all blocks of a cooperative launch.
#pragma once

#include "cuda/device/language.cuh"

#ifndef NRD_CUDA_EMULATED
#include <cooperative_groups.h>
#endif

namespace nrd::cuda::NRD_CUDA_TARGET {

// All threads of the grid call it; what they wrote before is seen by all afterwards.
#ifdef NRD_CUDA_EMULATED
inline unsigned grid_blocks_arrived = 0;
inline uint64_t grid_rounds = 0;

inline void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const uint64_t round = grid_rounds;
    if (++grid_blocks_arrived == gridDim.x) {
      grid_blocks_arrived = 0;
      grid_rounds++;
    }
    emulator::wait_until([&] { return grid_rounds != round; },
                         [] { return std::string("the barrier of the grid"); });
  }
  __syncthreads();
}
#else
__device__ __forceinline__ void grid_barrier() { cooperative_groups::this_grid().sync(); }
#endif

}  // namespace nrd::cuda::NRD_CUDA_TARGET
