// SPDX-License-Identifier: MIT
// src/workbench/compare.cpp: matches rows by identity and judges their slices.
#include "workbench/compare.h"

#include <fmt/format.h>

#include <map>

#include "base/files.h"
#include "workbench/json_fields.h"
#include "workbench/result.h"

namespace nrd {
namespace {

using nlohmann::json;

// What makes two rows the same row.
std::string identity(const json& row) {
  std::string words = case_text(row);
  for (const char* key : {"backend", "isa"})
    if (const std::string part = text(row, key); !part.empty()) words += " " + part;
  return words;
}

std::map<std::string, json> by_identity(const json& report) {
  std::map<std::string, json> rows;
  for (const json& row : report.at("results")) rows[identity(row)] = row;
  return rows;
}

std::vector<double> slices(const json& row) {
  std::vector<double> found;
  for (const json& value : list(row, "slices_us"))
    if (value.is_number()) found.push_back(value);
  return found;
}

Change judge(const std::string& name, const json& before, const json& after, double tolerance) {
  Change change{.row = name, .verdict = "", .detail = "", .ratio = {}};
  const std::string was = text(before, "verdict"), is = text(after, "verdict");
  if (was == "pass" && is != "pass") {
    change.verdict = "failing";
    change.detail = text(after, "reason");
    return change;
  }
  if (was != "pass" && is == "pass") {
    change.verdict = "fixed";
    return change;
  }
  const std::vector<double> old_us = slices(before), new_us = slices(after);
  if (old_us.empty() || new_us.empty()) {
    change.verdict = "same";
    change.detail = was == "pass" ? "not timed" : is;
    return change;
  }
  change.ratio = unpaired_ratio(new_us, old_us);
  change.verdict = judge_change(change.ratio, tolerance);
  return change;
}

Error bad_file(const std::string& path, std::string got, std::string hint = "") {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = path,
                     .got = std::move(got),
                     .allowed = "a file written by `nereid bench --json`",
                     .hint = std::move(hint)});
}

}  // namespace

bool Changes::regressed() const {
  for (const Change& c : changes)
    if (c.verdict == "slower" || c.verdict == "failing") return true;
  return false;
}

Expected<Changes> compare_results(const json& before, const json& after, double tolerance) {
  Changes changes;
  const std::map<std::string, json> old_rows = by_identity(before), new_rows = by_identity(after);
  for (const auto& [name, row] : new_rows) {
    auto old_row = old_rows.find(name);
    if (old_row == old_rows.end())
      changes.changes.push_back({.row = name, .verdict = "new", .detail = "", .ratio = {}});
    else
      changes.changes.push_back(judge(name, old_row->second, row, tolerance));
  }
  for (const auto& [name, row] : old_rows)
    if (!new_rows.contains(name))
      changes.changes.push_back({.row = name, .verdict = "missing", .detail = "", .ratio = {}});
  return changes;
}

Expected<json> read_results(const std::string& path) {
  Expected<std::string> content = read_file(path);
  if (!content) return bad_file(path, content.error().got);
  json document = json::parse(*content, nullptr, false);
  if (document.is_discarded())
    return bad_file(path, "text that is not whole JSON", "was the run that wrote it interrupted?");
  if (!document.is_object() || !document.contains("schema") || !document.contains("results") ||
      !document["results"].is_array())
    return bad_file(path, "JSON of another kind");
  if (document["schema"] != 1)
    return bad_file(path, "schema " + document["schema"].dump(), "this version reads schema 1");
  for (const json& row : document["results"])
    if (!row.is_object()) return bad_file(path, "a result that is no object");
  return document;
}

}  // namespace nrd
