// SPDX-License-Identifier: MIT
// src/workbench/profile.cpp: the only file of the workbench that reads a timer around kernels.
#include "workbench/profile.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace nrd {
namespace {

using Clock = std::chrono::steady_clock;

// A sample should be this long: the clock costs about 30 ns, so under 0.2 % of it.
constexpr double kSampleUs = 20;
// The worker may have come to another core: its caches, predictors and clock take a few
// milliseconds. Half as long as the slice itself makes a 2.5 ms product read right within 1 %.
constexpr double kWarmShare = 0.5;
// More samples than this a slice tell nothing new.
constexpr size_t kMaxSamples = 1000;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

int cold_sets(const Case& c, int64_t last_level_bytes) {
  constexpr double kMaxBytes = 3e9;
  const double bytes = std::max(64.0, cost(c.desc).bytes());
  // Twice the cache between two uses of the same set; an exclusive cache adds its L2.
  const double wanted = 1 + std::ceil(2.0 * static_cast<double>(last_level_bytes) / bytes);
  const double most = std::max(1.0, std::floor(kMaxBytes / bytes));
  return static_cast<int>(std::clamp(wanted, 1.0, std::min(most, 4096.0)));
}

// Restored behind each call, so that a cold set is cold again when its turn comes.
double Profiler::restored_batch_us(int calls) {
  double total_us = 0;
  for (int i = 0; i < calls && failure_; i++) {
    const auto start = Clock::now();
    failure_ = runner_.run(next_set_);
    total_us += us_since(start);
    if (failure_) failure_ = runner_.restore(next_set_);
    next_set();
  }
  return total_us / calls;
}

double Profiler::batch_us(int calls) {
  if (runner_.needs_restoring()) return restored_batch_us(calls);
  auto start = Clock::now();
  for (int i = 0; i < calls; i++) {
    if (Expected<void> ran = runner_.run(next_set_); !ran) {
      failure_ = ran.error();
      break;
    }
    next_set();
  }
  return us_since(start) / calls;
}

Expected<Slice> Profiler::slice(double milliseconds) {
  const auto start = Clock::now();
  const double slice_us = milliseconds * 1000;
  double call_us = 0;
  do {
    call_us = batch_us(cold_ ? runner_.sets() : 1);
    if (!failure_) return failure_.error();
  } while (us_since(start) < kWarmShare * slice_us);
  if (batch_ == 0) batch_ = std::max(1, static_cast<int>(kSampleUs / std::max(call_us, 0.001)));
  Slice slice;
  const auto begin = Clock::now();
  do {
    slice.samples_us.push_back(batch_us(batch_));
    if (!failure_) return failure_.error();
  } while (us_since(begin) < slice_us && slice.samples_us.size() < kMaxSamples);
  return slice;
}

}  // namespace nrd
