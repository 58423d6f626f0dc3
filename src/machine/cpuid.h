// SPDX-License-Identifier: MIT
// src/machine/cpuid.h: CPUID as a value, for isa.cpp, microarch.cpp, caches.cpp and profile.cpp.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace nrd {

struct Cpuid {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// A leaf that the CPU does not have reads as zeros (the CPU itself would answer with another leaf).
inline Cpuid cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  const uint32_t last = __get_cpuid_max(leaf & 0x80000000u, nullptr);
  Cpuid out;
  if (leaf <= last) __cpuid_count(leaf, subleaf, out.eax, out.ebx, out.ecx, out.edx);
  return out;
}

constexpr bool bit(uint32_t word, int index) { return (word >> index) & 1u; }

}  // namespace nrd
#endif
