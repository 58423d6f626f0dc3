// SPDX-License-Identifier: MIT
// tests/unit/profile_test.cpp: the profile of this machine, the shipped tables, the probes.
// Nothing here asserts a speed, only that figures exist and stand in a sane order.
#include "machine/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "machine/caches.h"
#include "machine/microarch.h"
#include "machine/system_files.h"

namespace nrd {
namespace {

std::string_view name_of(Vendor vendor, int family, int model, int stepping = 0) {
  return model_of({vendor, family, model, stepping}).microarchitecture;
}

TEST(Profile, ModelTableKnowsTheCores) {
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 0x55, 4), "skylake_sp");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 0x55, 7), "cascade_lake");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 106), "ice_lake_sp");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 143), "sapphire_rapids");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 207), "emerald_rapids");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 173), "granite_rapids");
  EXPECT_EQ(name_of(Vendor::kIntel, 6, 151), "alder_lake");
  EXPECT_EQ(name_of(Vendor::kAmd, 23, 1), "zen1");
  EXPECT_EQ(name_of(Vendor::kAmd, 23, 49), "zen2");
  EXPECT_EQ(name_of(Vendor::kAmd, 25, 1), "zen3");
  EXPECT_EQ(name_of(Vendor::kAmd, 25, 17), "zen4");
  EXPECT_EQ(name_of(Vendor::kAmd, 26, 2), "zen5");
  EXPECT_EQ(name_of(Vendor::kArm, 0x41, 0xD0C), "neoverse_n1");
  EXPECT_EQ(name_of(Vendor::kArm, 0x41, 0xD4F), "neoverse_v2");
  EXPECT_EQ(name_of(Vendor::kUnknown, 6, 207), "generic");
  EXPECT_EQ(name_of(Vendor::kAmd, 25, 0xFF), "generic");
}

TEST(Profile, EachModelHasRatesAndAReason) {
  for (Vendor vendor : {Vendor::kIntel, Vendor::kAmd, Vendor::kArm}) {
    for (int family : {6, 0x17, 0x19, 0x1A, 0x41, 0x61, 0xC0}) {
      for (int model = 0; model < 0x1000; ++model) {
        const Model& found = model_of({vendor, family, model, 5});
        if (found.microarchitecture == "generic") continue;
        const CycleRates& rates = cycle_rates_of(found.microarchitecture);
        ASSERT_EQ(rates.microarchitecture, found.microarchitecture);
        EXPECT_GT(rates.f32_128, 0);
        EXPECT_FALSE(rates.reason.empty() || found.reason.empty());
        EXPECT_GT(found.dram_gbps, 0);
      }
    }
  }
}

TEST(Profile, NominalPeaksFollowTheIsaSet) {
  const CycleRates& rates = cycle_rates_of("emerald_rapids");
  IsaSet isa;
  EXPECT_EQ(nominal_peaks(rates, isa, 2).f32_fma, 24);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).int8_dot, 0);
  isa = isa.with(Feature::kAvx2).with(Feature::kFma).with(Feature::kAvxVnni);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).f32_fma, 64);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).int8_dot, 256);
  isa = isa.with(Feature::kAvx512).with(Feature::kAvx512Vnni);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).f32_fma, 128);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).int8_dot, 512);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).amx_bf16, 0);
  isa = isa.with(Feature::kAmxTile).with(Feature::kAmxBf16).with(Feature::kAmxInt8);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).amx_bf16, 2048);
  EXPECT_EQ(nominal_peaks(rates, isa, 2).amx_int8, 4096);
  EXPECT_EQ(cycle_rates_of("no such core").microarchitecture, "generic");
}

// Where dot products of bf16 pay they are the roof of a product, and else no more than f32.
TEST(Profile, NominalPeaksOfBf16) {
  const IsaSet x86 = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kAvx512);
  EXPECT_EQ(nominal_peaks(cycle_rates_of("zen4"), x86, 2).bf16_dot, 0);
  const IsaSet dot = x86.with(Feature::kAvx512Bf16);
  EXPECT_EQ(nominal_peaks(cycle_rates_of("zen4"), dot, 2).bf16_dot, 128);
  EXPECT_EQ(nominal_peaks(cycle_rates_of("emerald_rapids"), dot, 2).bf16_dot, 128);
  const IsaSet arm = IsaSet().with(Feature::kBf16);
  EXPECT_EQ(nominal_peaks(cycle_rates_of("neoverse_n2"), arm, 2).bf16_dot, 128);
  EXPECT_EQ(nominal_peaks(cycle_rates_of("neoverse_n1"), IsaSet(), 2).bf16_dot, 0);
}

