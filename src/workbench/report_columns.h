// SPDX-License-Identifier: MIT
// src/workbench/report_columns.h: what the terminal's table and Markdown say of a row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workbench/result.h"

namespace nrd {

struct Column {
  std::string title;
  // `ratios` holds those of the row's case, among others.
  std::function<std::string(const Row& row, const std::vector<RatioRow>& ratios)> cell;
  // Where columns are left out, the lowest goes first; those of kKept stay.
  int weight;
  bool right = true;
};
constexpr int kKept = 100;

const std::vector<Column>& columns();

// The kernel's note, or why the row did not pass; and its flags.
std::string remark(const Row& row);

}  // namespace nrd
