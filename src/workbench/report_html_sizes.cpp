// SPDX-License-Identifier: MIT
// src/workbench/report_html_sizes.cpp: time against size, a small plot for each swept axis.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd::html {
namespace {

constexpr double kHeight = 258, kTop = 8, kBottom = 222;
constexpr std::size_t kLeastSizes = 3, kMostPlots = 18;

struct Point {
  double size = 0;
  const Row* row = nullptr;
};

struct Sweep {
  std::string title, axis;
  std::vector<Point> points;
};

using Rows = std::vector<const Row*>;

std::string setting(const Row& row) {
  std::string out = row.op;
  for (const std::string& part : {row.dtype, row.options}) {
    if (!part.empty()) out += " " + part;
  }
  if (!row.threads.empty()) out += fmt::format(", {} thr", row.threads);
  for (const std::string& part : {row.cache, row.regime}) {
    if (!part.empty()) out += ", " + part;
  }
  return out;
}

std::size_t sizes_in(const std::vector<Point>& points) {
  std::set<double> sizes;
  for (const Point& point : points) sizes.insert(point.size);
  return sizes.size();
}

// The sweeps along `axis`: rows whose other axes are equal.
std::map<std::string, std::vector<Point>> sweeps_along(const Rows& rows, const std::string& axis) {
  std::map<std::string, std::vector<Point>> out;
  for (const Row* row : rows) {
    std::string others;
    double size = 0;
    for (const auto& [name, value] : shape_axes(row->shape)) {
      if (name == axis) {
        size = value;
      } else {
        others += fmt::format("{}{}={:g}", others.empty() ? "" : ",", name, value);
      }
    }
    if (size > 0) out[others].push_back({size, row});
  }
  std::erase_if(out, [](const auto& item) { return sizes_in(item.second) < kLeastSizes; });
  return out;
}

// Several axes move together: the bytes touched stand for the size.
std::vector<Point> by_bytes(const Rows& rows) {
  std::vector<Point> out;
  for (const Row* row : rows) {
    if (row->bytes && *row->bytes > 0) out.push_back({*row->bytes, row});
  }
  return out;
}

void add_sweeps(const std::string& title, const Rows& rows, std::vector<Sweep>& out) {
  std::set<std::string> axes;
  for (const Row* row : rows) {
    for (const auto& [name, value] : shape_axes(row->shape)) axes.insert(name);
  }
  std::size_t covered = 0;
  std::string best;
  for (const std::string& axis : axes) {
    std::size_t points = 0;
    for (const auto& [others, sweep] : sweeps_along(rows, axis)) points += sweep.size();
    if (points <= covered) continue;
    covered = points;
    best = axis;
  }
  if (!best.empty()) {
    for (auto& [others, points] : sweeps_along(rows, best)) {
      out.push_back({title + (others.empty() ? "" : ", " + others), best, std::move(points)});
    }
    return;
  }
  std::vector<Point> points = by_bytes(rows);
  if (sizes_in(points) >= kLeastSizes) out.push_back({title, "bytes touched", std::move(points)});
}

std::vector<Sweep> find_sweeps(const Model& model) {
  std::vector<std::string> order;
  std::map<std::string, Rows> settings;
  for (const Row& row : model.rows) {
    if (!row.passed() || !row.median_us || *row.median_us <= 0) continue;
    Rows& rows = settings[setting(row)];
    if (rows.empty()) order.push_back(setting(row));
    rows.push_back(&row);
  }
  std::vector<Sweep> out;
  for (const std::string& name : order) add_sweeps(name, settings[name], out);
  return out;
}

std::string size_text(const std::string& axis, double size) {
  return axis == "bytes touched" ? bytes_text(size) : fmt::format("{:g}", size);
}

std::string tick_duration(double us) {
  if (us < 1) return fmt::format("{:.3g} ns", us * 1e3);
  if (us < 1e3) return fmt::format("{:.3g} µs", us);
  return us < 1e6 ? fmt::format("{:.3g} ms", us / 1e3) : fmt::format("{:g} s", us / 1e6);
}

// Ticks at the sizes themselves while there is room for their labels.
std::string size_axis(const Sweep& sweep, const LogScale& scale) {
  std::set<double> sizes;
  for (const Point& point : sweep.points) sizes.insert(point.size);
  std::string out;
  double last = -1;
  for (const double size : sizes) {
    const double x = scale.share(size);
    out += svg_line(x, kTop, x, kBottom, "grid");
    if (x - last < 0.14) continue;
    last = x;
    out += svg_text(percent(x), kBottom + 18, "tick middle", size_text(sweep.axis, size));
  }
  return out;
}

std::string line_of(const Model& model, std::vector<const Point*> points, const LogScale& x,
                    const LogScale& y) {
  std::sort(points.begin(), points.end(),
            [](const Point* a, const Point* b) { return a->size < b->size; });
  const auto height = [&](double us) { return kBottom - y.share(us) * (kBottom - kTop); };
  std::string lines, marks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Row& row = *points[i]->row;
    const std::size_t series = model.series(row.backend);
    const double px = x.share(points[i]->size), py = height(*row.median_us);
    if (i > 0) {
      lines += svg_line(x.share(points[i - 1]->size), height(*points[i - 1]->row->median_us), px,
                        py, "line " + series_class(series));
    }
    if (row.p10_us && row.p90_us && *row.p10_us > 0) {
      lines +=
          svg_line(px, height(std::clamp(*row.p10_us, y.low, y.high)), px,
                   height(std::clamp(*row.p90_us, y.low, y.high)), "range " + series_class(series));
    }
    marks += marker(
        series, px, py,
        fmt::format("{}: {}, {}", row.backend, row.shape, duration_text(*row.median_us)), "small");
  }
  return lines + marks + "\n";
}