TEST(Profile, CpuListsAreCounted) {
  EXPECT_EQ(count_cpu_list("0"), 1);
  EXPECT_EQ(count_cpu_list("0-3,8"), 5);
  EXPECT_EQ(count_cpu_list("0,64-65"), 3);
  EXPECT_EQ(count_cpu_list(""), 0);
  EXPECT_EQ(count_cpu_list("none"), 0);
}

void expect_sane(const std::vector<CacheLevel>& caches) {
  int64_t before = 0;
  for (const CacheLevel& level : caches) {
    if (level.name == "DRAM") continue;
    EXPECT_GT(level.bytes, before) << level.name << ": a farther level is bigger";
    EXPECT_GE(level.sharers, 1) << level.name;
    before = level.bytes;
  }
}

TEST(Profile, CachesAreSane) {
  const std::vector<CacheLevel> caches = host_caches();
  ASSERT_GE(caches.size(), 2u);
  EXPECT_EQ(caches.front().name, "L1");
  EXPECT_GE(caches.front().bytes, 8 << 10);
  EXPECT_LE(caches.front().bytes, 1 << 20);
  EXPECT_EQ(caches.back().name, "DRAM");
  EXPECT_EQ(caches.back().bytes, 0);
  expect_sane(caches);
  expect_sane(caches_from_sysfs());
  expect_sane(caches_from_cpuid());
}

TEST(Profile, HostIsFilled) {
  const DeviceProfile host = DeviceProfile::host(detect_isa());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_FALSE(host.microarchitecture.empty());
  EXPECT_EQ(host.isa, detect_isa());
  EXPECT_GE(host.cores, 1);
  EXPECT_GE(host.nominal_ghz, 0);
  EXPECT_LT(host.nominal_ghz, 20);
  if (host.nominal_ghz > 0) {
    EXPECT_GT(host.nominal.f32_fma, 0);
  }
  EXPECT_GE(last_level_cache_bytes(host), host.caches.front().bytes);
  EXPECT_GT(memory_bytes(), 0);

  const DeviceProfile capped = DeviceProfile::host(*cap_isa(detect_isa(), "baseline"));
  EXPECT_LE(capped.nominal.f32_fma, host.nominal.f32_fma);
  EXPECT_EQ(capped.nominal.int8_dot, 0);
}

// Two cores, private L1 and L2, one shared L3.
DeviceProfile made_up_profile() {
  DeviceProfile profile;
  profile.cores = 2;
  profile.caches = {{"L1", 1000, 1}, {"L2", 10000, 1}, {"L3", 100000, 2}, {"DRAM", 0, 1}};
  return profile;
}
MeasuredPeaks made_up_peaks(int threads) {
  MeasuredPeaks peaks;
  peaks.threads = threads;
  peaks.streams = {
      {"L1", 400, 300, 20}, {"L2", 200, 150, 20}, {"L3", 100, 80, 20}, {"DRAM", 10, 12, 18}};
  return peaks;
}

TEST(Profile, BandwidthPicksTheLevelThatHoldsTheWorkingSet) {
  const DeviceProfile profile = made_up_profile();
  const MeasuredPeaks one = made_up_peaks(1), two = made_up_peaks(2);
  EXPECT_EQ(last_level_cache_bytes(profile), 100000);
  EXPECT_EQ(bandwidth_for(one, profile, 0, false), 400);
  EXPECT_EQ(bandwidth_for(one, profile, 700, false), 400);
  EXPECT_EQ(bandwidth_for(one, profile, 700, true), 300);
  EXPECT_EQ(bandwidth_for(one, profile, 1400, false), 200);
  EXPECT_EQ(bandwidth_for(two, profile, 1400, false), 400) << "a private level for each thread";
  EXPECT_EQ(bandwidth_for(one, profile, 70000, true), 80);
  EXPECT_EQ(bandwidth_for(one, profile, 140000, false), 10);
  EXPECT_EQ(bandwidth_for(two, profile, 140000, false), 10) << "a shared level does not grow";
  EXPECT_EQ(bandwidth_for(two, profile, 140000, true), 18) << "the better of the copies";
}

