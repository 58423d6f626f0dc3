// SPDX-License-Identifier: MIT
// src/machine/probe_amx.cpp: probes of the AMX tile multiplier. Built without ISA flags.
//
// tmm0-3 accumulate, tmm4-5 hold A, tmm6-7 hold B: the 2 x 2 arrangement of the kernels. Four
// products in flight, one every 16 cycles, cover the latency of 52. Tiles are full, 16 rows of 64
// bytes; the fill is the bf16 1.0, which read as int8 is 0x80, 0x3F.
// Inline assembly with whole memory operands, because GCC 12 tells its optimiser that
// _tile_loadconfig reads 8 bytes and _tile_loadd none. Assembler operand order: B, A, C.
#include "machine/probes.h"

namespace {

// The operand of LDTILECFG (Intel SDM, palette 1).
struct alignas(64) TileConfig {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t column_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64, "LDTILECFG reads 64 bytes");

constexpr TileConfig kConfig = {
    1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

// One row, loaded 16 times by a stride of 0.
struct alignas(64) TileRow {
  uint16_t bf16[32];
};
constexpr uint16_t kOne = 0x3F80;
constexpr TileRow kRow = {{kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne,
                           kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne,
                           kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne, kOne}};

constexpr int64_t kBf16Operations = 4 * 16 * 16 * 32 * 2;  // products x rows x columns x depth x 2
constexpr int64_t kInt8Operations = 4 * 16 * 16 * 64 * 2;

// The body once for each register number \\i.
#define ACCUMULATORS(body) ".irp i,0,1,2,3\n\t" body "\n\t.endr\n\t"
#define OPERANDS(body) ".irp i,4,5,6,7\n\t" body "\n\t.endr\n\t"

// Behind each product, as in gemm/tile_kernel.cpp: without them virtual machines show half of what
// the unit can do.
#define GAP ".rept 12\n\tnop\n\t.endr\n\t"

// clang-format off
#define TILE_LOOP(multiply)                          \
  "ldtilecfg %[config]\n\t"                          \
  ACCUMULATORS("tilezero %%tmm\\i")                  \
  OPERANDS("tileloadd (%[row],%[stride]), %%tmm\\i") \
  ".p2align 6\n"                                     \
  "1:\n\t"                                           \
  multiply " %%tmm6, %%tmm4, %%tmm0\n\t" GAP         \
  multiply " %%tmm7, %%tmm4, %%tmm1\n\t" GAP         \
  multiply " %%tmm6, %%tmm5, %%tmm2\n\t" GAP         \
  multiply " %%tmm7, %%tmm5, %%tmm3\n\t" GAP         \
  "dec %[n]\n\t"                                     \
  "jnz 1b\n\t"                                       \
  "tilerelease\n\t"
// clang-format on

}  // namespace

extern "C" int64_t nrd_probe_amx_bf16(int64_t rounds) {
  const int64_t work = rounds * kBf16Operations;
  asm volatile(TILE_LOOP("tdpbf16ps")
               : [n] "+r"(rounds)
               : [config] "m"(kConfig), [row] "r"(&kRow), [stride] "r"(int64_t{0}), "m"(kRow)
               : "cc");
  return work;
}

extern "C" int64_t nrd_probe_amx_int8(int64_t rounds) {
  const int64_t work = rounds * kInt8Operations;
  asm volatile(TILE_LOOP("tdpbusd")
               : [n] "+r"(rounds)
               : [config] "m"(kConfig), [row] "r"(&kRow), [stride] "r"(int64_t{0}), "m"(kRow)
               : "cc");
  return work;
}
