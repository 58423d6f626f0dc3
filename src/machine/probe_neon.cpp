// SPDX-License-Identifier: MIT
// src/machine/probe_neon.cpp: probes of 128-bit NEON. Built with the flags of baseline.
//
// f32: v0-23 are accumulators, += v30 * v31; the addend is small, so they stay finite. 24 cover 4
// units x latency 4 (Neoverse V1), with room. int8: v0-23 += v30 . v31 (SDOT), bf16:
// v0-23 += v30 v31 (BFMMLA, 2x4 by 4x2); they need dotprod and bf16 and are written as their
// numbers, since no directive for them pleases both assemblers; everything else runs on any ARMv8-A
// core. Streams: 32 registers of 16 bytes by pairs, twice over, make the 1024 bytes of a block.
// STNP is the non-temporal hint of the architecture.
#include "machine/probes.h"

namespace {

constexpr int64_t kF32Operations = 24 * 4 * 2;    // accumulators x lanes x (multiply, add)
constexpr int64_t kBf16Operations = 24 * 16 * 2;  // accumulators x products x (multiply, add)
constexpr int64_t kInt8Operations = 24 * 16 * 2;  // accumulators x bytes x (multiply, add)

#define V_ALL                                                                                    \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
      "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
      "v28", "v29", "v30", "v31"

// The body once for each register number \\i.
#define EACH_24(body) \
  ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t" body "\n\t.endr\n\t"

// 512 bytes between memory and v0-31; LDP and STP reach 1008 bytes from their base.
#define PAIR(op, base, a, b, at) op " q" #a ", q" #b ", [%[" base "], #" #at "]\n\t"
#define PAIRS(op, base, start)        \
  PAIR(op, base, 0, 1, start + 0)     \
  PAIR(op, base, 2, 3, start + 32)    \
  PAIR(op, base, 4, 5, start + 64)    \
  PAIR(op, base, 6, 7, start + 96)    \
  PAIR(op, base, 8, 9, start + 128)   \
  PAIR(op, base, 10, 11, start + 160) \
  PAIR(op, base, 12, 13, start + 192) \
  PAIR(op, base, 14, 15, start + 224) \
  PAIR(op, base, 16, 17, start + 256) \
  PAIR(op, base, 18, 19, start + 288) \
  PAIR(op, base, 20, 21, start + 320) \
  PAIR(op, base, 22, 23, start + 352) \
  PAIR(op, base, 24, 25, start + 384) \
  PAIR(op, base, 26, 27, start + 416) \
  PAIR(op, base, 28, 29, start + 448) \
  PAIR(op, base, 30, 31, start + 480)

// clang-format off
#define COPY_LOOP(store)             \
  "1:\n\t"                           \
  PAIRS("ldp", "from", 0)            \
  PAIRS(store, "to", 0)              \
  PAIRS("ldp", "from", 512)          \
  PAIRS(store, "to", 512)            \
  "add %[from], %[from], #1024\n\t"  \
  "add %[to], %[to], #1024\n\t"      \
  "subs %[left], %[left], #1024\n\t" \
  "b.gt 1b\n\t"
// clang-format on

}  // namespace

// A chain of additions, one cycle each.
extern "C" int64_t nrd_probe_neon_clock(int64_t rounds) {
  const int64_t cycles = rounds * 64;
  int64_t sum = 1, step = 3;
  asm volatile(
      ".p2align 6\n"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[sum], %[sum], %[step]\n\t"
      ".endr\n\t"
      "subs %[n], %[n], #1\n\t"
      "b.ne 1b\n\t"
      : [n] "+r"(rounds), [sum] "+r"(sum)
      : [step] "r"(step)
      : "cc");
  return cycles;
}

extern "C" int64_t nrd_probe_neon_f32(int64_t rounds) {
  const int64_t work = rounds * kF32Operations;
  asm volatile(
      "fmov v30.4s, #0.125\n\t"
      "fmov v31.4s, #0.125\n\t"
      EACH_24("fmov v\\i\\().4s, #1.0")
      "1:\n\t"
      EACH_24("fmla v\\i\\().4s, v30.4s, v31.4s")
      "subs %[n], %[n], #1\n\t"
      "b.ne 1b\n\t"
      : [n] "+r"(rounds)
      :
      : "cc", V_ALL);
  return work;
}

extern "C" int64_t nrd_probe_neon_bf16(int64_t rounds) {
  const int64_t work = rounds * kBf16Operations;
  asm volatile(
      "movi v30.4s, #0\n\t"
      "movi v31.4s, #0\n\t"
      EACH_24("movi v\\i\\().4s, #0")
      "1:\n\t"
      // bfmmla v<i>.4s, v30.8h, v31.8h
      EACH_24(".inst 0x6e5fefc0+\\i")
      "subs %[n], %[n], #1\n\t"
      "b.ne 1b\n\t"
      : [n] "+r"(rounds)
      :
      : "cc", V_ALL);
  return work;
}

extern "C" int64_t nrd_probe_neon_int8(int64_t rounds) {
  const int64_t work = rounds * kInt8Operations;
  asm volatile(
      "movi v30.16b, #3\n\t"
      "movi v31.16b, #5\n\t"
      EACH_24("movi v\\i\\().4s, #0")
      "1:\n\t"
      // sdot v<i>.4s, v30.16b, v31.16b
      EACH_24(".inst 0x4e9f97c0+\\i")
      "subs %[n], %[n], #1\n\t"
      "b.ne 1b\n\t"
      : [n] "+r"(rounds)
      :
      : "cc", V_ALL);
  return work;
}

extern "C" void nrd_probe_neon_read(const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    const void* at = from;
    int64_t left = bytes;
    asm volatile(
        "1:\n\t"
        PAIRS("ldp", "at", 0)
        PAIRS("ldp", "at", 512)
        "add %[at], %[at], #1024\n\t"
        "subs %[left], %[left], #1024\n\t"
        "b.gt 1b\n\t"
        : [at] "+r"(at), [left] "+r"(left)
        :
        : "cc", "memory", V_ALL);
  }
}

extern "C" void nrd_probe_neon_copy(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    void* out = to;
    const void* in = from;
    int64_t left = bytes;
    asm volatile(COPY_LOOP("stp")
                 : [to] "+r"(out), [from] "+r"(in), [left] "+r"(left)
                 :
                 : "cc", "memory", V_ALL);
  }
}

extern "C" void nrd_probe_neon_copy_nt(void* to, const void* from, int64_t bytes, int64_t passes) {
  for (; passes > 0; --passes) {
    void* out = to;
    const void* in = from;
    int64_t left = bytes;
    asm volatile(COPY_LOOP("stnp")
                 : [to] "+r"(out), [from] "+r"(in), [left] "+r"(left)
                 :
                 : "cc", "memory", V_ALL);
  }
}
