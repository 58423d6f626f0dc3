// SPDX-License-Identifier: MIT
// src/machine/isa.h: what this CPU and its operating system let us execute.
//
// An ISA is a set of feature bits. Levels are the sets code is built for:
// baseline, avx2 (x86-64-v3) and avx512 (x86-64-v4) on x86-64, baseline (NEON) on aarch64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace nrd {

enum class Feature : int {
  // x86-64
  kAvx2,
  kFma,
  kF16c,
  kAvxVnni,
  kAvx512,
  kAvx512Vnni,
  kAvx512Bf16,
  kAvx512Fp16,
  kAmxTile,
  kAmxInt8,
  kAmxBf16,
  // aarch64
  kNeon,
  kDotprod,
  kFp16,
  kBf16,
  kI8mm,
  kSve,
  kCount,
};

std::string_view feature_word(Feature feature);  // "avx512_bf16"

class IsaSet {
 public:
  constexpr IsaSet() = default;
  constexpr explicit IsaSet(uint32_t bits) : bits_(bits) {}
  constexpr bool has(Feature f) const { return (bits_ >> static_cast<int>(f)) & 1u; }
  constexpr bool contains(IsaSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr IsaSet with(Feature f) const { return IsaSet(bits_ | 1u << static_cast<int>(f)); }
  constexpr IsaSet operator&(IsaSet other) const { return IsaSet(bits_ & other.bits_); }
  friend constexpr bool operator==(IsaSet, IsaSet) = default;
  std::string to_string() const;  // "avx2 fma f16c avx512", "baseline" when empty

 private:
  uint32_t bits_ = 0;
};

// A set that code is built for, weakest first; "amx" is avx512 plus the AMX features.
struct IsaLevel {
  std::string_view word;  // baseline avx2 avx512 amx | baseline
  IsaSet required;
};
std::span<const IsaLevel> isa_levels();

// CPUID + XCR0 (x86-64) or HWCAP (aarch64), AMX only after arch_prctl succeeded. No cap applied.
IsaSet detect_isa();

// detect_isa() cut down to the level named by NEREID_ISA; an unknown or absent level is an error.
Expected<IsaSet> isa_from_environment();
Expected<IsaSet> cap_isa(IsaSet detected, std::string_view level_word);

// The strongest level that `isa` contains.
const IsaLevel& best_level(IsaSet isa);

}  // namespace nrd
