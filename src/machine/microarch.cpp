// SPDX-License-Identifier: MIT
// src/machine/microarch.cpp: the model table and the table of operations a cycle.
#include "machine/microarch.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "machine/cpuid.h"
#include "machine/system_files.h"

namespace nrd {
namespace {

// Models lo..hi and steppings from..to of a family. GB/s = channels x MT/s x 8 bytes / 1000.
struct ModelRow {
  Vendor vendor;
  int family, lo, hi, from, to;
  Model model;
};

constexpr int kAny = 255;
constexpr Vendor kIntel = Vendor::kIntel, kAmd = Vendor::kAmd, kArm = Vendor::kArm;

constexpr ModelRow kModels[] = {
    {kIntel, 6, 0x3C, 0x3C, 0, kAny, {"haswell", 25.6, "2 x DDR3-1600"}},
    {kIntel, 6, 0x3F, 0x3F, 0, kAny, {"haswell", 68.3, "4 x DDR4-2133"}},
    {kIntel, 6, 0x4F, 0x4F, 0, kAny, {"broadwell", 76.8, "4 x DDR4-2400"}},
    {kIntel, 6, 0x4E, 0x4E, 0, kAny, {"skylake", 34.1, "2 x DDR4-2133"}},
    {kIntel, 6, 0x5E, 0x5E, 0, kAny, {"skylake", 34.1, "2 x DDR4-2133"}},
    {kIntel, 6, 0x8E, 0x8E, 0, kAny, {"skylake", 38.4, "2 x DDR4-2400, Kaby Lake"}},
    {kIntel, 6, 0x9E, 0x9E, 0, kAny, {"skylake", 42.7, "2 x DDR4-2666, Coffee Lake"}},
    {kIntel, 6, 0xA5, 0xA6, 0, kAny, {"skylake", 46.9, "2 x DDR4-2933, Comet Lake"}},
    {kIntel, 6, 0x55, 0x55, 0, 4, {"skylake_sp", 128.0, "6 x DDR4-2666"}},
    {kIntel, 6, 0x55, 0x55, 5, 9, {"cascade_lake", 140.8, "6 x DDR4-2933"}},
    {kIntel, 6, 0x55, 0x55, 10, kAny, {"cooper_lake", 153.6, "6 x DDR4-3200"}},
    {kIntel, 6, 0x6A, 0x6A, 0, kAny, {"ice_lake_sp", 204.8, "8 x DDR4-3200"}},
    {kIntel, 6, 0x6C, 0x6C, 0, kAny, {"ice_lake_sp", 102.4, "4 x DDR4-3200, Xeon D"}},
    {kIntel, 6, 0x7D, 0x7E, 0, kAny, {"ice_lake", 51.2, "2 x DDR4-3200"}},
    {kIntel, 6, 0x8C, 0x8D, 0, kAny, {"tiger_lake", 51.2, "2 x DDR4-3200"}},
    {kIntel, 6, 0xA7, 0xA7, 0, kAny, {"rocket_lake", 51.2, "2 x DDR4-3200"}},
    {kIntel, 6, 0x8F, 0x8F, 0, kAny, {"sapphire_rapids", 307.2, "8 x DDR5-4800"}},
    {kIntel, 6, 0xCF, 0xCF, 0, kAny, {"emerald_rapids", 358.4, "8 x DDR5-5600"}},
    {kIntel, 6, 0xAD, 0xAD, 0, kAny, {"granite_rapids", 614.4, "12 x DDR5-6400; 6700P: 8"}},
    {kIntel, 6, 0xAE, 0xAE, 0, kAny, {"granite_rapids", 409.6, "8 x DDR5-6400, Xeon 6 SoC"}},
    {kIntel, 6, 0xAF, 0xAF, 0, kAny, {"sierra_forest", 409.6, "8 x DDR5-6400"}},
    {kIntel, 6, 0x97, 0x97, 0, kAny, {"alder_lake", 76.8, "2 x DDR5-4800"}},
    {kIntel, 6, 0x9A, 0x9A, 0, kAny, {"alder_lake", 76.8, "2 x DDR5-4800"}},
    {kIntel, 6, 0xB7, 0xB7, 0, kAny, {"raptor_lake", 89.6, "2 x DDR5-5600"}},
    {kIntel, 6, 0xBA, 0xBA, 0, kAny, {"raptor_lake", 83.2, "2 x DDR5-5200"}},
    {kIntel, 6, 0xBF, 0xBF, 0, kAny, {"raptor_lake", 76.8, "2 x DDR5-4800"}},
    {kIntel, 6, 0xAA, 0xAA, 0, kAny, {"meteor_lake", 89.6, "2 x DDR5-5600"}},
    {kIntel, 6, 0xBD, 0xBD, 0, kAny, {"lunar_lake", 136.5, "128-bit LPDDR5X-8533"}},
    {kIntel, 6, 0xC5, 0xC6, 0, kAny, {"arrow_lake", 102.4, "2 x DDR5-6400"}},
    {kAmd, 0x17, 0x00, 0x07, 0, kAny, {"zen1", 170.6, "8 x DDR4-2666, EPYC 7001"}},
    {kAmd, 0x17, 0x08, 0x2F, 0, kAny, {"zen1", 46.9, "2 x DDR4-2933"}},
    {kAmd, 0x17, 0x30, 0x3F, 0, kAny, {"zen2", 204.8, "8 x DDR4-3200, EPYC 7002"}},
    {kAmd, 0x17, 0x40, 0xAF, 0, kAny, {"zen2", 51.2, "2 x DDR4-3200"}},
    {kAmd, 0x19, 0x00, 0x0F, 0, kAny, {"zen3", 204.8, "8 x DDR4-3200, EPYC 7003"}},
    {kAmd, 0x19, 0x10, 0x1F, 0, kAny, {"zen4", 460.8, "12 x DDR5-4800, EPYC 9004"}},
    {kAmd, 0x19, 0x20, 0x5F, 0, kAny, {"zen3", 51.2, "2 x DDR4-3200"}},
    {kAmd, 0x19, 0x60, 0x7F, 0, kAny, {"zen4", 83.2, "2 x DDR5-5200"}},
    {kAmd, 0x19, 0xA0, 0xAF, 0, kAny, {"zen4", 460.8, "12 x DDR5-4800, EPYC 97x4"}},
    {kAmd, 0x1A, 0x00, 0x1F, 0, kAny, {"zen5", 576.0, "12 x DDR5-6000, EPYC 9005"}},
    {kAmd, 0x1A, 0x20, 0x3F, 0, kAny, {"zen5_mobile", 120.0, "128-bit LPDDR5X-7500"}},
    {kAmd, 0x1A, 0x40, 0x4F, 0, kAny, {"zen5", 89.6, "2 x DDR5-5600"}},
    {kAmd, 0x1A, 0x60, 0x6F, 0, kAny, {"zen5_mobile", 128.0, "128-bit LPDDR5X-8000"}},
    {kAmd, 0x1A, 0x70, 0x7F, 0, kAny, {"zen5", 256.0, "256-bit LPDDR5X-8000"}},
    {kArm, 0x41, 0xD08, 0xD08, 0, kAny, {"cortex_a72", 12.8, "32-bit LPDDR4-3200, as in the Pi 4"}},
    {kArm, 0x41, 0xD0B, 0xD0B, 0, kAny, {"cortex_a76", 17.1, "32-bit LPDDR4X-4267, the Pi 5"}},
    {kArm, 0x41, 0xD0C, 0xD0C, 0, kAny, {"neoverse_n1", 204.8, "8 x DDR4-3200, Graviton2"}},
    {kArm, 0x41, 0xD40, 0xD40, 0, kAny, {"neoverse_v1", 307.2, "8 x DDR5-4800, Graviton3"}},
    {kArm, 0x41, 0xD49, 0xD49, 0, kAny, {"neoverse_n2", 281.6, "8 x DDR5-4400, Yitian 710"}},
    {kArm, 0x41, 0xD4F, 0xD4F, 0, kAny, {"neoverse_v2", 537.6, "12 x DDR5-5600, Graviton4"}},
    {kArm, 0xC0, 0xAC3, 0xAC3, 0, kAny, {"ampere_one", 332.8, "8 x DDR5-5200"}},
    {kArm, 0x61, 0x022, 0x029, 0, kAny, {"apple_m1", 68.3, "128-bit LPDDR4X-4267, the plain M1"}},
    {kArm, 0x61, 0x032, 0x039, 0, kAny, {"apple_m2", 102.4, "128-bit LPDDR5-6400, the plain M2"}},
};
constexpr Model kGenericModel = {"generic", 0, "not in the table"};

// f32: fused multiply-add units x lanes x 2. int8: dot-product instructions a cycle x bytes x 2.
// Columns: f32 128, 256, 512; int8 128, 256, 512; AMX bf16, int8.
constexpr CycleRates kRates[] = {
    {"generic", 8, 16, 32, 32, 64, 128, 1024, 2048,
     "the least that cores with these instructions do"},
    {"haswell", 8, 32, 0, 0, 0, 0, 0, 0, "2 x 256-bit FMA; SSE2: one multiply and one add"},
    {"broadwell", 8, 32, 0, 0, 0, 0, 0, 0, "as haswell"},
    {"skylake", 8, 32, 0, 0, 0, 0, 0, 0, "2 x 256-bit FMA; SSE2 shares the same two ports"},
    {"skylake_sp", 8, 32, 64, 0, 0, 0, 0, 0, "ports 0+1 fused and 5: 2 x 512-bit FMA (Silver: 1)"},
    {"cascade_lake", 8, 32, 64, 0, 0, 256, 0, 0, "as skylake_sp; vpdpbusd on both FMA ports"},
    {"cooper_lake", 8, 32, 64, 0, 0, 256, 0, 0, "as cascade_lake"},
    {"ice_lake_sp", 8, 32, 64, 0, 0, 256, 0, 0, "as cascade_lake"},
    {"ice_lake", 8, 32, 32, 0, 0, 128, 0, 0, "client core: one 512-bit FMA (ports 0+1 fused)"},
    {"tiger_lake", 8, 32, 32, 0, 0, 128, 0, 0, "as ice_lake"},
    {"rocket_lake", 8, 32, 32, 0, 0, 128, 0, 0, "as ice_lake"},
    {"sapphire_rapids", 12, 32, 64, 0, 128, 256, 1024, 2048,
     "2 x 512-bit FMA, vpdpbusd alike; a 16x16 TDP every 16 cycles: 512 bf16 or 1024 int8 MAC a "
     "cycle; SSE2: 3 ports for multiplies and adds"},
    {"emerald_rapids", 12, 32, 64, 0, 128, 256, 1024, 2048, "as sapphire_rapids; measured so"},
    {"granite_rapids", 12, 32, 64, 0, 128, 256, 1024, 2048, "as sapphire_rapids"},
    {"sierra_forest", 8, 16, 0, 0, 64, 0, 0, 0, "2 x 128-bit FMA; 256-bit work is split"},
    {"alder_lake", 12, 32, 0, 0, 128, 0, 0, 0, "P core: 2 x 256-bit FMA, no AVX-512"},
    {"raptor_lake", 12, 32, 0, 0, 128, 0, 0, 0, "as alder_lake"},
    {"meteor_lake", 12, 32, 0, 0, 128, 0, 0, 0, "as alder_lake"},
    {"lunar_lake", 16, 32, 0, 0, 128, 0, 0, 0, "P core: 2 x 256-bit FMA, 2 more add pipes"},
    {"arrow_lake", 16, 32, 0, 0, 128, 0, 0, 0, "as lunar_lake"},
    {"zen1", 16, 16, 0, 0, 0, 0, 0, 0, "2 multiply and 2 add pipes of 128 bits; 256 is split"},
    {"zen2", 16, 32, 0, 0, 0, 0, 0, 0, "2 x 256-bit FMA, 2 more add pipes"},
    {"zen3", 16, 32, 0, 0, 0, 0, 0, 0, "as zen2"},
    {"zen4", 16, 32, 32, 0, 0, 128, 0, 0, "as zen2; 512 bits hold a 256-bit pipe for 2 cycles",
     true},
    {"zen5", 16, 32, 64, 0, 128, 256, 0, 0, "2 x 512-bit FMA, 2 more add pipes", true},
    {"zen5_mobile", 16, 32, 32, 0, 128, 128, 0, 0, "the 256-bit variant of zen5", true},
    {"cortex_a72", 8, 0, 0, 0, 0, 0, 0, 0, "2 x 64-bit FMA pipes: one 128-bit FMLA a cycle"},
    {"cortex_a76", 16, 0, 0, 64, 0, 0, 0, 0, "2 x 128-bit FMA; SDOT on both"},
    {"neoverse_n1", 16, 0, 0, 64, 0, 0, 0, 0, "as cortex_a76"},
    {"neoverse_n2", 16, 0, 0, 64, 0, 0, 0, 0, "2 x 128-bit FMA; SDOT on both", true},
    {"neoverse_v1", 32, 0, 0, 128, 0, 0, 0, 0, "4 x 128-bit FMA (2 x 256 for SVE); SDOT on all",
     true},
    {"neoverse_v2", 32, 0, 0, 128, 0, 0, 0, 0, "4 x 128-bit FMA; SDOT on all", true},
    {"ampere_one", 16, 0, 0, 64, 0, 0, 0, 0, "2 x 128-bit FMA; SDOT on both", true},
    {"apple_m1", 32, 0, 0, 128, 0, 0, 0, 0, "P core: 4 x 128-bit FMA; SDOT on all"},
    {"apple_m2", 32, 0, 0, 128, 0, 0, 0, 0, "as apple_m1"},
};

}  // namespace

CpuId host_cpu_id() {
#if defined(__x86_64__)
  const Cpuid leaf0 = cpuid(0), leaf1 = cpuid(1);
  char vendor[13] = {};
  std::memcpy(vendor, &leaf0.ebx, 4);
  std::memcpy(vendor + 4, &leaf0.edx, 4);
  std::memcpy(vendor + 8, &leaf0.ecx, 4);
  CpuId id;
  if (std::strcmp(vendor, "GenuineIntel") == 0) id.vendor = Vendor::kIntel;
  if (std::strcmp(vendor, "AuthenticAMD") == 0) id.vendor = Vendor::kAmd;
  id.family = static_cast<int>((leaf1.eax >> 8) & 0xF);
  id.model = static_cast<int>(((leaf1.eax >> 4) & 0xF) | ((leaf1.eax >> 12) & 0xF0));
  id.stepping = static_cast<int>(leaf1.eax & 0xF);
  if (id.family == 0xF) id.family += static_cast<int>((leaf1.eax >> 20) & 0xFF);
  return id;
#else
  CpuId id;
  const std::string midr = read_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
  if (!midr.empty()) {  // implementer 31:24, variant 23:20, part 15:4, revision 3:0
    const unsigned long value = std::strtoul(midr.c_str(), nullptr, 16);
    id = {Vendor::kArm, static_cast<int>((value >> 24) & 0xFF),
          static_cast<int>((value >> 4) & 0xFFF), static_cast<int>(value & 0xF)};
  } else {
    const std::string implementer = cpuinfo_field("CPU implementer");
    const std::string part = cpuinfo_field("CPU part");
    if (!implementer.empty() && !part.empty()) {
      id.vendor = Vendor::kArm;
      id.family = static_cast<int>(std::strtol(implementer.c_str(), nullptr, 16));
      id.model = static_cast<int>(std::strtol(part.c_str(), nullptr, 16));
    }
  }
  return id;
#endif
}

const Model& model_of(const CpuId& id) {
  for (const ModelRow& row : kModels) {
    if (row.vendor == id.vendor && row.family == id.family && row.lo <= id.model &&
        id.model <= row.hi && row.from <= id.stepping && id.stepping <= row.to) {
      return row.model;
    }
  }
  return kGenericModel;
}

const CycleRates& cycle_rates_of(std::string_view microarchitecture) {
  for (const CycleRates& row : kRates) {
    if (row.microarchitecture == microarchitecture) return row;
  }
  return kRates[0];
}

ArithmeticPeaks nominal_peaks(const CycleRates& rates, IsaSet isa, double ghz) {
  double f32 = rates.f32_128;
  if (isa.has(Feature::kFma)) f32 = rates.f32_256;
  if (isa.has(Feature::kAvx512)) f32 = rates.f32_512;
  // A lane of vdpbf16ps adds two products, one of bfmmla four, where they pay at the pace of f32's
  // one; elsewhere they are that much slower.
  double bf16 = 0;
  if (isa.has(Feature::kBf16)) bf16 = (rates.bf16_dot_pays ? 4 : 1) * rates.f32_128;
  if (isa.has(Feature::kAvx512Bf16)) bf16 = (rates.bf16_dot_pays ? 2 : 1) * rates.f32_512;
  double int8 = 0;
  if (isa.has(Feature::kDotprod)) int8 = rates.int8_128;
  if (isa.has(Feature::kAvxVnni)) int8 = rates.int8_256;
  if (isa.has(Feature::kAvx512Vnni)) int8 = rates.int8_512;
  return {.f32_fma = ghz * f32,
          .bf16_dot = ghz * bf16,
          .int8_dot = ghz * int8,
          .amx_bf16 = isa.has(Feature::kAmxBf16) ? ghz * rates.amx_bf16 : 0,
          .amx_int8 = isa.has(Feature::kAmxInt8) ? ghz * rates.amx_int8 : 0};
}

}  // namespace nrd
