// SPDX-License-Identifier: MIT
// src/workbench/report.h: rows as text for people and for spreadsheets.
//
// Each grows: what was given out for the rows of a case does not change when more come. The HTML
// page has its own header, report_html.h.
#pragma once

#include <string>
#include <vector>

#include "workbench/result.h"

namespace nrd {

constexpr size_t kTableWidth = 80;

// Aligned columns, one block a case, not wider than `width`: columns that do not fit are left out,
// those that say least first. Colour where `color`.
class TableReport {
 public:
  explicit TableReport(bool color, size_t width = kTableWidth) : color_(color), width_(width) {}
  // The rows of some cases, and the ratios of these.
  std::string rows(const std::vector<Row>& rows, const std::vector<RatioRow>& ratios);

 private:
  std::string block(const std::vector<Row>& rows, const std::vector<RatioRow>& ratios);
  std::string paint(const char* code, const std::string& text) const;

  bool color_;
  size_t width_;
  std::vector<size_t> widths_;  // of the columns, so far: blocks stand in line with those above
};

std::string markdown_head(const nlohmann::json& environment);
std::string markdown_rows(const std::vector<Row>& rows, const std::vector<RatioRow>& ratios);
// One line a row, every field, full precision, RFC 4180 quoting.
std::string csv_head();
std::string csv_rows(const std::vector<Row>& rows);

// "12.3 us", "4.56 ms": three digits.
std::string time_text(double us);
// Broken at blanks so that no line is longer than `width`; a longer word stays whole. Lines but
// the first begin with `indent` blanks. Ends with a line break.
std::string wrapped(const std::string& text, size_t width, size_t indent);

}  // namespace nrd
