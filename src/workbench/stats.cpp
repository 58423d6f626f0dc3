// SPDX-License-Identifier: MIT
// src/workbench/stats.cpp: order statistics and the bootstrap.
#include "workbench/stats.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace nrd {
namespace {

constexpr int kResamples = 2000;

// Draws kResamples values of `one` and takes the middle 95 %.
template <class One>
Ratio bootstrap(double center, One one) {
  std::mt19937_64 random(12345);
  std::vector<double> draws(kResamples);
  for (double& draw : draws) draw = one(random);
  return {center, percentile(draws, 0.025), percentile(draws, 0.975)};
}

std::vector<double> resample(std::span<const double> values, std::mt19937_64& random) {
  std::vector<double> drawn(values.size());
  std::uniform_int_distribution<size_t> pick(0, values.size() - 1);
  for (double& d : drawn) d = values[pick(random)];
  return drawn;
}

}  // namespace

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

Ratio paired_ratio(std::span<const double> ours_us, std::span<const double> theirs_us) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(ours_us.size(), theirs_us.size()); i++)
    if (ours_us[i] > 0) ratios.push_back(theirs_us[i] / ours_us[i]);
  if (ratios.empty()) return {};
  return bootstrap(median(ratios),
                   [&](std::mt19937_64& random) { return median(resample(ratios, random)); });
}

Ratio unpaired_ratio(std::span<const double> new_us, std::span<const double> old_us) {
  if (new_us.empty() || old_us.empty()) return {};
  auto ratio = [](std::vector<double> n, std::vector<double> o) {
    const double bottom = median(std::move(n));
    return bottom > 0 ? median(std::move(o)) / bottom : 0;
  };
  const double center = ratio({new_us.begin(), new_us.end()}, {old_us.begin(), old_us.end()});
  return bootstrap(center, [&](std::mt19937_64& random) {
    std::vector<double> n = resample(new_us, random);
    return ratio(std::move(n), resample(old_us, random));
  });
}

bool not_slower(const Ratio& ratio) { return ratio.high >= 1.0 && ratio.median >= kNotSlower; }

std::string_view judge_change(const Ratio& ratio, double tolerance) {
  const double slow = 1 / (1 + tolerance), fast = 1 + tolerance;
  if (ratio.low >= slow && ratio.high <= fast) return "same";
  if (ratio.low > 1 && ratio.median > fast) return "faster";
  if (ratio.high < 1 && ratio.median < slow) return "slower";
  // The interval holds 1 and the median is within the tolerance: nothing speaks for a change.
  if (ratio.median >= slow && ratio.median <= fast) return "same";
  return "unclear";
}

}  // namespace nrd
