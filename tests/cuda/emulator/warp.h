// SPDX-License-Identifier: MIT
// tests/cuda/emulator/warp.h: the emulated twin of ptx/warp.cuh.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline bool elect_one() {
  emulator::exchange(0xffffffff, "elect", uint64_t{0});
  return emulator::lane() == 0;
}

inline int kept_here(int value) { return value; }
template <int kCount>
void keep_here(float (&)[kCount]) {}

inline void named_barrier_sync(int id, int threads,
                               const emulator::Place& place = emulator::Place::current()) {
  emulator::block_barrier(id, threads, false, "named_barrier_sync", place);
}

// Registers are not counted.
template <int kCount>
inline void registers_release() {
  static_assert(kCount >= 24 && kCount <= 256 && kCount % 8 == 0);
}
template <int kCount>
inline void registers_request() {
  static_assert(kCount >= 24 && kCount <= 256 && kCount % 8 == 0);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
