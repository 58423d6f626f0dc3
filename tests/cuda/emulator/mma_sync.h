// SPDX-License-Identifier: MIT
// tests/cuda/emulator/mma_sync.h: the emulated twin of ptx/mma_sync.cuh. Products are exact, and
// their sum is rounded once: what a device loses in its accumulator, only a device shows.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::emulator {

// Of the 32 bytes of a row of a and of a column of b.
using DotProduct = double (*)(const unsigned char* a, const unsigned char* b);
void mma_m16n8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], DotProduct dot);
double dot_f16(const unsigned char* a, const unsigned char* b);
double dot_bf16(const unsigned char* a, const unsigned char* b);
double dot_e4m3(const unsigned char* a, const unsigned char* b);
float e4m3_value(unsigned char code);

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::dot_f16);
}
inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::dot_bf16);
}
inline void mma_m16n8k32_e4m3(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulator::mma_m16n8(d, a, b, emulator::dot_e4m3);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
