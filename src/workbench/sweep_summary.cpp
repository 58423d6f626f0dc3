// SPDX-License-Identifier: MIT
// src/workbench/sweep_summary.cpp
#include "workbench/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "workbench/report.h"

namespace nrd {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

double value(const SweepPoint& point) { return point.ratio.median; }

bool slower(const SweepPoint& a, const SweepPoint& b) { return value(a) < value(b); }

// The smallest ratio of our row: beside peers that passed, else beside a roof.
SweepPoint best_beside(const Row& ours, const std::vector<RatioRow>& ratios,
                       const std::map<std::string, const Row*>& by_backend,
                       const std::vector<std::string>& roofs) {
  SweepPoint best{.row = ours, .against = "", .of_roof = true, .ratio = {}};
  for (const RatioRow& r : ratios) {
    const auto other = by_backend.find(r.against);
    if (r.backend != ours.backend || other == by_backend.end() || r.ratio.median <= 0) continue;
    const bool roof = contains(roofs, r.against);
    if (!roof && !other->second->passed()) continue;  // who is wrong is no measure
    const bool better_kind = best.against.empty() || (best.of_roof && !roof);
    const bool same_kind = !best.against.empty() && best.of_roof == roof;
    if (better_kind || (same_kind && r.ratio.median < best.ratio.median))
      best = {.row = ours, .against = r.against, .of_roof = roof, .ratio = r.ratio};
  }
  if (!best.against.empty()) return best;
  const double share = ours.percent_of_roofline.value_or(0) / 100;
  best.ratio = {share, share, share};
  return best;
}

}  // namespace

std::vector<SweepPoint> sweep_points(const std::vector<Row>& rows,
                                     const std::vector<RatioRow>& ratios, const std::string& ours,
                                     const std::vector<std::string>& roofs) {
  std::map<std::string, std::map<std::string, const Row*>> cases;
  std::map<std::string, std::vector<RatioRow>> ratios_of;
  for (const Row& row : rows) cases[case_text(row)][row.backend] = &row;
  for (const RatioRow& ratio : ratios) ratios_of[ratio.case_text].push_back(ratio);
  std::vector<SweepPoint> points;
  for (const Row& row : rows) {
    if (row.backend != ours || !row.passed() || !row.median_us) continue;
    const std::string name = case_text(row);
    SweepPoint point = best_beside(row, ratios_of[name], cases[name], roofs);
    if (point.ratio.median > 0) points.push_back(std::move(point));
  }
  return points;
}

Spread spread_of(const std::vector<SweepPoint>& points) {
  std::vector<double> values;
  for (const SweepPoint& point : points) values.push_back(value(point));
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const auto level = std::count_if(points.begin(), points.end(),
                                   [](const SweepPoint& point) { return not_slower(point.ratio); });
  return {.count = values.size(),
          .not_slower = static_cast<size_t>(level),
          .worst = *least,
          .p10 = percentile(values, 0.1),
          .median = median(values),
          .geometric_mean = geometric_mean(values),
          .best = *most};
}

std::vector<SweepPoint> select(const std::vector<SweepPoint>& points, bool of_roof,
                               const std::string& op) {
  std::vector<SweepPoint> found;
  for (const SweepPoint& point : points) {
    const bool counts = !of_roof || !point.against.empty() || point.row.bound != "latency";
    if (counts && point.of_roof == of_roof && (op.empty() || point.row.op == op))
      found.push_back(point);
  }
  return found;
}

std::vector<SweepPoint> worst(std::vector<SweepPoint> points, size_t count) {
  std::stable_sort(points.begin(), points.end(), slower);
  if (points.size() > count) points.resize(count);
  return points;
}

std::vector<MeanRatio> mean_ratios(const std::vector<Row>& rows, const std::string& ours) {
  auto counts = [](const Row& row) {
    return row.passed() && !row.slices_us.empty() && !contains(row.flags, kOverNominal);
  };
  std::map<std::string, const Row*> our_rows;
  for (const Row& row : rows)
    if (row.backend == ours && counts(row)) our_rows[case_text(row)] = &row;
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> ratios;
  for (const Row& row : rows) {
    const auto mine = our_rows.find(case_text(row));
    if (row.backend == ours || !counts(row) || mine == our_rows.end()) continue;
    if (!ratios.contains(row.backend)) names.push_back(row.backend);
    ratios[row.backend].push_back(paired_ratio(mine->second->slices_us, row.slices_us).median);
  }
  std::vector<MeanRatio> means;
  for (const std::string& name : names)
    means.push_back({name, ratios[name].size(), geometric_mean(ratios[name])});
  return means;
}

std::string ratio_text(const SweepPoint& point) {
  if (!point.of_roof) return fmt::format("{:.2f}x {}", value(point), point.against);
  const double percent = 100 * value(point);
  return fmt::format("{:.{}f}% of {}", percent, percent < 10 ? 1 : 0,
                     point.against.empty() ? "the roofline" : "a " + point.against);
}

std::string point_line(const SweepPoint& point) {
  return fmt::format("{:<20} {:>8}  {}", ratio_text(point), time_text(*point.row.median_us),
                     case_text(point.row));
}

std::string spread_table(const std::vector<SweepPoint>& points) {
  std::vector<std::string> ops;
  for (const SweepPoint& point : points)
    if (!contains(ops, point.row.op)) ops.push_back(point.row.op);
  std::string out;
  for (bool of_roof : {false, true}) {
    const Spread all = spread_of(select(points, of_roof));
    if (all.count == 0) continue;
    auto line = [&](const std::string& name, const Spread& s) {
      const std::string level =
          of_roof ? "" : fmt::format("{:>8.0f} %", 100.0 * double(s.not_slower) / double(s.count));
      out += fmt::format("  {:<24}{:>6}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}{}\n", name, s.count,
                         s.worst, s.p10, s.median, s.geometric_mean, s.best, level);
    };
    out += fmt::format("{:<26}{:>6}{:>8}{:>8}{:>8}{:>8}{:>8}{}\n",
                       of_roof ? "share of a roof" : "beside the best peer", "cases", "worst",
                       "10th", "median", "geomean", "best", of_roof ? "" : "  not slower");
    if (ops.size() > 1)
      for (const std::string& op : ops)
        if (const Spread one = spread_of(select(points, of_roof, op)); one.count > 0) line(op, one);
    line("all", all);
  }
  return out;
}

nlohmann::json to_json(const SweepPoint& p) {
  return {{"case", case_text(p.row)},
          {"op", p.row.op},
          {"backend", p.row.backend},
          {"against", p.against},
          {"of_roof", p.of_roof},
          {"ratio", p.ratio.median},
          {"low", p.ratio.low},
          {"high", p.ratio.high},
          {"kernel", p.row.kernel},
          {"flops", p.row.flops.value_or(0)},
          {"bytes", p.row.bytes.value_or(0)}};
}

nlohmann::json to_json(const Spread& s) {
  return {{"count", s.count}, {"not_slower", s.not_slower}, {"worst", s.worst},
          {"p10", s.p10},     {"median", s.median},         {"geometric_mean", s.geometric_mean},
          {"best", s.best}};
}

}  // namespace nrd
