// SPDX-License-Identifier: MIT
// src/machine/probe_avx512.cpp: probes of 512-bit vectors. Built with the flags of avx512.
//
// f32: zmm0-23 are accumulators, x = x * zmm30 + zmm31, which converges to 1000 and keeps the
// multipliers busy with full mantissas. 24 are three times what 2 units x latency 4 ask for.
// bf16: zmm0-23 += zmm30 . zmm31, two products a lane; zeros, whose rate is that of all numbers.
// int8: zmm0-23 += zmm30 (u8) . zmm31 (s8), four products a lane.
// Streams: 16 registers of 64 bytes, a cache line each, make the 1024 bytes of a block.
#include "machine/probes.h"

namespace {

constexpr float kFactor = 0.9999f, kAddend = 0.1f;
constexpr int32_t kBytes = 0x01020304;
constexpr int64_t kF32Operations = 24 * 16 * 2;   // accumulators x lanes x (multiply, add)
constexpr int64_t kBf16Operations = 24 * 32 * 2;  // accumulators x elements x (multiply, add)
constexpr int64_t kInt8Operations = 24 * 64 * 2;  // accumulators x bytes x (multiply, add)

#define ZMM_ALL                                                                                 \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",      \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", \
      "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", \
      "xmm31"

// The body once for each register number \\i.
#define EACH_16(body) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t" body "\n\t.endr\n\t"
#define EACH_24(body) \
  ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t" body "\n\t.endr\n\t"

// One block: 16 loads, then 16 stores by `store`.
// clang-format off
#define COPY_LOOP(store)                             \
  "1:\n\t"                                           \
  EACH_16("vmovaps \\i*64(%[from],%[at]), %%zmm\\i") \
  EACH_16(store " %%zmm\\i, \\i*64(%[to],%[at])")    \
  "add $1024, %[at]\n\t"                             \
  "cmp %[bytes], %[at]\n\t"                          \
  "jb 1b\n\t"                                        \
  "vzeroupper\n\t"
// clang-format on

}  // namespace

extern "C" int64_t nrd_probe_avx512_f32(int64_t rounds) {
  const int64_t work = rounds * kF32Operations;
  asm volatile(
      "vbroadcastss %[factor], %%zmm30\n\t"
      "vbroadcastss %[addend], %%zmm31\n\t"
      EACH_24("vmovaps %%zmm31, %%zmm\\i")
      ".p2align 6\n"
      "1:\n\t"
      EACH_24("vfmadd213ps %%zmm31, %%zmm30, %%zmm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(rounds)
      : [factor] "m"(kFactor), [addend] "m"(kAddend)
      : "cc", ZMM_ALL);
  return work;
}

extern "C" int64_t nrd_probe_avx512_bf16(int64_t rounds) {
  const int64_t work = rounds * kBf16Operations;
  asm volatile(
      "vpxord %%zmm30, %%zmm30, %%zmm30\n\t"
      "vpxord %%zmm31, %%zmm31, %%zmm31\n\t"
      EACH_24("vpxord %%zmm\\i, %%zmm\\i, %%zmm\\i")
      ".p2align 6\n"
      "1:\n\t"
      EACH_24("vdpbf16ps %%zmm31, %%zmm30, %%zmm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(rounds)
      :
      : "cc", ZMM_ALL);
  return work;
}

extern "C" int64_t nrd_probe_avx512_int8(int64_t rounds) {
  const int64_t work = rounds * kInt8Operations;
  asm volatile(
      "vpbroadcastd %[bytes], %%zmm30\n\t"
      "vmovdqa32 %%zmm30, %%zmm31\n\t"
      EACH_24("vpxord %%zmm\\i, %%zmm\\i, %%zmm\\i")
      ".p2align 6\n"
      "1:\n\t"
      EACH_24("vpdpbusd %%zmm31, %%zmm30, %%zmm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(rounds)
      : [bytes] "m"(kBytes)
      : "cc", ZMM_ALL);
  return work;
}

extern "C" void nrd_probe_avx512_read(const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(
        "1:\n\t"
        EACH_16("vmovaps \\i*64(%[from],%[at]), %%zmm\\i")
        "add $1024, %[at]\n\t"
        "cmp %[bytes], %[at]\n\t"
        "jb 1b\n\t"
        "vzeroupper\n\t"
        : [at] "+r"(at)
        : [from] "r"(from), [bytes] "r"(bytes)
        : "cc", "memory", ZMM_ALL);
  }
}

extern "C" void nrd_probe_avx512_copy(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("vmovaps")
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", ZMM_ALL);
  }
}

extern "C" void nrd_probe_avx512_copy_nt(void* to, const void* from, int64_t bytes,
                                         int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("vmovntps") "sfence\n\t"
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", ZMM_ALL);
  }
}
