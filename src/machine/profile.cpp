// SPDX-License-Identifier: MIT
// src/machine/profile.cpp: DeviceProfile::host, and the questions asked of a profile.
#include "machine/profile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/threads.h"
#include "machine/caches.h"
#include "machine/cpuid.h"
#include "machine/microarch.h"
#include "machine/system_files.h"

namespace nrd {
namespace {

// A working set that fills a level to the brim misses it: other data and the replacement policy
// take their part. Three quarters is where measured sweeps leave the plateau of a level.
constexpr double kUsableShare = 0.75;

constexpr char kCpu0[] = "/sys/devices/system/cpu/cpu0/";

#if defined(__x86_64__)
std::string brand_string() {
  if (cpuid(0x80000000u).eax < 0x80000004u) return "x86-64";
  char text[49] = {};
  for (uint32_t part = 0; part < 3; ++part) {
    const Cpuid c = cpuid(0x80000002u + part);
    std::memcpy(text + part * 16, &c, 16);
  }
  const std::string brand = text;
  const size_t begin = brand.find_first_not_of(' ');
  if (begin == std::string::npos) return "x86-64";
  return brand.substr(begin, brand.find_last_not_of(' ') - begin + 1);
}
#else
std::string brand_string() {
  std::string brand = cpuinfo_field("model name");
  if (brand.empty()) brand = cpuinfo_field("Hardware");
  if (!brand.empty()) return brand;
  const CpuId id = host_cpu_id();
  const std::string_view name = model_of(id).microarchitecture;
  return "aarch64 " + std::string(name) + ", implementer " + std::to_string(id.family) + " part " +
         std::to_string(id.model);
}
#endif

// "... CPU @ 2.60GHz" -> 2.6; 0 when the brand does not say.
double ghz_in_brand(const std::string& brand) {
  const size_t at = brand.find("@ ");
  if (at == std::string::npos || brand.find("GHz", at) == std::string::npos) return 0;
  return std::strtod(brand.c_str() + at + 2, nullptr);
}

double mhz_of_leaf_16h() {
#if defined(__x86_64__)
  return cpuid(0x16).eax & 0xFFFF;  // the processor's base frequency; 0 where not told (AMD, VMs)
#else
  return 0;
#endif
}

// The base clock, from the source nearest to the truth that answers. What /proc/cpuinfo calls MHz
// is the clock of this moment on a bare machine and the base clock in most virtual ones.
double nominal_clock(const std::string& brand) {
  const std::string cpu0 = kCpu0;
  const double candidates[] = {
    mhz_of_leaf_16h() / 1e3,
    static_cast<double>(read_size(cpu0 + "cpufreq/base_frequency")) / 1e6,  // kHz
    static_cast<double>(read_size(cpu0 + "acpi_cppc/nominal_freq")) / 1e3,  // MHz
    ghz_in_brand(brand),
#if !defined(__x86_64__)
    static_cast<double>(read_size(cpu0 + "cpufreq/cpuinfo_max_freq")) / 1e6,  // kHz; no boost
#endif
    std::strtod(cpuinfo_field("cpu MHz").c_str(), nullptr) / 1e3,
  };
  for (double ghz : candidates) {
    if (ghz > 0.1 && ghz < 20) return ghz;
  }
  return 0;
}

// How many separate caches of a level the cores of this process have between them.
int instances(const CacheLevel& level, int cores) {
  const int sharers = std::max(level.sharers, 1);
  return (std::max(cores, 1) + sharers - 1) / sharers;
}

double rate_of(const StreamRates& rates, bool writes) {
  return writes ? std::max(rates.copy, rates.copy_nt) : rates.read;
}

const StreamRates* find_level(const MeasuredPeaks& peaks, const std::string& name) {
  for (const StreamRates& rates : peaks.streams) {
    if (rates.level == name) return &rates;
  }
  return nullptr;
}

}  // namespace

DeviceProfile DeviceProfile::host(IsaSet isa) {
  const Model& model = model_of(host_cpu_id());
  DeviceProfile profile;
  profile.cpu = brand_string();
  profile.microarchitecture = std::string(model.microarchitecture);
  profile.isa = isa;
  profile.cores = available_cores();
  profile.nominal_ghz = nominal_clock(profile.cpu);
  const CycleRates& rates = cycle_rates_of(profile.microarchitecture);
  profile.bf16_dot_pays = rates.bf16_dot_pays;
  profile.nominal = nominal_peaks(rates, isa, profile.nominal_ghz);
  profile.nominal_dram_gbps = model.dram_gbps;
  profile.caches = host_caches();
  return profile;
}

ArithmeticPeaks nominal_at_clock(const DeviceProfile& profile, const MeasuredPeaks& reached) {
  const double faster =
      profile.nominal_ghz > 0 ? std::max(1.0, reached.ghz / profile.nominal_ghz) : 1.0;
  ArithmeticPeaks peaks = profile.nominal;
  for (double* rate :
       {&peaks.f32_fma, &peaks.bf16_dot, &peaks.int8_dot, &peaks.amx_bf16, &peaks.amx_int8})
    *rate *= faster;
  return peaks;
}

int64_t last_level_cache_bytes(const DeviceProfile& profile) {
  int64_t bytes = 0;
  for (const CacheLevel& level : profile.caches) {
    if (level.bytes > 0) bytes = level.bytes * instances(level, profile.cores);
  }
  return bytes;
}

double bandwidth_for(const MeasuredPeaks& peaks, const DeviceProfile& profile,
                     int64_t working_set_bytes, bool writes) {
  for (const CacheLevel& level : profile.caches) {
    if (level.bytes <= 0) continue;
    const int copies = std::min(std::max(peaks.threads, 1), instances(level, profile.cores));
    const double usable = kUsableShare * static_cast<double>(level.bytes) * copies;
    if (static_cast<double>(working_set_bytes) > usable) continue;
    const StreamRates* rates = find_level(peaks, level.name);
    if (rates && rate_of(*rates, writes) > 0) return rate_of(*rates, writes);
  }
  return peaks.streams.empty() ? 0 : rate_of(peaks.streams.back(), writes);
}

}  // namespace nrd
