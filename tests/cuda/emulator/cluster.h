// SPDX-License-Identifier: MIT
// tests/cuda/emulator/cluster.h: the emulated twin of ptx/cluster.cuh.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::emulator {

// Threads that have returned do not count, as on a device.
void cluster_arrive();
void cluster_wait();

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

inline uint32_t cluster_rank() { return static_cast<uint32_t>(emulator::self().block->rank); }
inline void cluster_arrive() { emulator::cluster_arrive(); }
inline void cluster_wait() { emulator::cluster_wait(); }
inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
