// SPDX-License-Identifier: MIT
// tests/cuda/emulator/global.h: the emulated twin of ptx/global.cuh.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline uint64_t load_acquire(const uint64_t* word) {
  emulator::check_aligned(word, sizeof *word);
  emulator::atomic_point(word);
  return *static_cast<const volatile uint64_t*>(word);
}

inline uint64_t compare_and_swap(uint64_t* word, uint64_t expected, uint64_t desired) {
  return atomicCAS(word, expected, desired);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
