// SPDX-License-Identifier: MIT
// tests/cuda/emulator/mma_sync.h: the emulated twin of ptx/mma_sync.cuh. Products are exact and
// summed in f32: what a device loses in its accumulator, only a device shows.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::emulator {

// The values of the 32 bytes of a row of a or of a column of b: 16 or 32 of them.
enum class MmaType { kF16, kBF16, kE4M3 };
void mma_m16n8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], MmaType type);

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::MmaType::kF16);
}
inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::MmaType::kBF16);
}
inline void mma_m16n8k32_e4m3(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::MmaType::kE4M3);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
