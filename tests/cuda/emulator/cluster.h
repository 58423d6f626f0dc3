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
inline void cluster_sync(const emulator::Place& place = emulator::Place::current()) {
  if (emulator::is_dropped("cluster_sync", place)) return;
  emulator::cluster_arrive();
  emulator::cluster_wait();
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
