// SPDX-License-Identifier: MIT
// src/workbench/result.h: one row of a report, as JSON names its fields.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workbench/check.h"
#include "workbench/stats.h"

namespace nrd {

enum class Outcome { kPass, kFail, kSkipped, kError };
std::string_view word(Outcome outcome);

struct Row {
  // Identity.
  std::string op, shape, dtype, options, backend, isa, cache, regime = "eager";
  int threads = 1;
  std::string device = "cpu";
  // What happened. Only kPass is ok; a timed row that fails its check keeps its times.
  Outcome outcome = Outcome::kError;
  std::string reason;
  std::string kernel, note, numerics;
  std::optional<Verdict> accuracy;
  // What was measured; what was not taken is null.
  std::vector<double> slices_us;
  std::optional<double> median_us, p10_us, p90_us, prepare_us;
  std::optional<double> gflops, gbps, percent_of_nominal, percent_of_roofline;
  std::optional<double> workspace_bytes, peak_bytes;
  // On a device: how calls were timed ("events around a graph of 64 calls"), the mean clock and
  // power meanwhile, and what that clock allows.
  std::string timing;
  std::optional<double> sm_mhz, watts, percent_of_clock_peak;
  std::optional<bool> throttled;
  double flops = 0, bytes = 0;
  std::string bound;
  std::vector<std::string> flags;

  std::string case_text() const;  // identity without the backend and its ISA
};

struct RatioRow {
  std::string case_text, backend, against;
  Ratio ratio;
};

struct Results {
  std::vector<Row> rows;
  std::vector<RatioRow> ratios;
  size_t cases = 0, cases_done = 0;  // fewer are done where the run was interrupted

  bool complete() const { return cases_done == cases; }
  bool all_ok() const;  // every row passed or was skipped because a backend is not here
};

nlohmann::json to_json(const Row& row);
std::string case_text(const nlohmann::json& row);  // of a row as it is stored
nlohmann::json to_json(const RatioRow& ratio);

}  // namespace nrd
