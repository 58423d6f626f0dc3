// SPDX-License-Identifier: MIT
// src/workbench/report.cpp: Markdown and CSV.
#include "workbench/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "workbench/json_fields.h"
#include "workbench/report_columns.h"

namespace nrd {

using nlohmann::json;

std::string time_text(double us) {
  if (us < 1) return fmt::format("{:.0f} ns", us * 1e3);
  if (us < 1e3) return fmt::format("{:.{}f} us", us, us < 10 ? 2 : us < 100 ? 1 : 0);
  if (us < 1e6) return fmt::format("{:.{}f} ms", us * 1e-3, us < 1e4 ? 2 : us < 1e5 ? 1 : 0);
  return fmt::format("{:.2f} s", us * 1e-6);
}

std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::string out, line;
  size_t at = text.find_first_not_of(' ');
  const size_t lead = at == text.npos ? 0 : at;  // the first line's own indentation
  line.assign(lead, ' ');
  for (bool first = true; at != text.npos; first = false) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const bool fits = first || line.size() + 1 + (end - at) <= width;
    if (!fits) {
      out += line + "\n";
      line.assign(indent, ' ');
    } else if (!first) {
      line += ' ';
    }
    line.append(text, at, end - at);
    at = text.find_first_not_of(' ', end);
  }
  return out + line + "\n";
}

std::string markdown_head(const json& environment) {
  auto fact = [&](const char* key) {
    const std::string value = text(environment, key);
    return value.empty() ? "?" : value;
  };
  std::string out = fmt::format("{} · {} · {} · nereid {}\n\n| case |", fact("cpu"), fact("isa"),
                                fact("date"), fact("nereid_version"));
  std::string rule = "|---|";
  for (const Column& c : columns()) {
    out += fmt::format(" {} |", c.title);
    rule += c.right ? "---:|" : "---|";
  }
  return out + " remark |\n" + rule + "---|\n";
}

std::string markdown_rows(const std::vector<Row>& rows, const std::vector<RatioRow>& ratios) {
  auto escape = [](std::string s) {
    for (size_t at = 0; (at = s.find('|', at)) != s.npos; at += 2) s.insert(at, "\\");
    std::replace(s.begin(), s.end(), '\n', ' ');
    return s;
  };
  std::string out;
  for (const Row& row : rows) {
    out += "| " + escape(case_text(row)) + " |";
    for (const Column& c : columns()) out += " " + escape(c.cell(row, ratios)) + " |";
    out += " " + escape(remark(row)) + " |\n";
  }
  return out;
}

namespace {

std::string quoted(const json& value) {
  std::string s = value.is_string() ? value.get<std::string>()
                  : value.is_null() ? ""
                                    : dump_line(value);
  if (s.find_first_of(",\"\n\r") == s.npos) return s;
  for (size_t at = 0; (at = s.find('"', at)) != s.npos; at += 2) s.insert(at, "\"");
  return "\"" + s + "\"";
}

// The fields of a row, then what follows from them.
std::vector<std::string> csv_fields() {
  std::vector<std::string> names;
  const Row row;
  for_each_field(row, [&](const char* name, const auto&) { names.push_back(name); });
  names.insert(names.end(), {"case", "ok"});
  return names;
}

}  // namespace

std::string csv_head() { return fmt::format("{}\n", fmt::join(csv_fields(), ",")); }

std::string csv_rows(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) {
    const json stored = to_json(row);
    std::vector<std::string> cells;
    for (const std::string& name : csv_fields()) cells.push_back(quoted(member(stored, name)));
    out += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return out;
}

}  // namespace nrd
