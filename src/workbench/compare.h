// SPDX-License-Identifier: MIT
// src/workbench/compare.h: two runs against each other.
#pragma once

#include <string>
#include <vector>

#include "workbench/result.h"

namespace nrd {

struct Change {
  std::string row;      // its identity
  std::string verdict;  // faster slower same unclear | fixed, failing (newly), missing, new
  std::string detail;
  Ratio ratio;
};

struct Changes {
  std::vector<Change> changes;
  bool regressed() const;  // something is slower or newly failing
};

Changes compare_results(const std::vector<Row>& before, const std::vector<Row>& after,
                        double tolerance);

}  // namespace nrd
