// SPDX-License-Identifier: MIT
// src/workbench/report_html_accuracy.cpp: errors of each operator and type, as dots on lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd::html {
namespace {

constexpr double kTop = 26, kLane = 44;
constexpr double kZero = 0.03;  // where an error of exactly zero stands, left of the log axis
constexpr double kFirst = 0.10;
constexpr double kStep = 3;  // backends stand a little above each other, so that none hides another
constexpr std::size_t kMostLanes = 40;

using Measure = Number (*)(const Row&);

struct Lane {
  std::string label;
  Number tolerance;
  std::vector<const Row*> rows;
};

// The worst that is allowed for the type of the output; operators may be held to less.
Number ceiling(const std::string& dtype) {
  const std::size_t arrow = dtype.rfind("->");
  const std::string output = arrow == std::string::npos ? dtype : dtype.substr(arrow + 2);
  if (output == "f32") return 1e-4;
  if (output == "f16" || output == "bf16") return 1e-2;
  return {};
}

std::vector<Lane> lanes(const Model& model, Measure measure) {
  std::vector<Lane> out;
  std::map<std::string, std::size_t> known;
  for (const Row& row : model.rows) {
    if (!measure(row)) continue;
    const std::string label = row.op + " " + row.dtype;
    const auto [found, added] = known.try_emplace(label, out.size());
    if (added) {
      if (out.size() == kMostLanes) {
        known.erase(found);
        continue;
      }
      out.push_back({label, row.tolerance ? row.tolerance : ceiling(row.dtype), {}});
    }
    out[found->second].rows.push_back(&row);
  }
  return out;
}

double place(const LogScale& scale, double value) {
  if (value <= 0) return kZero;
  return kFirst + (1 - kFirst) * std::clamp(scale.share(value), 0.0, 1.0);
}

std::string axis(const LogScale& scale, double height) {
  std::string out = svg_text(percent(kZero), 12, "tick middle", "0");
  out += svg_line(kZero, kTop - 6, kZero, height, "grid");
  for (const double tick : ticks(scale)) {
    const double x = place(scale, tick);
    out += svg_line(x, kTop - 6, x, height, "grid");
    out += svg_text(percent(x), 12, "tick middle", tick_text(tick));
  }
  return out + "\n";
}

std::string lane_body(const Model& model, const Lane& lane, Measure measure, const LogScale& scale,
                      double y, bool tolerance) {
  std::string out = svg_text("0", y + 10, "label halo", shorten(lane.label, 56));
  const double line = y + 26;
  out += svg_line(0, line, 1, line, "lane");
  if (tolerance && lane.tolerance) {
    const double x = place(scale, *lane.tolerance);
    out += fmt::format("<g>{}{}</g>",
                       svg_title(fmt::format("tolerance {}", error_text(*lane.tolerance))),
                       svg_line(x, line - 9, x, line + 9, "tolerance"));
  }
  for (const Row* row : lane.rows) {
    const double value = *measure(*row);
    const std::string title = fmt::format("{}: {}, {}", row->backend,
                                          model.cases[row->case_index].full, error_text(value));
    const double x = place(scale, value);
    const std::size_t series = model.series(row->backend);
    const double height = line + kStep * (static_cast<double>(series % 5) - 2);
    out += row->verdict == Verdict::kFail ? failed_marker(x, height, "failed: " + title)
                                          : marker(series, x, height, title);
  }
  return out + "\n";
}

std::string accuracy_figure(const Model& model, const std::string& title,
                            const std::string& caption, Measure measure, bool tolerance) {
  const std::vector<Lane> all = lanes(model, measure);
  std::vector<double> values;
  for (const Lane& lane : all) {
    for (const Row* row : lane.rows) {
      if (*measure(*row) > 0) values.push_back(*measure(*row));
    }
    if (tolerance && lane.tolerance) values.push_back(*lane.tolerance);
  }
  if (all.empty()) return "";
  if (values.empty()) values.push_back(1);
  const LogScale scale = scale_around(values, 0.06);
  const double height = kTop + kLane * static_cast<double>(all.size());
  std::string body = axis(scale, height);
  double y = kTop;
  for (const Lane& lane : all) {
    body += lane_body(model, lane, measure, scale, y, tolerance);
    y += kLane;
  }
  return figure(
      title, caption,
      legend(model) +
          svg(height, fmt::format("{} of {} operators and types", title, all.size()), body));
}

}  // namespace

std::string accuracy_figures(const Model& model) {
  const auto relative = [](const Row& row) { return row.l2_rel ? row.l2_rel : row.max_rel; };
  const auto ulp = [](const Row& row) { return row.ulp_p99; };
  return accuracy_figure(model, "Error",
                         "Relative L2 error against the definition in double. The tick is the "
                         "tolerance (where the report has none, the type’s ceiling), which the "
                         "checker applies to each element; a cross failed.",
                         relative, true) +
         accuracy_figure(model, "Units in the last place",
                         "99th percentile of the distance in ulp of the output type; zero means "
                         "equal bits.",
                         ulp, false);
}

}  // namespace nrd::html
