// SPDX-License-Identifier: MIT
// src/workbench/result.h: Row, one line of every report, and the document that holds all of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/check.h"
#include "workbench/stats.h"

namespace nrd {

enum class Outcome { kPass, kFail, kSkipped, kError };
std::string_view word(Outcome outcome);

// A flag of a row: no hardware can be that fast, so that it counts in no mean.
inline constexpr const char* kOverNominal = "over 100 % of the nominal roofline";

// One backend on one case. Reports, comparisons and summaries work on this type alone, whether it
// was just measured or read back from JSON. What was not taken is empty.
struct Row {
  // Identity: the case, then who ran it.
  std::string op, shape, dtype, options;
  std::string device = "cpu", cache, regime = "eager";
  int threads = 1;
  std::string backend, isa;
  // What happened. Only kPass is ok; a timed row that fails its check keeps its times.
  Outcome outcome = Outcome::kError;
  std::string reason;
  std::string kernel, note, numerics;
  std::vector<std::string> flags;
  // How far off it was, of the first distribution or of the one that failed.
  std::optional<double> max_abs, max_rel, l2_rel, ulp_p50, ulp_p99;
  std::optional<double> tolerance;  // of an element beside its row's largest; none where exact
  std::optional<std::string> first_bad;
  // What was measured.
  std::vector<double> slices_us;  // the median of each slice, in round order
  std::optional<double> median_us, p10_us, p90_us, prepare_us;
  std::optional<double> gflops, gbps, percent_of_nominal, percent_of_roofline;
  std::optional<double> workspace_bytes, peak_bytes;
  std::optional<double> flops, bytes;
  std::string bound;
  // On a device: how calls were timed ("events around a graph of 64 calls"), the mean clock and
  // power meanwhile, and what that clock allows.
  std::string timing;
  std::optional<double> sm_mhz, watts, percent_of_clock_peak;
  std::optional<bool> throttled;

  bool passed() const { return outcome == Outcome::kPass; }
  bool wrong() const { return outcome == Outcome::kFail || outcome == Outcome::kError; }
};

// Every field, with its name in JSON and CSV, in CSV's order.
template <class AnyRow, class Visit>
void for_each_field(AnyRow& row, Visit&& visit) {
  visit("op", row.op);
  visit("shape", row.shape);
  visit("dtype", row.dtype);
  visit("options", row.options);
  visit("backend", row.backend);
  visit("isa", row.isa);
  visit("threads", row.threads);
  visit("verdict", row.outcome);
  visit("reason", row.reason);
  visit("median_us", row.median_us);
  visit("p10_us", row.p10_us);
  visit("p90_us", row.p90_us);
  visit("prepare_us", row.prepare_us);
  visit("gflops", row.gflops);
  visit("gbps", row.gbps);
  visit("percent_of_nominal", row.percent_of_nominal);
  visit("percent_of_roofline", row.percent_of_roofline);
  visit("max_abs", row.max_abs);
  visit("max_rel", row.max_rel);
  visit("l2_rel", row.l2_rel);
  visit("ulp_p50", row.ulp_p50);
  visit("ulp_p99", row.ulp_p99);
  visit("tolerance", row.tolerance);
  visit("first_bad_index", row.first_bad);
  visit("workspace_bytes", row.workspace_bytes);
  visit("peak_bytes", row.peak_bytes);
  visit("flops", row.flops);
  visit("bytes", row.bytes);
  visit("cache", row.cache);
  visit("regime", row.regime);
  visit("numerics", row.numerics);
  visit("kernel", row.kernel);
  visit("bound", row.bound);
  visit("note", row.note);
  visit("device", row.device);
  visit("timing", row.timing);
  visit("sm_clock_mhz", row.sm_mhz);
  visit("watts", row.watts);
  visit("percent_of_clock_peak", row.percent_of_clock_peak);
  visit("throttled", row.throttled);
  visit("flags", row.flags);
  visit("slices_us", row.slices_us);
}

std::string case_text(const Row& row);  // identity without the backend and its ISA
std::string identity(const Row& row);   // what makes two rows the same row

// How many times faster `backend` is than `against`, over paired slices.
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

// "case", "ok" and every field; what is not finite was not taken.
nlohmann::json to_json(const Row& row);
nlohmann::json to_json(const RatioRow& ratio);
// Takes anything: a field that is missing or of another type was not taken.
Row row_from_json(const nlohmann::json& json);
RatioRow ratio_from_json(const nlohmann::json& json);

// What --json writes.
struct Document {
  bool complete = false;
  nlohmann::json environment;
  std::vector<Row> rows;
  std::vector<RatioRow> ratios;
};
Document document_from_json(const nlohmann::json& json);
// Unreadable, half written or foreign files give a clear error.
Expected<Document> read_results(const std::string& path);

}  // namespace nrd
