// SPDX-License-Identifier: MIT
// src/workbench/sweep_summary.h: what the rows of a sweep say: a distribution, and its worst cases.
#pragma once

#include <string>
#include <vector>

#include "workbench/result.h"

namespace nrd {

// Our row of a case beside the best that was measured with it.
struct SweepPoint {
  Row row;
  std::string against;  // the fastest peer; where none serves a roof; "" is the roofline
  bool of_roof = false;
  Ratio ratio;  // how many times as fast as that
};

// One a case that we pass and that was timed. `roofs` are the backends that compute nothing.
std::vector<SweepPoint> sweep_points(const std::vector<Row>& rows,
                                     const std::vector<RatioRow>& ratios, const std::string& ours,
                                     const std::vector<std::string>& roofs);

struct Spread {
  size_t count = 0;
  size_t not_slower = 0;  // as stats.h has it
  double worst = 0, p10 = 0, median = 0, geometric_mean = 0, best = 0;
};
Spread spread_of(const std::vector<SweepPoint>& points);
// Beside peers, or (`of_roof`) of a roof; of one operator, or of all of them (""). Calls so short
// that neither memory nor arithmetic explains their time have no roof and are left out there.
std::vector<SweepPoint> select(const std::vector<SweepPoint>& points, bool of_roof,
                               const std::string& op = "");
std::vector<SweepPoint> worst(std::vector<SweepPoint> points, size_t count);

// How many times as fast `ours` is as each other backend, over the cases that both passed and that
// are no more than possible: the geometric mean of paired ratios, in the order of the rows.
struct MeanRatio {
  std::string against;
  size_t cases = 0;
  double mean = 0;
};
std::vector<MeanRatio> mean_ratios(const std::vector<Row>& rows, const std::string& ours);

std::string ratio_text(const SweepPoint& point);  // "0.98x openblas", "87% of the roofline"
// One line: "0.98x openblas  gemm m=1,n=2,k=3 f32 threads=1 warm  12.3 us".
std::string point_line(const SweepPoint& point);
// Spreads beside peers and of roofs, by operator where there are several.
std::string spread_table(const std::vector<SweepPoint>& points);

nlohmann::json to_json(const SweepPoint& point);
nlohmann::json to_json(const Spread& spread);

}  // namespace nrd
