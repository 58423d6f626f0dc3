// SPDX-License-Identifier: MIT
// src/workbench/report_html_roofline.cpp: arithmetic intensity against GFLOP/s under the roofs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd::html {
namespace {

constexpr double kHeight = 400, kTop = 34, kBottom = 360;
constexpr std::size_t kMostPlots = 4;
constexpr double kLetter = 13;  // least distance between two labels

struct Roof {
  std::string name;
  double value = 0;  // GB/s or GFLOP/s
  bool nominal = false;
};

struct Roofs {
  std::vector<Roof> bandwidth, compute;

  double top(bool nominal) const {
    double best = 0;
    for (const Roof& roof : compute) {
      if (roof.nominal == nominal) best = std::max(best, roof.value);
    }
    return best;
  }
};

struct Plane {
  LogScale x, y;
  double at_y(double gflops) const { return kBottom - y.share(gflops) * (kBottom - kTop); }
};

void add_roof(std::vector<Roof>& roofs, const std::string& name, const Number& value,
              bool nominal) {
  if (value && *value > 0) roofs.push_back({name, *value, nominal});
}

Number best_stream(const Json& stream) {
  Number best;
  for (const char* key : {"read", "copy", "copy_nt"}) {
    const Number value = number(stream, key);
    if (value && (!best || *value > *best)) best = value;
  }
  return best;
}

bool any_numerics(const std::vector<const Row*>& rows, const char* word) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row* row) { return row->numerics.find(word) != std::string::npos; });
}

Roofs read_roofs(const Json& environment, const std::string& threads,
                 const std::vector<const Row*>& rows) {
  Roofs roofs;
  const Json& nominal = member(environment, "nominal");
  const double count = std::max(1.0, std::atof(threads.c_str()));
  const bool int8 = any_numerics(rows, "int8"), amx = any_numerics(rows, "amx"),
             bf16 = any_numerics(rows, "bf16_dot");
  const auto add_nominal = [&](const char* name, const char* key) {
    add_roof(roofs.compute, name, number(nominal, key).value_or(0) * count, true);
  };
  add_nominal("f32", "f32_gflops_per_core");
  if (bf16) add_nominal("bf16", "bf16_dot_gflops_per_core");
  if (int8) add_nominal("int8", "int8_gops_per_core");
  if (amx) add_nominal("AMX bf16", "amx_bf16_gflops_per_core");
  add_roof(roofs.bandwidth, "DRAM", number(nominal, "dram_gbps"), true);
  for (const Json& entry : list(environment, "measured")) {
    if (text(entry, "threads") != threads) continue;
    add_roof(roofs.compute, "f32", number(entry, "f32_gflops"), false);
    if (bf16) add_roof(roofs.compute, "bf16", number(entry, "bf16_dot_gflops"), false);
    if (int8) add_roof(roofs.compute, "int8", number(entry, "int8_gops"), false);
    if (amx) add_roof(roofs.compute, "AMX bf16", number(entry, "amx_bf16_gflops"), false);
    for (const Json& stream : list(entry, "streams")) {
      add_roof(roofs.bandwidth, text(stream, "level"), best_stream(stream), false);
    }
  }
  return roofs;
}

Plane make_plane(const std::vector<const Row*>& rows, const Roofs& roofs) {
  std::vector<double> x, y;
  for (const Row* row : rows) {
    x.push_back(*row->intensity());
    y.push_back(*row->gflops);
  }
  for (const Roof& roof : roofs.compute) y.push_back(roof.value);
  for (const bool nominal : {true, false}) {
    const double top = roofs.top(nominal);
    if (top == 0) continue;
    for (const Roof& roof : roofs.bandwidth) {
      if (roof.nominal == nominal) x.push_back(top / roof.value);  // the ridge
    }
  }
  return {scale_around(x, 0.08), scale_around(y, 0.07)};
}

std::string grid(const Plane& plane) {
  std::string out;
  for (const double tick : ticks(plane.x)) {
    const double x = plane.x.share(tick);
    out += svg_line(x, kTop, x, kBottom, "grid");
    out += svg_text(percent(x), kBottom + 18, "tick middle", tick_text(tick));
  }
  for (const double tick : ticks(plane.y)) {
    out += svg_line(0, plane.at_y(tick), 1, plane.at_y(tick), "grid");
  }
  out += svg_text("100%", kHeight - 4, "tick end", "FLOP per byte");
  return out + "\n";
}

// Moves a label down (or up) until it is clear of those already placed.
double free_place(std::vector<double>& taken, double y, double step) {
  const auto blocked = [&] {
    return std::any_of(taken.begin(), taken.end(),
                       [&](double other) { return std::fabs(other - y) < kLetter; });
  };
  while (blocked()) y += step;
  taken.push_back(y);
  return y;
}

std::vector<Roof> highest_first(std::vector<Roof> roofs) {
  std::sort(roofs.begin(), roofs.end(),
            [](const Roof& a, const Roof& b) { return a.value > b.value; });
  return roofs;
}

