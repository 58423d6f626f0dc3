// SPDX-License-Identifier: MIT
// src/cli/sweep_report.cpp: lines, the worst cases and why they ran as they did, the spread.
#include "cli/sweep_report.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "workbench/sweep_summary.h"

namespace nrd::cli {
namespace {

constexpr size_t kWorst = 10;

std::vector<SweepPoint> points_of(const SweepTelling& telling, const std::vector<Row>& rows,
                                  const std::vector<RatioRow>& ratios) {
  return sweep_points(rows, ratios, telling.ours(), telling.roofs);
}

// Why the kernel ran: what it says of itself, and why those in front of it did not.
std::string why_it_ran(Session& session, const CaseSpec& spec, const std::string& backend) {
  Expected<Case> c = make_case(spec);
  if (!c) return c.error().message();
  std::string words;
  for (const Explanation& line : session.registry().explain(c->desc, backend)) {
    if (!words.empty()) words += "; ";
    if (line.chosen)
      return words + "the first to accept" + (line.reason.empty() ? "" : ": " + line.reason);
    words += fmt::format("{} does not: {}", line.kernel, line.reason);
  }
  return words;
}

// A point with what a reader needs to go on.
nlohmann::json described(Session& session, const SweepTelling& telling, const SweepPoint& point) {
  nlohmann::json json = to_json(point);
  json["numerics"] = point.row.numerics;
  const auto spec = telling.cases.find(case_text(point.row));
  if (spec == telling.cases.end()) return json;
  json["why"] = why_it_ran(session, spec->second, point.row.backend);
  json["command"] = bench_command(spec->second, telling.backends);
  return json;
}

std::string lines_of(const SweepTelling& telling, const std::vector<Row>& rows,
                     const std::vector<RatioRow>& ratios, size_t number) {
  const std::string of = telling.by_time ? "" : fmt::format("/{}", telling.cases.size());
  const std::string prefix = fmt::format("{:>5}{} ", number, of);
  std::string text;
  for (const SweepPoint& point : points_of(telling, rows, ratios))
    text += prefix + point_line(point) + "\n";
  for (const Row& row : rows)
    if (row.wrong() || (row.backend == telling.ours() && !row.passed()))
      text += fmt::format("{}{} {}: {}: {}\n", prefix, word(row.outcome), row.backend,
                          case_text(row), row.reason);
  return text;
}

nlohmann::json content_of(Session& session, const SweepTelling& telling, const Results& so_far,
                          bool last) {
  const std::vector<SweepPoint> points = points_of(telling, so_far.rows, so_far.ratios);
  nlohmann::json json = {{"op", telling.op},
                         {"seed", telling.seed},
                         {"drawn", telling.cases.size()},
                         {"points", nlohmann::json::array()},
                         {"peers", to_json(spread_of(select(points, false)))},
                         {"roofs", to_json(spread_of(select(points, true)))},
                         {"worst", nlohmann::json::array()}};
  for (bool of_roof : {false, true})
    for (const SweepPoint& point : select(points, of_roof))
      json["points"].push_back(to_json(point));
  if (!last) return json;
  for (bool of_roof : {false, true})
    for (const SweepPoint& point : worst(select(points, of_roof), kWorst))
      json["worst"].push_back(described(session, telling, point));
  return json;
}

void show_worst(Session& session, const SweepTelling& telling,
                const std::vector<SweepPoint>& points) {
  if (points.empty()) return;
  std::cout << (points.front().of_roof ? "\nfarthest from a roof\n"
                                       : "\nworst beside the best peer\n");
  int number = 0;
  for (const SweepPoint& point : worst(points, kWorst)) {
    const nlohmann::json more = described(session, telling, point);
    const std::string kernel =
        fmt::format("        {} {} ({}), {}", point.row.backend, point.row.kernel,
                    point.row.numerics, more.value("why", ""));
    std::cout << fmt::format("{:>3} {}\n", ++number, point_line(point))
              << wrapped(kernel, output_width(), 8) << "        " << more.value("command", "")
              << "\n";
  }
}

void show_wrong(const SweepTelling& telling, const Results& results) {
  for (const Row& row : results.rows) {
    if (!row.wrong()) continue;
    const auto spec = telling.cases.find(case_text(row));
    std::cout << fmt::format(
        "\n{} {}: {}\n  {}\n  {}\n", word(row.outcome), row.backend, case_text(row), row.reason,
        spec == telling.cases.end() ? "" : bench_command(spec->second, {row.backend}));
  }
}

}  // namespace

ReportForm sweep_form(Session& session, const SweepTelling& telling) {
  auto lines = [&telling, number = size_t{0}](const std::vector<Row>& rows,
                                              const std::vector<RatioRow>& ratios) mutable {
    return rows.empty() ? "" : lines_of(telling, rows, ratios, ++number);
  };
  auto content = [&](const Results& so_far, bool last) {
    return content_of(session, telling, so_far, last);
  };
  return {.lines = lines, .field = "sweep", .content = content};
}

void show_sweep(Session& session, const SweepTelling& telling, const Results& results) {
  const std::vector<SweepPoint> points = points_of(telling, results.rows, results.ratios);
  show_worst(session, telling, select(points, false));
  show_worst(session, telling, select(points, true));
  show_wrong(telling, results);
  const std::string done = results.complete()
                               ? fmt::format("{} cases", results.cases_done)
                               : fmt::format("{} of {} cases", results.cases_done, results.cases);
  std::cout << fmt::format("\n{}\n{} of {}, {}; seed {}\n", spread_table(points), done, telling.op,
                           fmt::join(telling.backends, ", "), telling.seed);
  const size_t short_ones =
      points.size() - select(points, false).size() - select(points, true).size();
  if (short_ones > 0)
    std::cout << fmt::format("{} cases without a peer are too short for a roof\n", short_ones);
}

}  // namespace nrd::cli
