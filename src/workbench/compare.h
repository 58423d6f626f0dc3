// SPDX-License-Identifier: MIT
// src/workbench/compare.h: two result files against each other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/stats.h"

namespace nrd {

struct Change {
  std::string row;      // the row's identity as text
  std::string verdict;  // faster slower same unclear | fixed, failing (newly), missing, new
  std::string detail;
  Ratio ratio;
};

struct Changes {
  std::vector<Change> changes;
  bool regressed() const;  // something is slower or newly failing
};

Expected<Changes> compare_results(const nlohmann::json& before, const nlohmann::json& after,
                                  double tolerance);

// A results document, checked: unreadable, half written or foreign files give a clear error.
Expected<nlohmann::json> read_results(const std::string& path);

}  // namespace nrd