std::string roof_words(const Roof& roof, const char* unit) {
  return fmt::format("{}{} {} {}", roof.name, roof.nominal ? " nominal" : "",
                     significant(roof.value), unit);
}

const char* roof_style(const Roof& roof) { return roof.nominal ? "roof nominal" : "roof"; }

std::string bandwidth_roofs(const Plane& plane, const Roofs& roofs) {
  std::string lines, labels;
  std::vector<double> taken;
  for (const Roof& roof : highest_first(roofs.bandwidth)) {
    const double top = roofs.top(roof.nominal) > 0 ? roofs.top(roof.nominal) : plane.y.high;
    const double from = std::max(plane.x.low, plane.y.low / roof.value);
    const double to = std::min(plane.x.high, top / roof.value);
    if (from >= to) continue;
    const double start = plane.at_y(from * roof.value);
    const std::string words = roof_words(roof, "GB/s");
    lines += fmt::format("<g>{}{}</g>", svg_title(words),
                         svg_line(plane.x.share(from), start, plane.x.share(to),
                                  plane.at_y(to * roof.value), roof_style(roof)));
    const bool from_left = start + 14 < kBottom;  // else it enters through the floor
    const double y =
        from_left ? free_place(taken, start + 14, 1) : free_place(taken, kBottom - 5, -1);
    labels += svg_text(percent(plane.x.share(from)), y, "roof-label halo", words,
                       from_left ? R"(dx="5")" : R"(dx="16")");
  }
  return lines + labels + "\n";
}

// The labels stand above the highest roof, in its order, clear of the points below.
std::string compute_roofs(const Plane& plane, const Roofs& roofs) {
  const std::vector<Roof> order = highest_first(roofs.compute);
  std::string out;
  double label = order.empty() ? 0 : plane.at_y(order.front().value) - 6;
  label -= kLetter * (static_cast<double>(order.size()) - 1);
  for (const Roof& roof : order) {
    double widest = 0;
    for (const Roof& other : roofs.bandwidth) {
      if (other.nominal == roof.nominal) widest = std::max(widest, other.value);
    }
    const double ridge = widest > 0 ? std::max(plane.x.low, roof.value / widest) : plane.x.low;
    const double y = plane.at_y(roof.value);
    out += svg_line(plane.x.share(std::min(ridge, plane.x.high)), y, 1, y, roof_style(roof));
    const char* unit = roof.name == "int8" ? "GOP/s" : "GFLOP/s";
    out += svg_text("100%", label, "roof-label end", roof_words(roof, unit), R"(dx="-4")");
    label += kLetter;
  }
  return out + "\n";
}

std::string points(const Model& model, const Plane& plane, const std::vector<const Row*>& rows) {
  std::string out;
  for (const Row* row : rows) {
    const std::string share =
        row->roofline ? fmt::format(", {:.0f} % of roofline", *row->roofline) : "";
    out += marker(model.series(row->backend), plane.x.share(*row->intensity()),
                  plane.at_y(*row->gflops),
                  fmt::format("{}: {}, {} GFLOP/s at {} FLOP per byte{}", row->backend,
                              model.cases[row->case_index].full, significant(*row->gflops),
                              significant(*row->intensity()), share));
  }
  return out + "\n";
}

std::string one_roofline(const Model& model, const std::string& threads,
                         const std::vector<const Row*>& rows) {
  const Roofs roofs = read_roofs(model.environment, threads, rows);
  const Plane plane = make_plane(rows, roofs);
  std::vector<std::pair<double, std::string>> labels;
  for (const double tick : ticks(plane.y)) {
    labels.emplace_back(plane.at_y(tick), tick_text(tick));
  }
  const std::string where =
      threads.empty() ? "" : fmt::format(", {} {}", threads, threads == "1" ? "thread" : "threads");
  std::string caption = "GFLOP/s over arithmetic intensity.";
  if (!roofs.compute.empty() || !roofs.bandwidth.empty()) {
    caption += " Solid roofs were measured in this run, dashed ones are nominal.";
  }
  const std::string body = grid(plane) + bandwidth_roofs(plane, roofs) +
                           compute_roofs(plane, roofs) + points(model, plane, rows);
  return figure(
      "Roofline" + escape(where), caption,
      legend(model) + svg_with_axis(kHeight, fmt::format("Roofline plot of {} rows", rows.size()),
                                    body, labels));
}

}  // namespace

std::string roofline_figures(const Model& model) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Row*>> by_threads;
  for (const Row& row : model.rows) {
    if (!row.passed() || !row.gflops || *row.gflops <= 0 || !row.intensity()) continue;
    auto& rows = by_threads[row.threads];
    if (rows.empty()) order.push_back(row.threads);
    rows.push_back(&row);
  }
  if (order.size() > kMostPlots) order.resize(kMostPlots);
  std::string out;
  for (const std::string& threads : order) out += one_roofline(model, threads, by_threads[threads]);
  return out;
}

}  // namespace nrd::html
