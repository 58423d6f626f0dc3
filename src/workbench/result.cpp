// SPDX-License-Identifier: MIT
// src/workbench/result.cpp: rows to JSON and back, by one list of fields.
#include "workbench/result.h"

#include <fmt/format.h>

#include <cmath>

#include "base/files.h"
#include "workbench/case.h"
#include "workbench/json_fields.h"

namespace nrd {
namespace {

using nlohmann::json;

constexpr Outcome kOutcomes[] = {Outcome::kPass, Outcome::kFail, Outcome::kSkipped,
                                 Outcome::kError};

// One overload a type of field, in each direction.
template <class T>
json stored(const T& value) {
  return value;
}
json stored(Outcome outcome) { return word(outcome); }
json stored(std::optional<double> value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);  // JSON has no Inf, no NaN
}
json stored(std::optional<bool> value) { return value ? json(*value) : json(nullptr); }
json stored(const std::optional<std::string>& value) {
  return value ? json(*value) : json(nullptr);
}

void take(const json& from, std::string_view key, std::string& to) { to = text(from, key); }
void take(const json& from, std::string_view key, std::optional<double>& to) {
  to = number(from, key);
}
void take(const json& from, std::string_view key, int& to) {
  to = static_cast<int>(number(from, key).value_or(0));
}
void take(const json& from, std::string_view key, std::optional<bool>& to) {
  const json& value = member(from, key);
  to = value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}
void take(const json& from, std::string_view key, std::optional<std::string>& to) {
  const std::string value = text(from, key);
  to = value.empty() ? std::nullopt : std::optional(value);
}
void take(const json& from, std::string_view key, std::vector<double>& to) {
  for (const json& value : list(from, key))
    if (value.is_number()) to.push_back(value);
}
void take(const json& from, std::string_view key, std::vector<std::string>& to) {
  for (const json& value : list(from, key))
    if (value.is_string()) to.push_back(value);
}
void take(const json& from, std::string_view key, Outcome& to) {
  const std::string value = text(from, key);
  for (Outcome outcome : kOutcomes)
    if (word(outcome) == value) to = outcome;
}

Error bad_file(const std::string& path, std::string got, std::string hint = "") {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = path,
                     .got = std::move(got),
                     .allowed = "a file written by `nereid bench --json`",
                     .hint = std::move(hint)});
}

}  // namespace

std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "pass";
    case Outcome::kFail: return "fail";
    case Outcome::kSkipped: return "skipped";
    case Outcome::kError: return "error";
  }
  return "error";
}

std::string case_text(const Row& row) {
  const std::string threads = row.threads > 0 ? std::to_string(row.threads) : "";
  return case_text(CaseWords{row.op, row.shape, row.dtype, row.options, row.device, threads,
                             row.cache, row.regime});
}

std::string identity(const Row& row) {
  std::string words = case_text(row);
  for (const std::string& part : {row.backend, row.isa})
    if (!part.empty()) words += " " + part;
  return words;
}

bool Results::all_ok() const {
  for (const Row& row : rows)
    if (row.wrong()) return false;
  return true;
}

json to_json(const Row& row) {
  json out = {{"case", case_text(row)}, {"ok", row.passed()}};
  for_each_field(row, [&](const char* name, const auto& value) { out[name] = stored(value); });
  return out;
}

Row row_from_json(const json& from) {
  Row row;
  for_each_field(row, [&](const char* name, auto& value) { take(from, name, value); });
  return row;
}

json to_json(const RatioRow& r) {
  return {{"case", r.case_text},
          {"backend", r.backend},
          {"against", r.against},
          {"median", stored(std::optional(r.ratio.median))},
          {"low", stored(std::optional(r.ratio.low))},
          {"high", stored(std::optional(r.ratio.high))}};
}

RatioRow ratio_from_json(const json& from) {
  const double median = number(from, "median").value_or(0);
  return {text(from, "case"),
          text(from, "backend"),
          text(from, "against"),
          {median, number(from, "low").value_or(median), number(from, "high").value_or(median)}};
}

Document document_from_json(const json& from) {
  Document document;
  const json& complete = member(from, "complete");
  document.complete = complete.is_boolean() && complete.get<bool>();
  const json& environment = member(from, "environment");
  document.environment = environment.is_object() ? environment : json::object();
  for (const json& row : list(from, "results")) document.rows.push_back(row_from_json(row));
  for (const json& ratio : list(from, "ratios")) document.ratios.push_back(ratio_from_json(ratio));
  return document;
}

Expected<Document> read_results(const std::string& path) {
  const Expected<std::string> content = read_file(path);
  if (!content) return bad_file(path, content.error().got);
  const json found = json::parse(*content, nullptr, false);
  if (found.is_discarded())
    return bad_file(path, "text that is not whole JSON", "was the run that wrote it interrupted?");
  if (!found.is_object() || !found.contains("schema") || !found.contains("results") ||
      !found["results"].is_array())
    return bad_file(path, "JSON of another kind");
  if (found["schema"] != 1)
    return bad_file(path, "schema " + found["schema"].dump(), "this version reads schema 1");
  for (const json& row : found["results"])
    if (!row.is_object()) return bad_file(path, "a result that is no object");
  return document_from_json(found);
}

}  // namespace nrd
