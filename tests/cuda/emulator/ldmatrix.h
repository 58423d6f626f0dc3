// SPDX-License-Identifier: MIT
// tests/cuda/emulator/ldmatrix.h: the emulated twin of ptx/ldmatrix.cuh.
#pragma once

#include <cstring>

#include "emulator/language.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline void ldmatrix_x4(uint32_t (&registers)[4], const void* row) {
  emulator::check_aligned(row, 16);
  const uint64_t own =
      reinterpret_cast<uint64_t>(emulator::shared_pointer(emulator::shared_address(row), 16));
  const emulator::Words* rows = emulator::exchange(0xffffffff, "ldmatrix", own);
  const int lane = emulator::lane();
  for (int i = 0; i < 4; i++) {
    const auto* from = reinterpret_cast<const char*>(rows[8 * i + lane / 4].of[0]);
    std::memcpy(&registers[i], from + 4 * (lane % 4), 4);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
