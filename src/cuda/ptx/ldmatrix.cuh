// SPDX-License-Identifier: MIT
// src/cuda/ptx/ldmatrix.cuh: 8x8 matrices of 16-bit words (8 rows of 16 bytes) from shared memory
// into the registers of a warp.
//
// Lane 8*i + r names row r of matrix i (16-byte aligned); lane l receives in registers[i] bytes
// 4*(l%4) to 4*(l%4) + 3 of row l/4. All 32 lanes call it together.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/ldmatrix.h"
#else
namespace nrd::cuda::NRD_CUDA_TARGET {

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&registers)[4], const void* row) {
  const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(from)
               : "memory");
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
