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
inline void grid_barrier() { emulator::grid_barrier(); }
#else
__device__ __forceinline__ void grid_barrier() { cooperative_groups::this_grid().sync(); }
#endif

}  // namespace nrd::cuda::NRD_CUDA_TARGET
