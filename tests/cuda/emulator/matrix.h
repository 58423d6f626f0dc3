// SPDX-License-Identifier: MIT
// tests/cuda/emulator/matrix.h: the emulated twin of ptx/matrix.cuh.
#pragma once

#include <cstring>

#include "emulator/language.h"

namespace nrd::cuda::emulator {

// Each lane writes its own elements of the matrices to the addresses that the others brought.
template <int kCount, bool kTransposed>
void store_matrices(void* row, const uint32_t (&registers)[kCount]) {
  const int own = lane();
  uint64_t address = 0;
  if (own < 8 * kCount) {
    check_aligned(row, 16);
    address = reinterpret_cast<uint64_t>(shared_pointer(shared_address(row), 16));
  }
  const Words* rows = exchange(0xffffffff, kTransposed ? "stmatrix.trans" : "stmatrix", address);
  for (int i = 0; i < kCount; i++) {
    for (int half = 0; half < 2; half++) {
      const auto element = static_cast<uint16_t>(registers[i] >> 16 * half);
      const int r = own / 4, c = 2 * (own % 4) + half;
      auto* to = reinterpret_cast<char*>(rows[8 * i + (kTransposed ? c : r)].of[0]);
      std::memcpy(to + 2 * (kTransposed ? r : c), &element, 2);
    }
  }
}

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

inline void store_matrices(void* row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  emulator::store_matrices<4, false>(row, {r0, r1, r2, r3});
}
inline void store_matrices(void* row, uint32_t r0, uint32_t r1) {
  emulator::store_matrices<2, false>(row, {r0, r1});
}
inline void store_matrices_transposed(void* column, uint32_t r0, uint32_t r1, uint32_t r2,
                                      uint32_t r3) {
  emulator::store_matrices<4, true>(column, {r0, r1, r2, r3});
}
inline void store_matrices_transposed(void* column, uint32_t r0, uint32_t r1) {
  emulator::store_matrices<2, true>(column, {r0, r1});
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
