// SPDX-License-Identifier: MIT
// src/machine/microarch.h: which core this is, and what one core of its kind does in a cycle.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/isa.h"
#include "machine/profile.h"

namespace nrd {

// How a CPU names itself: vendor, family, model and stepping of CPUID leaf 1 on x86-64; on
// aarch64 the implementer and part number of MIDR_EL1, in `family` and `model`.
enum class Vendor { kUnknown, kIntel, kAmd, kArm };
struct CpuId {
  Vendor vendor = Vendor::kUnknown;
  int family = 0;
  int model = 0;
  int stepping = 0;
};

// Reads CPUID, or MIDR_EL1 by way of the system's files.
CpuId host_cpu_id();

// A row of the shipped model table; "generic" when the table does not know the CPU.
struct Model {
  std::string_view microarchitecture;
  double dram_gbps = 0;     // one socket, all channels filled at the fastest official speed
  std::string_view reason;  // where dram_gbps comes from
};
const Model& model_of(const CpuId& id);

// Operations of one core in one cycle, a multiply-add counting two. 0 = the core lacks it.
struct CycleRates {
  std::string_view microarchitecture;
  double f32_128 = 0;  // SSE2 multiplies and adds, or NEON fused multiply-adds
  double f32_256 = 0;
  double f32_512 = 0;
  double int8_128 = 0;  // NEON dot products
  double int8_256 = 0;  // AVX-VNNI
  double int8_512 = 0;  // AVX512-VNNI
  double amx_bf16 = 0;
  double amx_int8 = 0;
  std::string_view reason;
  bool bf16_dot_pays = false;  // products of bf16 pairs run at more than the rate of f32
};
const CycleRates& cycle_rates_of(std::string_view microarchitecture);

// The rates that `isa` can reach at its widest vectors, times the clock.
ArithmeticPeaks nominal_peaks(const CycleRates& rates, IsaSet isa, double ghz);

}  // namespace nrd
