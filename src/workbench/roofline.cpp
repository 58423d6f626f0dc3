// SPDX-License-Identifier: MIT
// src/workbench/roofline.cpp: how far a time is from what the machine allows.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "workbench/bench.h"

namespace nrd {
namespace {

// Below this a call is mostly call: neither memory nor arithmetic explains its time.
constexpr double kLatencyUs = 0.5;
constexpr double kNoisy = 1.5;

// The arithmetic unit an operator could use at best, by its dtypes.
double peak_rate(const ArithmeticPeaks& peaks, const Desc& desc) {
  const DType first = desc.operands.front().dtype;
  const bool product = desc.op->group == "matrix" || desc.op->group == "fused";
  if (product && (first == DType::kI8 || first == DType::kU8))
    return std::max(peaks.int8_dot, peaks.amx_int8);
  if (product && first == DType::kBF16)
    return std::max({peaks.f32_fma, peaks.bf16_dot, peaks.amx_bf16});
  return peaks.f32_fma;
}

int64_t working_set(const Case& c) {
  // A cold case cycles through more data than any cache holds.
  if (c.spec.cache == CacheState::kCold) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(cost(c.desc).bytes());
}

}  // namespace

const MeasuredPeaks& Roofline::measured(int threads) {
  auto found = measured_.find(threads);
  if (found == measured_.end())
    found = measured_.emplace(threads, measure_peaks(machine_.profile, threads, seconds_)).first;
  return found->second;
}

void Roofline::judge(Row& row, const Case& c) {
  const Cost work = cost(c.desc);
  row.flops = work.flops;
  row.bytes = work.bytes();
  if (!row.median_us || *row.median_us <= 0) return;
  const double us = *row.median_us;
  row.gflops = work.flops / us * 1e-3;
  row.gbps = work.bytes() / us * 1e-3;

  const MeasuredPeaks& peaks = measured(c.spec.threads);
  const double rate = peak_rate(peaks.arithmetic, c.desc);
  const double bandwidth = bandwidth_for(peaks, machine_.profile, working_set(c),
                                         work.bytes_written > 0.1 * work.bytes());
  const double compute_us = rate > 0 ? work.flops / rate * 1e-3 : 0;
  const double memory_us = bandwidth > 0 ? work.bytes() / bandwidth * 1e-3 : 0;
  const double floor_us = std::max(compute_us, memory_us);
  row.bound = floor_us < kLatencyUs ? "latency" : compute_us > memory_us ? "compute" : "memory";
  if (floor_us > 0) row.percent_of_roofline = 100 * floor_us / us;

  const DeviceProfile& p = machine_.profile;
  const double nominal_rate =
      peak_rate(nominal_at_clock(p, peaks), c.desc) * std::min(c.spec.threads, p.cores);
  const bool from_dram = working_set(c) > last_level_cache_bytes(p);
  const double nominal_compute = nominal_rate > 0 ? work.flops / nominal_rate * 1e-3 : 0;
  const double nominal_memory =
      from_dram && p.nominal_dram_gbps > 0 ? work.bytes() / p.nominal_dram_gbps * 1e-3 : 0;
  if (const double nominal = std::max(nominal_compute, nominal_memory); nominal > 0)
    row.percent_of_nominal = 100 * nominal / us;

  if (row.percent_of_roofline.value_or(0) > 100)
    row.flags.push_back("over 100 % of the measured roofline");
  if (row.percent_of_nominal.value_or(0) > 100) row.flags.push_back(kOverNominal);
  if (row.p10_us && *row.p10_us > 0 && *row.p90_us / *row.p10_us > kNoisy)
    row.flags.push_back(fmt::format("noisy: p90 / p10 = {:.1f}", *row.p90_us / *row.p10_us));
}

}  // namespace nrd
