// SPDX-License-Identifier: MIT
// src/workbench/compare.cpp: matches rows by identity and judges their slices.
#include "workbench/compare.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace nrd {
namespace {

using nlohmann::json;

// A stored file may hold anything; a field of another type counts as absent.
std::string word(const json& row, const char* key) {
  auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

// SPEC section 6: what makes two rows the same row.
std::string identity(const json& row) {
  std::string text;
  for (const char* key : {"op", "shape", "dtype", "options", "backend", "isa", "cache", "regime"}) {
    const std::string part = word(row, key);
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  }
  auto threads = row.find("threads");
  return text + " threads=" + (threads == row.end() ? "1" : threads->dump());
}

std::map<std::string, json> by_identity(const json& report) {
  std::map<std::string, json> rows;
  for (const json& row : report.at("results")) rows[identity(row)] = row;
  return rows;
}

std::vector<double> slices(const json& row) {
  std::vector<double> list;
  auto found = row.find("slices_us");
  if (found == row.end() || !found->is_array()) return list;
  for (const json& value : *found)
    if (value.is_number()) list.push_back(value);
  return list;
}

Change judge(const std::string& name, const json& before, const json& after, double tolerance) {
  Change change{.row = name, .verdict = "", .detail = "", .ratio = {}};
  const std::string was = word(before, "verdict"), is = word(after, "verdict");
  if (was == "pass" && is != "pass") {
    change.verdict = "failing";
    change.detail = word(after, "reason");
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
  std::ifstream file(path);
  if (!file) return bad_file(path, fmt::format("{}", std::strerror(errno)));
  json document = json::parse(file, nullptr, false);
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
