// SPDX-License-Identifier: MIT
// src/cuda/ptx/mma_sync.cuh: d[16][8] += a[16][k] b[k][8] by one warp, accumulated in f32.
//
// With g = lane / 4 and t = lane % 4 a lane holds
//   d[0], d[1]: row g, columns 2t and 2t+1; d[2], d[3]: the same of row g + 8;
//   a[0]: row g, a[1]: row g + 8, each 32 bits of k from byte 4t on; a[2], a[3]: 16 bytes later;
//   b[0]: column g, 32 bits of k from byte 4t on; b[1]: 16 bytes later
// where a row of a and a column of b are 32 bytes: 16 values of f16 or 32 of e4m3.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/mma_sync.h"
#else
namespace nrd::cuda::NRD_CUDA_TARGET {

// Products are exact and summed in f32.
__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// sm_89 and later.
__device__ __forceinline__ void mma_m16n8k32_e4m3(float (&d)[4], const uint32_t (&a)[4],
                                                  const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
