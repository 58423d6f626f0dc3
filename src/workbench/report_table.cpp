// SPDX-License-Identifier: MIT
// src/workbench/report_table.cpp: the columns of a row, and the terminal's table.
#include <fmt/format.h>

#include <algorithm>

#include "workbench/report.h"
#include "workbench/report_columns.h"

namespace nrd {
namespace {

using nlohmann::json;
using Rows = std::vector<json>;

constexpr const char* kGreen = "\033[32m";
constexpr const char* kRed = "\033[31m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kReset = "\033[0m";
constexpr size_t kLongestCell = 20;  // names of plug-ins are of any length
constexpr const char* kNotTaken = "-";

std::string figure(const json& row, const char* key, const char* format) {
  const std::optional<double> value = number(row, key);
  return value ? fmt::format(fmt::runtime(format), *value) : kNotTaken;
}

// Three significant digits without an exponent for the usual sizes.
std::string rate(const json& row, const char* key) {
  const std::optional<double> v = number(row, key);
  if (!v) return kNotTaken;
  return fmt::format("{:.{}f}", *v, *v >= 100 ? 0 : *v >= 10 ? 1 : 2);
}

std::string speed_up(const json& row, const Rows& ratios) {
  for (const json& r : ratios) {
    if (text(r, "case") != case_text(row) || text(r, "backend") != text(row, "backend")) continue;
    return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", number(r, "median").value_or(0),
                       number(r, "low").value_or(0), number(r, "high").value_or(0));
  }
  return "";
}

std::string time_cell(const json& row) {
  const std::optional<double> us = number(row, "median_us");
  return us ? time_text(*us) : kNotTaken;
}

std::string spread_cell(const json& row) {
  const std::optional<double> m = number(row, "median_us"), low = number(row, "p10_us"),
                              high = number(row, "p90_us");
  return m && low && high && *m > 0 ? fmt::format("{:.0f}%", 100 * (*high - *low) / 2 / *m)
                                    : kNotTaken;
}

const char* verdict_color(const std::string& verdict) {
  if (verdict == "pass") return kGreen;
  return verdict == "skipped" ? kDim : kRed;
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
      {"backend", [](const json& r, const Rows&) { return text(r, "backend"); }, kKept, false},
      {"kernel", [](const json& r, const Rows&) { return text(r, "kernel"); }, 6, false},
      {"time", [](const json& r, const Rows&) { return time_cell(r); }, kKept},
      {"+-", [](const json& r, const Rows&) { return spread_cell(r); }, 3},
      {"speed-up", speed_up, kKept},
      {"GFLOP/s", [](const json& r, const Rows&) { return rate(r, "gflops"); }, 7},
      {"GB/s", [](const json& r, const Rows&) { return rate(r, "gbps"); }, 5},
      {"roof",
       [](const json& r, const Rows&) { return figure(r, "percent_of_roofline", "{:.0f}%"); }, 8},
      {"bound", [](const json& r, const Rows&) { return text(r, "bound"); }, 1, false},
      {"max abs", [](const json& r, const Rows&) { return figure(r, "max_abs", "{:.1e}"); }, 2},
      {"rel L2", [](const json& r, const Rows&) { return figure(r, "l2_rel", "{:.1e}"); }, 4},
      {"check", [](const json& r, const Rows&) { return text(r, "verdict"); }, kKept, false},
  };
  return list;
}

std::string remark(const json& row) {
  std::string words = text(row, text(row, "verdict") == "pass" ? "note" : "reason");
  for (const json& flag : list(row, "flags"))
    if (flag.is_string()) words += (words.empty() ? "" : "; ") + flag.get<std::string>();
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

std::string TableReport::paint(const char* code, const std::string& text) const {
  return color_ ? code + text + kReset : text;
}

std::string TableReport::block(const Rows& rows, const Rows& ratios) {
  std::vector<std::vector<std::string>> cells;
  std::vector<bool> says(columns().size());
  widths_.resize(columns().size());
  for (size_t i = 0; i < columns().size(); i++) {
    cells.emplace_back();
    for (const json& row : rows) {
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
      return columns()[i].title == "check" ? paint(verdict_color(text(rows[r], "verdict")), cell)
                                           : cell;
    });
    if (const std::string words = remark(rows[r]); !words.empty())
      out += paint(kDim, wrapped("      " + words, width_, 6));
  }
  return out;
}

std::string TableReport::rows(const Rows& rows, const Rows& ratios) {
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
