// SPDX-License-Identifier: MIT
// src/workbench/report_html_svg.cpp: scales, ticks and shapes of the report's inline SVG.
#include "workbench/report_html_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nrd::html {
namespace {

constexpr std::size_t kSeries = 8;   // colours in the style sheet
constexpr std::size_t kMarkers = 5;  // shapes below; the pair repeats after 40 backends

std::vector<double> multiples(const LogScale& scale, std::initializer_list<double> factors) {
  std::vector<double> out;
  const int first = static_cast<int>(std::floor(std::log10(scale.low)));
  const int last = static_cast<int>(std::ceil(std::log10(scale.high)));
  const int step = std::max(1, (last - first + 5) / 7);
  for (int power = first; power <= last; ++power) {
    if (factors.size() == 1 && (power - first) % step != 0) continue;
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, power);
      if (scale.holds(tick)) out.push_back(tick);
    }
  }
  return out;
}

// 1e-07 -> 1e-7, 20000 -> 2e4.
std::string short_power(double value) {
  const int power = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  return fmt::format("{:g}e{}", value / std::pow(10.0, power), power);
}

}  // namespace

double LogScale::share(double value) const { return std::log(value / low) / std::log(high / low); }

LogScale scale_around(const std::vector<double>& values, double pad) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  double low = *least, high = *most;
  if (high / low < 2) {
    const double widen = std::sqrt(2 / (high / low));
    low /= widen;
    high *= widen;
  }
  const double factor = std::pow(high / low, pad);
  return {low / factor, high * factor};
}

std::vector<double> ticks(const LogScale& scale) {
  const std::vector<double> decades = multiples(scale, {1.0});
  if (decades.size() >= 3) return decades;
  const std::vector<double> three = multiples(scale, {1.0, 2.0, 5.0});
  return three.size() >= 2 ? three : multiples(scale, {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0});
}

std::string percent(double share) { return fmt::format("{:.2f}%", share * 100); }

std::string tick_text(double value) {
  if (value >= 1e4 || value < 1e-3) return short_power(value);
  return fmt::format("{:g}", value);
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes) {
  return fmt::format(R"(<line class="{}" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"/>)", classes,
                     percent(x1), y1, percent(x2), y2);
}

std::string svg_text(const std::string& x, double y, const std::string& classes,
                     const std::string& words, const std::string& more) {
  return fmt::format(R"(<text class="{}" x="{}" y="{:.1f}"{}{}>{}</text>)", classes, x, y,
                     more.empty() ? "" : " ", more, escape(words));
}

std::string svg_title(const std::string& words) { return "<title>" + escape(words) + "</title>"; }

std::string series_class(std::size_t series) { return fmt::format("s{}", series % kSeries); }

std::string marker(std::size_t series, double x, double y, const std::string& title,
                   const std::string& classes) {
  return fmt::format(R"(<use class="mark {} {}" href="#m{}" x="{}" y="{:.1f}">{}</use>)",
                     series_class(series), classes, series % kMarkers, percent(x), y,
                     svg_title(title));
}

std::string failed_marker(double x, double y, const std::string& title) {
  return fmt::format(R"(<use class="mark-bad" href="#m-bad" x="{}" y="{:.1f}">{}</use>)",
                     percent(x), y, svg_title(title));
}

std::string marker_definitions() {
  return R"(<svg class="definitions" width="0" height="0" aria-hidden="true"><defs>
<circle id="m0" r="5"/>
<rect id="m1" x="-4.5" y="-4.5" width="9" height="9"/>
<path id="m2" d="M0-6 5.6 4.5-5.6 4.5z"/>
<path id="m3" d="M0-6.2 6.2 0 0 6.2-6.2 0z"/>
<path id="m4" d="M0 6 5.6-4.5-5.6-4.5z"/>
<path id="m-bad" d="M-5-5 5 5M-5 5 5-5"/>
</defs></svg>
)";
}

std::string svg(double height, const std::string& description, const std::string& body) {
  return fmt::format(
      "<svg class=\"plot\" role=\"img\" width=\"100%\" height=\"{:.0f}\" aria-label=\"{}\">\n{}"
      "</svg>\n",
      height, escape(description), body);
}

std::string svg_with_axis(double height, const std::string& description, const std::string& body,
                          const std::vector<std::pair<double, std::string>>& labels) {
  std::string axis;
  for (const auto& [y, words] : labels) {
    axis += svg_text("100%", y + 4, "tick", words, R"(dx="-8" text-anchor="end")");
  }
  return fmt::format(
      "<div class=\"with-axis\"><svg class=\"axis\" width=\"52\" height=\"{:.0f}\" "
      "aria-hidden=\"true\">{}</svg>{}</div>\n",
      height, axis, svg(height, description, body));
}

}  // namespace nrd::html
