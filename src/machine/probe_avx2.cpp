// SPDX-License-Identifier: MIT
// src/machine/probe_avx2.cpp: probes of 256-bit vectors. Built with the flags of avx2.
//
// f32: ymm0-13 are accumulators, x = x * ymm14 + ymm15, which converges to 1000 and keeps the
// multipliers busy with full mantissas. 14 of them cover 2 units x latency 5 (Haswell); 16
// registers have no room for more. int8: ymm0-13 += ymm14 (u8) . ymm15 (s8), four products a lane.
// Streams: 16 registers of 32 bytes, twice over, make the 1024 bytes of a block.
#include "machine/probes.h"

namespace {

constexpr float kFactor = 0.9999f, kAddend = 0.1f;
constexpr int32_t kBytes = 0x01020304;
constexpr int64_t kF32Operations = 14 * 8 * 2;    // accumulators x lanes x (multiply, add)
constexpr int64_t kInt8Operations = 14 * 32 * 2;  // accumulators x bytes x (multiply, add)

#define YMM_ALL                                                                            \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// The body once for each register number \\i.
#define EACH_14(body) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t" body "\n\t.endr\n\t"
#define EACH_16(body) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t" body "\n\t.endr\n\t"

// One block: for each half, 16 loads, then 16 stores by `store`.
// clang-format off
#define COPY_LOOP(store)                                     \
  "1:\n\t"                                                   \
  ".irp h,0,1\n\t"                                           \
  EACH_16("vmovaps \\h*512+\\i*32(%[from],%[at]), %%ymm\\i") \
  EACH_16(store " %%ymm\\i, \\h*512+\\i*32(%[to],%[at])")    \
  ".endr\n\t"                                                \
  "add $1024, %[at]\n\t"                                     \
  "cmp %[bytes], %[at]\n\t"                                  \
  "jb 1b\n\t"                                                \
  "vzeroupper\n\t"
// clang-format on

}  // namespace

extern "C" int64_t nrd_probe_avx2_f32(int64_t rounds) {
  const int64_t work = rounds * kF32Operations;
  asm volatile(
      "vbroadcastss %[factor], %%ymm14\n\t"
      "vbroadcastss %[addend], %%ymm15\n\t"
      EACH_14("vmovaps %%ymm15, %%ymm\\i")
      ".p2align 6\n"
      "1:\n\t"
      EACH_14("vfmadd213ps %%ymm15, %%ymm14, %%ymm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(rounds)
      : [factor] "m"(kFactor), [addend] "m"(kAddend)
      : "cc", YMM_ALL);
  return work;
}

extern "C" int64_t nrd_probe_avx2_int8(int64_t rounds) {
  const int64_t work = rounds * kInt8Operations;
  asm volatile(
      "vpbroadcastd %[bytes], %%ymm14\n\t"
      "vmovdqa %%ymm14, %%ymm15\n\t"
      EACH_14("vpxor %%ymm\\i, %%ymm\\i, %%ymm\\i")
      ".p2align 6\n"
      "1:\n\t"
      EACH_14("%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(rounds)
      : [bytes] "m"(kBytes)
      : "cc", YMM_ALL);
  return work;
}

extern "C" void nrd_probe_avx2_read(const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(
        "1:\n\t"
        ".irp h,0,1\n\t"
        EACH_16("vmovaps \\h*512+\\i*32(%[from],%[at]), %%ymm\\i")
        ".endr\n\t"
        "add $1024, %[at]\n\t"
        "cmp %[bytes], %[at]\n\t"
        "jb 1b\n\t"
        "vzeroupper\n\t"
        : [at] "+r"(at)
        : [from] "r"(from), [bytes] "r"(bytes)
        : "cc", "memory", YMM_ALL);
  }
}

extern "C" void nrd_probe_avx2_copy(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("vmovaps")
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", YMM_ALL);
  }
}

extern "C" void nrd_probe_avx2_copy_nt(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("vmovntps") "sfence\n\t"
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", YMM_ALL);
  }
}