std::string size_plot(const Model& model, const Sweep& sweep) {
  std::vector<double> sizes, times;
  for (const Point& point : sweep.points) {
    sizes.push_back(point.size);
    times.push_back(*point.row->median_us);
  }
  const LogScale x = scale_around(sizes, 0.07), y = scale_around(times, 0.1);
  std::string body = size_axis(sweep, x);
  std::vector<std::pair<double, std::string>> labels;
  for (const double tick : ticks(y)) {
    const double height = kBottom - y.share(tick) * (kBottom - kTop);
    body += svg_line(0, height, 1, height, "grid");
    labels.emplace_back(height, tick_duration(tick));
  }
  for (const std::string& backend : model.backends) {
    std::vector<const Point*> mine;
    for (const Point& point : sweep.points) {
      if (point.row->backend == backend) mine.push_back(&point);
    }
    body += line_of(model, std::move(mine), x, y);
  }
  body += svg_text("100%", kHeight - 0.5, "tick end", sweep.axis);
  return fmt::format(
      "<figure class=\"small\"><figcaption><h4>{}</h4></figcaption>\n{}</figure>\n",
      escape(sweep.title),
      svg_with_axis(kHeight, "Time against " + sweep.axis + " for " + sweep.title, body, labels));
}

}  // namespace

std::string size_figures(const Model& model) {
  std::vector<Sweep> sweeps = find_sweeps(model);
  if (sweeps.empty()) return "";
  std::string caption =
      "Both axes are logarithmic; upright rules reach from the 10th to the 90th "
      "percentile.";
  if (sweeps.size() > kMostPlots) {
    caption += fmt::format(" The first {} of {} sweeps.", kMostPlots, sweeps.size());
    sweeps.resize(kMostPlots);
  }
  std::string out = fmt::format(
      "<h3>Time against size</h3>\n<p class=\"soft\">{}</p>\n{}"
      "<div class=\"figures three\">\n",
      caption, legend(model));
  for (const Sweep& sweep : sweeps) out += size_plot(model, sweep);
  return out + "</div>\n";
}

}  // namespace nrd::html
