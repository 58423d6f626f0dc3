// SPDX-License-Identifier: MIT
// src/workbench/compare.cpp: matches rows by identity and judges their slices.
#include "workbench/compare.h"

#include <map>

namespace nrd {
namespace {

using RowsByName = std::map<std::string, const Row*>;

RowsByName by_identity(const std::vector<Row>& rows) {
  RowsByName found;
  for (const Row& row : rows) found[identity(row)] = &row;
  return found;
}

Change judge(const std::string& name, const Row& before, const Row& after, double tolerance) {
  Change change{.row = name, .verdict = "", .detail = "", .ratio = {}};
  if (before.passed() != after.passed()) {
    change.verdict = after.passed() ? "fixed" : "failing";
    change.detail = after.passed() ? "" : after.reason;
    return change;
  }
  if (before.slices_us.empty() || after.slices_us.empty()) {
    change.verdict = "same";
    change.detail = before.passed() ? "not timed" : word(after.outcome);
    return change;
  }
  change.ratio = unpaired_ratio(after.slices_us, before.slices_us);
  change.verdict = judge_change(change.ratio, tolerance);
  return change;
}

}  // namespace

bool Changes::regressed() const {
  for (const Change& c : changes)
    if (c.verdict == "slower" || c.verdict == "failing") return true;
  return false;
}

Changes compare_results(const std::vector<Row>& before, const std::vector<Row>& after,
                        double tolerance) {
  Changes changes;
  auto add = [&](const std::string& name, const char* verdict) {
    changes.changes.push_back({.row = name, .verdict = verdict, .detail = "", .ratio = {}});
  };
  const RowsByName old_rows = by_identity(before), new_rows = by_identity(after);
  for (const auto& [name, row] : new_rows) {
    const auto old_row = old_rows.find(name);
    if (old_row == old_rows.end())
      add(name, "new");
    else
      changes.changes.push_back(judge(name, *old_row->second, *row, tolerance));
  }
  for (const auto& [name, row] : old_rows)
    if (!new_rows.contains(name)) add(name, "missing");
  return changes;
}

}  // namespace nrd
