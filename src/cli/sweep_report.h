// SPDX-License-Identifier: MIT
// src/cli/sweep_report.h: what a sweep shows while it runs and at its end.
#pragma once

#include <map>

#include "cli/report.h"
#include "cli/session.h"

namespace nrd::cli {

// Of one sweep; lives as long as it runs.
struct SweepTelling {
  std::string op;
  uint64_t seed = 0;
  std::vector<std::string> backends;      // ours first
  std::vector<std::string> roofs;         // those of them that compute nothing
  bool by_time = false;                   // it ends when its time is over
  std::map<std::string, CaseSpec> cases;  // by case_text

  const std::string& ours() const { return backends.front(); }
};

// A line a case, and "sweep" in JSON.
ReportForm sweep_form(Session& session, const SweepTelling& telling);
// The worst ten, what is wrong, and the spread.
void show_sweep(Session& session, const SweepTelling& telling, const Results& results);

}  // namespace nrd::cli
