// SPDX-License-Identifier: MIT
// src/workbench/bench_rows.cpp
#include "workbench/bench_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/device.h"

namespace nrd {

Row make_row(const Case& c, const std::string& backend) {
  Row row;
  row.op = c.desc.op->name;
  row.shape = c.desc.shape_text();
  row.dtype = c.desc.dtype_text();
  row.options = c.options_text();
  row.backend = backend;
  row.device = to_string(c.spec.device);
  row.threads = c.spec.threads;
  row.cache = word(c.spec.cache);
  row.regime = word(c.spec.regime);
  return row;
}

std::vector<Row> error_rows(const BenchOptions& options, const CaseSpec& spec, const Error& error) {
  std::vector<Row> rows;
  for (const std::string& backend : options.backends) {
    Row row;
    row.op = spec.op;
    for (const auto& [key, size] : spec.request.sizes)
      row.shape += fmt::format("{}{}={}", row.shape.empty() ? "" : ",", key, size);
    row.dtype = spec.request.dtypes;
    row.backend = backend;
    row.device = to_string(spec.device);
    row.threads = spec.threads;
    row.cache = word(spec.cache);
    row.regime = word(spec.regime);
    row.reason = error.message();
    rows.push_back(std::move(row));
  }
  return rows;
}

bool is_refusal(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kUnsupportedDtype;
}

void end_row(Row& row, const Error& error, bool absent) {
  const bool skipped = is_refusal(error) || (absent && error.code == ErrorCode::kEnvironment);
  row.outcome = skipped ? Outcome::kSkipped : Outcome::kError;
  row.reason = error.message();
}

Expected<Reference>& References::of(const Case& c) {
  auto found = references_.find(c.spec.distribution);
  if (found == references_.end())
    found = references_.emplace(c.spec.distribution, make_reference(c, available_cores())).first;
  return found->second;
}

// What a check of a part says of the whole.
static std::string sample_flag(const Verdict& verdict) {
  std::string text = "checked on a sample of the outputs";
  if (verdict.finds > 0)
    text +=
        fmt::format("; any one off by {:.2g} % of its row's largest shows", 100 * verdict.finds);
  return text;
}

bool check_row(Row& row, Worker& worker, const nlohmann::json& request, const CaseSpec& spec,
               References& references, bool name_the_data) {
  auto ended = [&](const Error& error) {
    end_row(row, error, false);
    return false;
  };
  Expected<Case> c = make_case(spec);
  if (!c) return ended(c.error());
  // The worker goes first: a case that does not fit into memory ends there.
  Expected<nlohmann::json> ran = worker.request(request);
  if (!ran) return ended(ran.error());
  Expected<Reference>& expected = references.of(*c);
  if (!expected) return ended(expected.error());
  Expected<std::vector<Output>> outputs = worker.outputs(*ran);
  if (!outputs) return ended(outputs.error());
  const RunOutputs all{.outputs = std::move(*outputs),
                       .unwritten = ran->value("unwritten", ""),
                       .damaged = ran->value("damaged", "")};
  Verdict verdict = check_outputs(*c, all, *expected);
  // The figures shown are those of the first distribution, or of the one that failed.
  if (!row.accuracy || !verdict.ok) row.accuracy = verdict;
  if (verdict.ok) {
    if (expected->sampled) row.flags = {sample_flag(verdict)};
    return true;
  }
  row.outcome = Outcome::kFail;
  row.reason = name_the_data
                   ? fmt::format("on {} data: {}", word(spec.distribution), verdict.reason)
                   : verdict.reason;
  return false;
}

void add_ratios(Results& results, const std::vector<Row>& rows, const std::string& baseline) {
  const Row* base = nullptr;
  for (const Row& row : rows)
    if (row.backend == baseline && row.median_us) base = &row;
  if (!base) return;
  for (const Row& row : rows)
    if (&row != base && row.median_us)
      results.ratios.push_back(
          {row.case_text(), row.backend, baseline, paired_ratio(row.slices_us, base->slices_us)});
}

}  // namespace nrd
