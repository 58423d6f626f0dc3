// SPDX-License-Identifier: MIT
// src/workbench/report_table.cpp: the columns of a row, and the terminal's table.
#include <fmt/format.h>

#include <algorithm>

#include "workbench/report.h"
#include "workbench/report_columns.h"

namespace nrd {
namespace {

using Rows = std::vector<Row>;
using Ratios = std::vector<RatioRow>;
using Figure = std::optional<double>;

constexpr const char* kGreen = "\033[32m";
constexpr const char* kRed = "\033[31m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kReset = "\033[0m";
constexpr size_t kLongestCell = 20;  // names of plug-ins are of any length
constexpr const char* kNotTaken = "-";

std::string figure(Figure value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : kNotTaken;
}

// Three significant digits without an exponent for the usual sizes.
std::string rate(Figure value) {
  if (!value) return kNotTaken;
  return fmt::format("{:.{}f}", *value, *value >= 100 ? 0 : *value >= 10 ? 1 : 2);
}

std::string speed_up(const Row& row, const Ratios& ratios) {
  for (const RatioRow& r : ratios)
    if (r.case_text == case_text(row) && r.backend == row.backend)
      return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", r.ratio.median, r.ratio.low, r.ratio.high);
  return "";
}

std::string time_cell(const Row& row) {
  return row.median_us ? time_text(*row.median_us) : kNotTaken;
}

std::string spread_cell(const Row& row) {
  if (!row.median_us || !row.p10_us || !row.p90_us || *row.median_us <= 0) return kNotTaken;
  return fmt::format("{:.0f}%", 100 * (*row.p90_us - *row.p10_us) / 2 / *row.median_us);
}

const char* verdict_color(Outcome outcome) {
  if (outcome == Outcome::kPass) return kGreen;
  return outcome == Outcome::kSkipped ? kDim : kRed;
}

std::string padded(const std::string& cell, size_t width, bool right) {
  return right ? fmt::format("{:>{}}", cell, width) : fmt::format("{:<{}}", cell, width);
}

std::string cut(const std::string& cell) {
  return cell.size() <= kLongestCell ? cell : cell.substr(0, kLongestCell - 2) + "..";
}

// The columns that fit, by index: whatever says something about one of the rows, least weight left
// out first.
std::vector<size_t> fitting(const std::vector<size_t>& widths, const std::vector<bool>& says,
                            size_t width) {
  std::vector<size_t> kept;
  size_t total = 1;
  for (size_t i = 0; i < widths.size(); i++) {
    if (!says[i]) continue;
    kept.push_back(i);
    total += 1 + widths[i];
  }
  while (total > width) {
    auto least = std::min_element(kept.begin(), kept.end(), [](size_t a, size_t b) {
      return columns()[a].weight < columns()[b].weight;
    });
    if (least == kept.end() || columns()[*least].weight == kKept) break;
    total -= 1 + widths[*least];
    kept.erase(least);
  }
  return kept;
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {
      {"backend", [](const Row& r, const Ratios&) { return r.backend; }, kKept, false},
      {"kernel", [](const Row& r, const Ratios&) { return r.kernel; }, 6, false},
      {"time", [](const Row& r, const Ratios&) { return time_cell(r); }, kKept},
      {"+-", [](const Row& r, const Ratios&) { return spread_cell(r); }, 3},
      {"speed-up", speed_up, kKept},
      {"GFLOP/s", [](const Row& r, const Ratios&) { return rate(r.gflops); }, 7},
      {"GB/s", [](const Row& r, const Ratios&) { return rate(r.gbps); }, 5},
      {"roof", [](const Row& r, const Ratios&) { return figure(r.percent_of_roofline, "{:.0f}%"); },
       8},
      {"bound", [](const Row& r, const Ratios&) { return r.bound; }, 1, false},
      {"max abs", [](const Row& r, const Ratios&) { return figure(r.max_abs, "{:.1e}"); }, 2},
      {"rel L2", [](const Row& r, const Ratios&) { return figure(r.l2_rel, "{:.1e}"); }, 4},
      {"check", [](const Row& r, const Ratios&) { return std::string(word(r.outcome)); }, kKept,
       false},
  };
  return list;
}

std::string remark(const Row& row) {
  std::string words = row.passed() ? row.note : row.reason;
  for (const std::string& flag : row.flags) words += (words.empty() ? "" : "; ") + flag;
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

std::string TableReport::paint(const char* code, const std::string& text) const {
  return color_ ? code + text + kReset : text;
}

std::string TableReport::block(const Rows& rows, const Ratios& ratios) {
  std::vector<std::vector<std::string>> cells;
  std::vector<bool> says(columns().size());
  widths_.resize(columns().size());
  for (size_t i = 0; i < columns().size(); i++) {
    cells.emplace_back();
    for (const Row& row : rows) {
      const std::string cell = columns()[i].cell(row, ratios);
      cells[i].push_back(columns()[i].right ? cell : cut(cell));  // a figure is never cut
    }
    for (const std::string& cell : cells[i]) {
      says[i] = says[i] || (!cell.empty() && cell != kNotTaken);
      widths_[i] = std::max({widths_[i], columns()[i].title.size(), cell.size()});
    }
  }
  const std::vector<size_t> shown = fitting(widths_, says, width_);
  auto line = [&](auto cell) {
    std::string text = " ";
    for (size_t i : shown) text += " " + cell(i);
    while (text.ends_with(' ')) text.pop_back();
    return text + "\n";
  };
  std::string out = "\n" + paint(kBold, wrapped(case_text(rows.front()), width_, 4));
  out += paint(kDim, line([&](size_t i) {
                 return padded(columns()[i].title, widths_[i], columns()[i].right);
               }));
  for (size_t r = 0; r < rows.size(); r++) {
    out += line([&](size_t i) {
      const std::string cell = padded(cells[i][r], widths_[i], columns()[i].right);
      return columns()[i].title == "check" ? paint(verdict_color(rows[r].outcome), cell) : cell;
    });
    if (const std::string words = remark(rows[r]); !words.empty())
      out += paint(kDim, wrapped("      " + words, width_, 6));
  }
  return out;
}

std::string TableReport::rows(const Rows& rows, const Ratios& ratios) {
  std::string out;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && case_text(rows[end]) == case_text(rows[begin])) end++;
    out += block(
        {rows.begin() + static_cast<int64_t>(begin), rows.begin() + static_cast<int64_t>(end)},
        ratios);
  }
  return out;
}

}  // namespace nrd
