// SPDX-License-Identifier: MIT
// src/cuda/ptx/matrix.cuh: fragments of a warp to shared memory, as rows.
#pragma once

#include "cuda/ptx/mbarrier.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/matrix.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// Four 8x8 matrices of 16-bit elements. Lane l holds elements (l/4, 2*(l%4)) and the next one of
// matrix i in r<i>, the first in the low half; lanes 8i..8i+7 give the addresses of the eight
// 16-byte rows of matrix i.
__device__ __forceinline__ void store_matrices(void* row, uint32_t r0, uint32_t r1, uint32_t r2,
                                               uint32_t r3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3)
      : "memory");
}

// The same for two matrices; lanes 0..15 give addresses.
__device__ __forceinline__ void store_matrices(void* row, uint32_t r0, uint32_t r1) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)),
      "r"(r0), "r"(r1)
      : "memory");
}

// Each matrix is stored transposed: the address of lane 8i+j is that of column j of matrix i.
__device__ __forceinline__ void store_matrices_transposed(void* column, uint32_t r0, uint32_t r1,
                                                          uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(column)),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
__device__ __forceinline__ void store_matrices_transposed(void* column, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(
                   shared_address(column)),
               "r"(r0), "r"(r1)
               : "memory");
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
