// SPDX-License-Identifier: MIT
// src/workbench/result.cpp: rows as JSON.
#include "workbench/result.h"

#include <cmath>

#include "workbench/case.h"
#include "workbench/json_fields.h"

namespace nrd {
namespace {

// JSON has no Inf and no NaN; a figure that is not finite was not taken.
nlohmann::json number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
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

std::string Row::case_text() const {
  return nrd::case_text(
      CaseWords{op, shape, dtype, options, device, std::to_string(threads), cache, regime});
}

std::string case_text(const nlohmann::json& row) {
  return case_text(CaseWords{text(row, "op"), text(row, "shape"), text(row, "dtype"),
                             text(row, "options"), text(row, "device"), text(row, "threads"),
                             text(row, "cache"), text(row, "regime")});
}

bool Results::all_ok() const {
  for (const Row& row : rows)
    if (row.outcome != Outcome::kPass && row.outcome != Outcome::kSkipped) return false;
  return true;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json json = {{"op", row.op},
                         {"shape", row.shape},
                         {"dtype", row.dtype},
                         {"options", row.options},
                         {"backend", row.backend},
                         {"isa", row.isa},
                         {"device", row.device},
                         {"threads", row.threads},
                         {"ok", row.outcome == Outcome::kPass},
                         {"verdict", word(row.outcome)},
                         {"reason", row.reason},
                         {"kernel", row.kernel},
                         {"note", row.note},
                         {"numerics", row.numerics},
                         {"cache", row.cache},
                         {"regime", row.regime},
                         {"timing", row.timing},
                         {"sm_clock_mhz", number(row.sm_mhz)},
                         {"watts", number(row.watts)},
                         {"percent_of_clock_peak", number(row.percent_of_clock_peak)},
                         {"median_us", number(row.median_us)},
                         {"p10_us", number(row.p10_us)},
                         {"p90_us", number(row.p90_us)},
                         {"prepare_us", number(row.prepare_us)},
                         {"gflops", number(row.gflops)},
                         {"gbps", number(row.gbps)},
                         {"percent_of_nominal", number(row.percent_of_nominal)},
                         {"percent_of_roofline", number(row.percent_of_roofline)},
                         {"workspace_bytes", number(row.workspace_bytes)},
                         {"peak_bytes", number(row.peak_bytes)},
                         {"flops", row.flops},
                         {"bytes", row.bytes},
                         {"bound", row.bound},
                         {"flags", row.flags},
                         {"slices_us", row.slices_us}};
  const bool checked = row.accuracy.has_value();
  const Verdict v = row.accuracy.value_or(Verdict{});
  auto figure = [&](double value) { return checked ? number(value) : nlohmann::json(nullptr); };
  json["max_abs"] = figure(v.max_abs);
  json["max_rel"] = figure(v.max_rel);
  json["l2_rel"] = figure(v.l2_rel);
  json["ulp_p50"] = figure(v.ulp_p50);
  json["ulp_p99"] = figure(v.ulp_p99);
  json["first_bad_index"] =
      v.first_bad.empty() ? nlohmann::json(nullptr) : nlohmann::json(v.first_bad);
  return json;
}

nlohmann::json to_json(const RatioRow& r) {
  return {{"case", r.case_text},        {"backend", r.backend},
          {"against", r.against},       {"median", number(r.ratio.median)},
          {"low", number(r.ratio.low)}, {"high", number(r.ratio.high)}};
}

}  // namespace nrd
