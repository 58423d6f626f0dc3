// SPDX-License-Identifier: MIT
// src/workbench/report_html_svg.h: scales, ticks and shapes of the report's inline SVG.
#pragma once

#include <string>
#include <vector>

#include "workbench/report_html_text.h"

namespace nrd::html {

// Plots have no viewBox: x is in per cent of the width and y in pixels, so that a plot fills a
// phone or a desktop while its letters keep their size.
struct LogScale {
  double low = 1, high = 10;

  double share(double value) const;  // 0 at low, 1 at high
  bool holds(double value) const { return value >= low && value <= high; }
};

// A scale around the values, each end moved out by `pad` of the span (at least two-fold wide).
LogScale scale_around(const std::vector<double>& values, double pad);
std::vector<double> ticks(const LogScale& scale);

std::string percent(double share);  // 0.5 -> "50%"
std::string tick_text(double value);

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes);
std::string svg_text(const std::string& x, double y, const std::string& classes,
                     const std::string& words, const std::string& more = "");
std::string svg_title(const std::string& words);

// The marker of a backend (a <use> of the page's marker definitions), with a tooltip.
std::string marker(std::size_t series, double x, double y, const std::string& title,
                   const std::string& classes = "");
std::string failed_marker(double x, double y, const std::string& title);
std::string marker_definitions();
std::string series_class(std::size_t series);  // "s0" .. "s7"

// <svg> of full width and the given height, described for those who cannot see it.
std::string svg(double height, const std::string& description, const std::string& body);
// The same with a column of labels at its left: {y, words}.
std::string svg_with_axis(double height, const std::string& description, const std::string& body,
                          const std::vector<std::pair<double, std::string>>& labels);

}  // namespace nrd::html
