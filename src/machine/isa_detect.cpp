// SPDX-License-Identifier: MIT
// src/machine/isa_detect.cpp: reads the CPU and the operating system. Built without ISA flags.
//
// A feature is in the set when the CPU has it and the operating system keeps its registers over a
// context switch (XCR0 on x86-64; the kernel's HWCAP already says both on aarch64).
#include "base/lazy.h"
#include "machine/isa.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/cpuid.h"
#elif defined(__aarch64__)
#include <sys/auxv.h>
#else
#error "Nereid builds for x86-64 and aarch64"
#endif

namespace nrd {
namespace {

#if defined(__x86_64__)

// Register files whose state the operating system saves, as XCR0 tells.
struct OsState {
  bool ymm = false;
  bool zmm = false;
  bool tiles = false;
};

OsState os_state(const Cpuid& leaf1) {
  if (!bit(leaf1.ecx, 27)) return {};  // OSXSAVE: without it XGETBV itself is illegal
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t kYmm = 0x6;        // SSE, AVX
  constexpr uint32_t kZmm = 0xE6;       // and opmask, upper halves of zmm0-15, zmm16-31
  constexpr uint32_t kTiles = 0x60000;  // TILECFG, TILEDATA
  return {(low & kYmm) == kYmm, (low & kZmm) == kZmm, (low & kTiles) == kTiles};
}

// Linux gives the 8 KiB of tile data only to a process that asks (since 5.16). Asking twice is
// harmless; a kernel without AMX, or a thread whose signal stack is too small for it, says no.
bool tiles_permitted() {
  constexpr long kArchReqXcompPerm = 0x1023;
  constexpr long kXfeatureTileData = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureTileData) == 0;
}

// kAvx2 stands for x86-64-v3 less FMA and F16C, which have bits of their own: compilers use BMI,
// LZCNT and MOVBE freely in code built for that level.
bool has_v3(const Cpuid& leaf1, const Cpuid& leaf7, const Cpuid& extended) {
  for (int index : {9, 13, 19, 20, 22, 23, 28}) {  // SSSE3 CX16 SSE4.1 SSE4.2 MOVBE POPCNT AVX
    if (!bit(leaf1.ecx, index)) return false;
  }
  return bit(leaf7.ebx, 3) && bit(leaf7.ebx, 5) && bit(leaf7.ebx, 8) &&  // BMI1 AVX2 BMI2
         bit(extended.ecx, 5);                                           // LZCNT
}

// kAvx512 stands for what x86-64-v4 adds: F DQ CD BW VL.
bool has_v4(const Cpuid& leaf7) {
  for (int index : {16, 17, 28, 30, 31}) {
    if (!bit(leaf7.ebx, index)) return false;
  }
  return true;
}

// Leaves 0x1D and 0x1E (tile palettes) are never read: virtual machines hide them while AMX works.
IsaSet read_isa() {
  const Cpuid leaf1 = cpuid(1), leaf7 = cpuid(7), leaf7_1 = cpuid(7, 1);
  const OsState os = os_state(leaf1);
  IsaSet isa;
  auto add = [&isa](Feature feature, bool present) {
    if (present) isa = isa.with(feature);
  };
  add(Feature::kFma, os.ymm && bit(leaf1.ecx, 12));
  add(Feature::kF16c, os.ymm && bit(leaf1.ecx, 29));
  add(Feature::kAvx2, os.ymm && has_v3(leaf1, leaf7, cpuid(0x80000001u)));
  add(Feature::kAvxVnni, isa.has(Feature::kAvx2) && bit(leaf7_1.eax, 4));

  const IsaSet v3 = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kF16c);
  const bool avx512 = os.zmm && isa.contains(v3) && has_v4(leaf7);
  add(Feature::kAvx512, avx512);
  add(Feature::kAvx512Vnni, avx512 && bit(leaf7.ecx, 11));
  add(Feature::kAvx512Bf16, avx512 && bit(leaf7_1.eax, 5));
  add(Feature::kAvx512Fp16, avx512 && bit(leaf7.edx, 23));

  const bool tiles = os.tiles && bit(leaf7.edx, 24) && tiles_permitted();
  add(Feature::kAmxTile, tiles);
  add(Feature::kAmxInt8, tiles && bit(leaf7.edx, 25));
  add(Feature::kAmxBf16, tiles && bit(leaf7.edx, 22));
  return isa;
}

#elif defined(__aarch64__)

// Bits of the kernel's interface (asm/hwcap.h), written out because old headers lack some.
IsaSet read_isa() {
  struct Row {
    Feature feature;
    unsigned long type;
    int index;
  };
  constexpr Row kHwcap[] = {
      {Feature::kNeon, AT_HWCAP, 1},      // ASIMD
      {Feature::kDotprod, AT_HWCAP, 20},  // ASIMDDP
      {Feature::kFp16, AT_HWCAP, 10},     // ASIMDHP
      {Feature::kSve, AT_HWCAP, 22},      // SVE
      {Feature::kI8mm, AT_HWCAP2, 13},    // I8MM
      {Feature::kBf16, AT_HWCAP2, 14},    // BF16
  };
  IsaSet isa;
  for (const Row& row : kHwcap) {
    if ((getauxval(row.type) >> row.index) & 1u) isa = isa.with(row.feature);
  }
  return isa;
}

#endif

constinit Lazy<const IsaSet> g_isa;

}  // namespace

// Read once: the answer cannot change while the process lives.
IsaSet detect_isa() { return g_isa.get(read_isa); }

}  // namespace nrd
