// SPDX-License-Identifier: MIT
// src/cuda/device/e4m3_fragments.cuh: a warp's operands of an e4m3 product d[16][8] += a[16][32]
// b[32][8], and the product itself, in two forms of the same interface:
//
//   E4m3Native   mma.sync on e4m3 (sm_89 and later). Its sums keep some 13 bits of mantissa, so
//                precise products promote them to f32.
//   E4m3AsHalf   what came before has neither the conversion nor the product: codes are widened to
//                f16 with integer operations and multiplied as f16, whose sums are those of f32.
//
// Lane 4g + t gives 32-bit words of four codes: of a {row g, row g + 8, row g, row g + 8} and of b
// {column g, column g}, the second half being 16 values further. Which word of k a lane takes is
// the caller's choice as long as it is the same for a and b: sums do not care for the order of k.
#pragma once

#include "cuda/ptx/mma_sync.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// f16 values of codes 0 and 2 and of codes 1 and 3, each times 2^-8: exact, subnormals included.
// The exponent's bias differs by 8 and the factor is left to the end of the sum (kProductScale).
// 0x7f and 0xff are NaN: adding one to the magnitude carries into the bit above, which becomes
// the top bit of the exponent of f16 and makes it all ones.
struct WideCodes {
  uint32_t even, odd;
};
__device__ __forceinline__ WideCodes widen_e4m3(uint32_t codes) {
  const uint32_t magnitude = codes & 0x7f7f7f7fu;
  const uint32_t marked = magnitude | ((magnitude + 0x01010101u) & 0x80808080u);
  return {((codes << 8) & 0x80008000u) | ((marked << 7) & 0x7f807f80u),
          (codes & 0x80008000u) | ((marked >> 1) & 0x7f807f80u)};
}

struct E4m3AsHalf {
  static constexpr float kProductScale = 65536;  // what a sum is multiplied with
  struct A {
    uint32_t part[2][4];
  };
  struct B {
    uint32_t part[2][2];
  };

  static __device__ __forceinline__ A make_a(const uint32_t (&words)[4]) {
    A a;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const WideCodes wide = widen_e4m3(words[i]);
      a.part[i / 2][i % 2] = wide.even;
      a.part[i / 2][i % 2 + 2] = wide.odd;
    }
    return a;
  }

  static __device__ __forceinline__ B make_b(uint32_t first, uint32_t second) {
    const WideCodes wide[2] = {widen_e4m3(first), widen_e4m3(second)};
    return {{{wide[0].even, wide[0].odd}, {wide[1].even, wide[1].odd}}};
  }

  static __device__ __forceinline__ void multiply(float (&d)[4], const A& a, const B& b) {
    mma_m16n8k16_f16(d, a.part[0], b.part[0]);
    mma_m16n8k16_f16(d, a.part[1], b.part[1]);
  }
};

struct E4m3Native {
  static constexpr float kProductScale = 1;
  struct A {
    uint32_t words[4];
  };
  struct B {
    uint32_t words[2];
  };

  static __device__ __forceinline__ A make_a(const uint32_t (&words)[4]) {
    return {{words[0], words[1], words[2], words[3]}};
  }
  static __device__ __forceinline__ B make_b(uint32_t first, uint32_t second) {
    return {{first, second}};
  }
  static __device__ __forceinline__ void multiply(float (&d)[4], const A& a, const B& b) {
    mma_m16n8k32_e4m3(d, a.words, b.words);
  }
};

// The form of this compilation. NRD_CUDA_NATIVE_E4M3 lets the emulated target have either.
#if defined(NRD_CUDA_NATIVE_E4M3) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890)
using E4m3Fragments = E4m3Native;
#else
using E4m3Fragments = E4m3AsHalf;
#endif

}  // namespace nrd::cuda::NRD_CUDA_TARGET
