// SPDX-License-Identifier: MIT
// src/cuda/ptx/grid.cuh: all blocks of a launch, and the launches in front of it and behind it.
#pragma once

#include "cuda/device/language.cuh"

#ifndef NRD_CUDA_EMULATED
#include <cooperative_groups.h>
#endif

namespace nrd::cuda::NRD_CUDA_TARGET {

#ifdef NRD_CUDA_EMULATED
// Launches run one after the other; whoever touches global memory too early is found all the same.
inline constexpr bool kCanOverlap = true;
inline void grid_barrier(const emulator::Place& place = emulator::Place::current()) {
  emulator::grid_barrier(place);
}
inline void wait_for_previous_kernel(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("wait_for_previous_kernel", place))
    emulator::wait_for_previous_kernel();
}
inline void allow_next_kernel() {}
#else
inline constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};  // of this build, ascending
// Whether kernels of this build can start before the one in front ends (LaunchShape::overlaps).
inline constexpr bool kCanOverlap = kArchitectures[0] >= 900;

// All threads of the grid call it; what they wrote before is seen by all afterwards.
__device__ __forceinline__ void grid_barrier() { cooperative_groups::this_grid().sync(); }

// With LaunchShape::overlaps: waits until the kernels in front have ended and their writes are
// seen. Nothing that they wrote may be read before, nothing that they read may be written.
__device__ __forceinline__ void wait_for_previous_kernel() {
  if constexpr (kCanOverlap) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// The kernel behind may start as soon as every block has called this or ended.
__device__ __forceinline__ void allow_next_kernel() {
  if constexpr (kCanOverlap) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif

}  // namespace nrd::cuda::NRD_CUDA_TARGET
