// SPDX-License-Identifier: MIT
// src/workbench/report.cpp: terminal table, Markdown and CSV.
#include "workbench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "workbench/case.h"

namespace nrd {
namespace {

using nlohmann::json;

constexpr const char* kGreen = "\033[32m";
constexpr const char* kRed = "\033[31m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kReset = "\033[0m";

std::string text(const json& row, const char* key) {
  auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string figure(const json& row, const char* key, const char* format) {
  auto found = row.find(key);
  if (found == row.end() || !found->is_number()) return "-";
  return fmt::format(fmt::runtime(format), found->get<double>());
}

// Three significant digits without an exponent for the usual sizes.
std::string rate(const json& row, const char* key) {
  auto found = row.find(key);
  if (found == row.end() || !found->is_number()) return "-";
  const double v = found->get<double>();
  return fmt::format(fmt::runtime(v >= 100 ? "{:.0f}" : v >= 10 ? "{:.1f}" : "{:.2f}"), v);
}

std::string case_text(const json& row) {
  std::string options = text(row, "options");
  return fmt::format("{} {} {}{}{} {}", text(row, "op"), text(row, "shape"), text(row, "dtype"),
                     options.empty() ? "" : " ", options,
                     conditions_text(text(row, "device"), row.value("threads", 1),
                                     text(row, "cache"), text(row, "regime")));
}

std::string speed_up(const json& report, const json& row) {
  if (!report.contains("ratios")) return "";
  for (const json& r : report["ratios"]) {
    if (r.value("case", "") != case_text(row) || r.value("backend", "") != text(row, "backend"))
      continue;
    return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", r.value("median", 0.0), r.value("low", 0.0),
                       r.value("high", 0.0));
  }
  return "";
}

struct Column {
  std::string title;
  std::function<std::string(const json& report, const json& row)> cell;
  bool right = true;
};

std::string time_cell(const json& row) {
  auto found = row.find("median_us");
  return found != row.end() && found->is_number() ? time_text(*found) : "-";
}

std::string spread_cell(const json& row) {
  if (!row.value("p10_us", json()).is_number() || !row.value("median_us", json()).is_number())
    return "-";
  const double m = row["median_us"], low = row["p10_us"], high = row["p90_us"];
  return m > 0 ? fmt::format("{:.0f}%", 100 * (high - low) / 2 / m) : "-";
}

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {
      {"backend", [](const json&, const json& r) { return text(r, "backend"); }, false},
      {"kernel", [](const json&, const json& r) { return text(r, "kernel"); }, false},
      {"time", [](const json&, const json& r) { return time_cell(r); }},
      {"+-", [](const json&, const json& r) { return spread_cell(r); }},
      {"speed-up", [](const json& all, const json& r) { return speed_up(all, r); }},
      {"GFLOP/s", [](const json&, const json& r) { return rate(r, "gflops"); }},
      {"GB/s", [](const json&, const json& r) { return rate(r, "gbps"); }},
      {"roof",
       [](const json&, const json& r) { return figure(r, "percent_of_roofline", "{:.0f}%"); }},
      {"bound", [](const json&, const json& r) { return text(r, "bound"); }, false},
      {"max abs", [](const json&, const json& r) { return figure(r, "max_abs", "{:.1e}"); }},
      {"rel L2", [](const json&, const json& r) { return figure(r, "l2_rel", "{:.1e}"); }},
      {"check", [](const json&, const json& r) { return text(r, "verdict"); }, false},
  };
  return list;
}

std::string remark(const json& row) {
  std::string words = text(row, "verdict") == "pass" ? text(row, "note") : text(row, "reason");
  if (row.contains("flags"))
    for (const json& flag : row["flags"])
      words += (words.empty() ? "" : "; ") + flag.get<std::string>();
  return words;
}

const char* verdict_color(const std::string& verdict) {
  if (verdict == "pass") return kGreen;
  return verdict == "skipped" ? kDim : kRed;
}

// Cells of one case's rows, with the widths that fit all rows of the report.
std::string padded(const std::string& cell, size_t width, bool right) {
  return right ? fmt::format("{:>{}}", cell, width) : fmt::format("{:<{}}", cell, width);
}

}  // namespace

std::string time_text(double us) {
  if (us < 1) return fmt::format("{:.0f} ns", us * 1e3);
  if (us < 1e3) return fmt::format("{:.{}f} us", us, us < 10 ? 2 : us < 100 ? 1 : 0);
  if (us < 1e6) return fmt::format("{:.{}f} ms", us * 1e-3, us < 1e4 ? 2 : us < 1e5 ? 1 : 0);
  return fmt::format("{:.2f} s", us * 1e-6);
}

std::string render_table(const json& report, bool color) {
  auto paint = [&](const char* code, const std::string& s) {
    return color ? code + s + kReset : s;
  };
  const json& rows = report.at("results");
  std::vector<size_t> widths;
  for (const Column& c : columns()) {
    size_t width = c.title.size();
    for (const json& row : rows) width = std::max(width, c.cell(report, row).size());
    widths.push_back(width);
  }
  std::string out, last_case;
  for (const json& row : rows) {
    if (case_text(row) != last_case) {
      last_case = case_text(row);
      out += fmt::format("\n{}\n", paint(kBold, last_case));
      std::string header = " ";
      for (size_t i = 0; i < columns().size(); i++)
        header += " " + padded(columns()[i].title, widths[i], columns()[i].right);
      out += paint(kDim, header) + "\n";
    }
    std::string line = " ";
    for (size_t i = 0; i < columns().size(); i++) {
      std::string cell = padded(columns()[i].cell(report, row), widths[i], columns()[i].right);
      if (columns()[i].title == "check") cell = paint(verdict_color(text(row, "verdict")), cell);
      line += " " + cell;
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
    if (std::string words = remark(row); !words.empty())
      out += paint(kDim, "      " + words) + "\n";
  }
  return out;
}

std::string render_markdown(const json& report) {
  const json environment = report.value("environment", json::object());
  std::string out = fmt::format("{} · {} · {} · nereid {}\n\n", environment.value("cpu", "?"),
                                environment.value("isa", "?"), environment.value("date", "?"),
                                environment.value("nereid_version", "?"));
  out += "| case |";
  std::string rule = "|---|";
  for (const Column& c : columns()) {
    out += fmt::format(" {} |", c.title);
    rule += c.right ? "---:|" : "---|";
  }
  out += " remark |\n" + rule + "---|\n";
  auto escape = [](std::string s) {
    for (size_t at = 0; (at = s.find('|', at)) != s.npos; at += 2) s.insert(at, "\\");
    std::replace(s.begin(), s.end(), '\n', ' ');
    return s;
  };
  for (const json& row : report.at("results")) {
    out += "| " + escape(case_text(row)) + " |";
    for (const Column& c : columns()) out += " " + escape(c.cell(report, row)) + " |";
    out += " " + escape(remark(row)) + " |\n";
  }
  return out;
}

std::string render_csv(const json& report) {
  // clang-format off
  static const char* const kFields[] = {
      "op", "shape", "dtype", "options", "backend", "isa", "threads", "ok", "verdict", "reason",
      "median_us", "p10_us", "p90_us", "prepare_us", "gflops", "gbps", "percent_of_nominal",
      "percent_of_roofline", "max_abs", "max_rel", "l2_rel", "ulp_p50", "ulp_p99",
      "workspace_bytes", "peak_bytes", "cache", "regime", "numerics", "kernel", "bound", "note",
      "device", "timing", "sm_clock_mhz", "watts", "percent_of_clock_peak", "flags", "slices_us"};
  // clang-format on
  auto quoted = [](const json& value) {
    std::string s = value.is_string() ? value.get<std::string>()
                    : value.is_null() ? ""
                                      : value.dump();
    if (s.find_first_of(",\"\n\r") == s.npos) return s;
    for (size_t at = 0; (at = s.find('"', at)) != s.npos; at += 2) s.insert(at, "\"");
    return "\"" + s + "\"";
  };
  std::string out;
  for (const char* field : kFields) out += (out.empty() ? "" : ",") + std::string(field);
  out += "\n";
  for (const json& row : report.at("results")) {
    std::string line;
    for (const char* field : kFields)
      line += (field == kFields[0] ? "" : ",") + quoted(row.value(field, json()));
    out += line + "\n";
  }
  return out;
}

}  // namespace nrd
