// SPDX-License-Identifier: MIT
// src/machine/probe_sse2.cpp: probes of plain x86-64, 128-bit vectors without fused multiply-add.
//
// f32: xmm0-6 are chains of multiplies (by -1: no drift, no denormals), xmm7-13 chains of adds,
// xmm14 and xmm15 the constants. Seven chains each cover 2 a cycle at a latency of 3, the fastest
// core (Zen); where both kinds share two ports, 14 cover 2 x 4.
// Streams: 16 registers of 16 bytes, four times over, make the 1024 bytes of a block.
#include "machine/probes.h"

namespace {

constexpr float kMinusOne[4] = {-1, -1, -1, -1};
constexpr int64_t kOperations = 14 * 4;  // chains x lanes

#define XMM_ALL                                                                            \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// The body once for each register number \\i.
#define EACH_16(body) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t" body "\n\t.endr\n\t"
#define EACH_14(body) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t" body "\n\t.endr\n\t"
#define FIRST_7(body) ".irp i,0,1,2,3,4,5,6\n\t" body "\n\t.endr\n\t"
#define LAST_7(body) ".irp i,7,8,9,10,11,12,13\n\t" body "\n\t.endr\n\t"

// One block: for each quarter, 16 loads, then 16 stores by `store`.
// clang-format off
#define COPY_LOOP(store)                                    \
  "1:\n\t"                                                  \
  ".irp q,0,1,2,3\n\t"                                      \
  EACH_16("movaps \\q*256+\\i*16(%[from],%[at]), %%xmm\\i") \
  EACH_16(store " %%xmm\\i, \\q*256+\\i*16(%[to],%[at])")   \
  ".endr\n\t"                                               \
  "add $1024, %[at]\n\t"                                    \
  "cmp %[bytes], %[at]\n\t"                                 \
  "jb 1b\n\t"
// clang-format on

}  // namespace

// Additions of registers take one cycle everywhere; of constants, renaming may do some for nothing.
extern "C" int64_t nrd_probe_sse2_clock(int64_t rounds) {
  const int64_t cycles = rounds * 64;
  int64_t sum = 1, step = 3;
  asm volatile(
      ".p2align 6\n"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[step], %[sum]\n\t"
      ".endr\n\t"
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      : [n] "+r"(rounds), [sum] "+r"(sum)
      : [step] "r"(step)
      : "cc");
  return cycles;
}

extern "C" int64_t nrd_probe_sse2_f32(int64_t rounds) {
  const int64_t work = rounds * kOperations;
  asm volatile(
      "movaps %[one], %%xmm14\n\t"
      "movaps %%xmm14, %%xmm15\n\t"
      EACH_14("movaps %%xmm14, %%xmm\\i")
      ".p2align 6\n"
      "1:\n\t"
      FIRST_7("mulps %%xmm14, %%xmm\\i")
      LAST_7("addps %%xmm15, %%xmm\\i")
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      : [n] "+r"(rounds)
      : [one] "m"(kMinusOne)
      : "cc", XMM_ALL);
  return work;
}

extern "C" void nrd_probe_sse2_read(const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(
        "1:\n\t"
        ".irp q,0,1,2,3\n\t"
        EACH_16("movaps \\q*256+\\i*16(%[from],%[at]), %%xmm\\i")
        ".endr\n\t"
        "add $1024, %[at]\n\t"
        "cmp %[bytes], %[at]\n\t"
        "jb 1b\n\t"
        : [at] "+r"(at)
        : [from] "r"(from), [bytes] "r"(bytes)
        : "cc", "memory", XMM_ALL);
  }
}

extern "C" void nrd_probe_sse2_copy(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("movaps")
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", XMM_ALL);
  }
}

extern "C" void nrd_probe_sse2_copy_nt(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    int64_t at = 0;
    asm volatile(COPY_LOOP("movntps") "sfence\n\t"
                 : [at] "+r"(at)
                 : [to] "r"(to), [from] "r"(from), [bytes] "r"(bytes)
                 : "cc", "memory", XMM_ALL);
  }
}
