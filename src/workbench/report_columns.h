// SPDX-License-Identifier: MIT
// src/workbench/report_columns.h: what the terminal's table and Markdown say of a row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workbench/json_fields.h"
#include "workbench/result.h"

namespace nrd {

struct Column {
  std::string title;
  // `ratios` holds those of the row's case, among others.
  std::function<std::string(const nlohmann::json& row, const std::vector<nlohmann::json>& ratios)>
      cell;
  // Where columns are left out, the lowest goes first; those of kKept stay.
  int weight;
  bool right = true;
};
constexpr int kKept = 100;

const std::vector<Column>& columns();

// The kernel's note, or why the row did not pass; and its flags.
std::string remark(const nlohmann::json& row);

}  // namespace nrd
