// SPDX-License-Identifier: MIT
// src/workbench/stats.h: medians, percentiles, and ratios with an interval.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace nrd {

// Linear interpolation between order statistics; 0 of nothing. p in [0, 1].
double percentile(std::vector<double> values, double p);
inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }
double geometric_mean(std::span<const double> values);

struct Ratio {
  double median = 0;
  double low = 0;  // bootstrap 95 % interval
  double high = 0;
};

// How many times faster `ours` is: the median over slices of theirs / ours, slice by slice as
// they were interleaved. Bootstrapped with a fixed seed, so a report is reproducible.
Ratio paired_ratio(std::span<const double> ours_us, std::span<const double> theirs_us);

// The same for two runs that were not interleaved: medians of resampled slices.
Ratio unpaired_ratio(std::span<const double> new_us, std::span<const double> old_us);

// "Not slower" means that the interval reaches 1 and the median is no less than this.
constexpr double kNotSlower = 0.97;
bool not_slower(const Ratio& ratio);

// Of a new time against an old one: faster, slower, same or unclear. `tolerance` is the change
// that does not matter (0.03).
std::string_view judge_change(const Ratio& ratio, double tolerance);

}  // namespace nrd