TEST(Profile, BandwidthWithMissingLevels) {
  const DeviceProfile profile = made_up_profile();
  MeasuredPeaks peaks = made_up_peaks(1);
  peaks.streams.erase(peaks.streams.begin());
  EXPECT_EQ(bandwidth_for(peaks, profile, 100, false), 200) << "the next level that was measured";
  EXPECT_EQ(bandwidth_for(MeasuredPeaks(), profile, 100, false), 0);
  EXPECT_EQ(bandwidth_for(peaks, DeviceProfile(), 100, false), 10);
  EXPECT_EQ(last_level_cache_bytes(DeviceProfile()), 0);
}

void expect_peaks(const DeviceProfile& profile, int threads) {
  const MeasuredPeaks peaks = measure_peaks(profile, threads, 0.2);
  EXPECT_EQ(peaks.threads, std::min(threads, profile.cores));
  const IsaSet isa = profile.isa;
  EXPECT_GT(peaks.arithmetic.f32_fma, 0);
  EXPECT_TRUE(peaks.ghz > 0 && peaks.ghz < 10) << peaks.ghz;  // little, where others work
  const bool int8 =
      isa.has(Feature::kAvxVnni) || isa.has(Feature::kAvx512Vnni) || isa.has(Feature::kDotprod);
  EXPECT_EQ(peaks.arithmetic.int8_dot > 0, int8);
  const bool bf16 = isa.has(Feature::kAvx512Bf16) || isa.has(Feature::kBf16);
  EXPECT_EQ(peaks.arithmetic.bf16_dot > 0, bf16);
  EXPECT_EQ(peaks.arithmetic.amx_bf16 > 0, isa.has(Feature::kAmxBf16));
  EXPECT_EQ(peaks.arithmetic.amx_int8 > 0, isa.has(Feature::kAmxInt8));
  ASSERT_EQ(peaks.streams.size(), profile.caches.size());
  for (size_t i = 0; i < peaks.streams.size(); ++i) {
    const StreamRates& rates = peaks.streams[i];
    EXPECT_EQ(rates.level, profile.caches[i].name);
    EXPECT_GT(rates.read, 0) << rates.level;
    EXPECT_GT(rates.copy, 0) << rates.level;
    EXPECT_GT(rates.copy_nt, 0) << rates.level;
  }
  EXPECT_EQ(bandwidth_for(peaks, profile, 4096, false), peaks.streams.front().read);
  EXPECT_EQ(bandwidth_for(peaks, profile, int64_t{1} << 40, false), peaks.streams.back().read);
}

TEST(Peaks, AreMeasuredAtEachLevelOfThisMachine) {
  for (const IsaLevel& level : isa_levels()) {
    const Expected<IsaSet> isa = cap_isa(detect_isa(), level.word);
    if (!isa) continue;
    SCOPED_TRACE(std::string(level.word));
    expect_peaks(DeviceProfile::host(*isa), 1);
  }
  expect_peaks(DeviceProfile::host(detect_isa()), 2);
}

// A core that boosts has a higher limit; one that is held down keeps the nominal one.
TEST(Peaks, TheNominalLimitFollowsTheClock) {
  DeviceProfile profile;
  profile.nominal_ghz = 2;
  profile.nominal = {.f32_fma = 64, .bf16_dot = 128, .int8_dot = 256, .amx_bf16 = 0, .amx_int8 = 0};
  MeasuredPeaks reached;
  reached.ghz = 3;
  EXPECT_DOUBLE_EQ(nominal_at_clock(profile, reached).f32_fma, 96);
  EXPECT_DOUBLE_EQ(nominal_at_clock(profile, reached).int8_dot, 384);
  reached.ghz = 1;
  EXPECT_DOUBLE_EQ(nominal_at_clock(profile, reached).f32_fma, 64);
  profile.nominal_ghz = 0;  // unknown
  reached.ghz = 3;
  EXPECT_DOUBLE_EQ(nominal_at_clock(profile, reached).f32_fma, 64);
}

TEST(Peaks, AProfileOfAnotherMachineRunsNothingThisOneLacks) {
  DeviceProfile profile = DeviceProfile::host(detect_isa());
  profile.isa = IsaSet(~0u);
  const MeasuredPeaks peaks = measure_peaks(profile, 1, 0);
  EXPECT_GT(peaks.arithmetic.f32_fma, 0);
  EXPECT_EQ(peaks.arithmetic.amx_int8 > 0, detect_isa().has(Feature::kAmxInt8));
}

}  // namespace
}  // namespace nrd
