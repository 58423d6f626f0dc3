// SPDX-License-Identifier: MIT
// src/workbench/bench_rows.cpp: how a row begins, is checked and ends.
#include "workbench/bench_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/device.h"
#include "base/interrupt.h"

namespace nrd {

// What an element may be off by, beside the largest of its row; nothing where it must be equal.
static std::optional<double> element_tolerance(const Desc& desc) {
  const DType dtype = desc.operands[static_cast<size_t>(desc.signature().inputs)].dtype;
  const Tolerance& tolerance = tolerance_of(desc);
  if (tolerance.exact || !is_float(dtype)) return std::nullopt;
  return tolerance.f32 + (dtype == DType::kF32 ? 0 : std::ldexp(0.5, -info(dtype).mantissa_bits));
}

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
  row.tolerance = element_tolerance(c.desc);
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

static void take_accuracy(Row& row, const Verdict& verdict) {
  row.max_abs = verdict.max_abs;
  row.max_rel = verdict.max_rel;
  row.l2_rel = verdict.l2_rel;
  row.ulp_p50 = verdict.ulp_p50;
  row.ulp_p99 = verdict.ulp_p99;
  if (!verdict.first_bad.empty()) row.first_bad = verdict.first_bad;
}

// Runs what the worker has loaded. False when the row failed or ended.
static bool check_outputs_of(Row& row, Worker& worker, const nlohmann::json& request,
                             const CaseSpec& spec, References& references, bool name_the_data) {
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
  if (!verdict.ok && !expected->widened) {
    if (Expected<void> done = widen_reference(*c, *expected, available_cores()); !done)
      return ended(done.error());
    if (expected->widened) verdict = check_outputs(*c, all, *expected);
  }
  // The figures shown are those of the first distribution, or of the one that failed.
  if (!row.max_abs || !verdict.ok) take_accuracy(row, verdict);
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

static nlohmann::json request_of(const char* verb, const nlohmann::json& about) {
  nlohmann::json request = {{"do", verb}};
  if (about.is_object()) request.update(about);
  return request;
}

Expected<Checked> check_row(Row& row, Worker& worker, const CheckPlan& plan, const Case& c,
                            References& references) {
  for (Distribution distribution : plan.distributions) {
    CaseSpec spec = c.spec;
    spec.distribution = distribution;
    nlohmann::json load = request_of("load", plan.about);
    load["case"] = to_json(spec);
    Expected<nlohmann::json> loaded = worker.request(load);
    if (!loaded) return loaded.error();
    row.kernel = loaded->value("kernel", "");
    row.numerics = loaded->value("numerics", "");
    row.isa = loaded->value("isa", "");
    if (!plan.computes) break;
    if (!check_outputs_of(row, worker, request_of("outputs", plan.about), spec, references,
                          plan.distributions.size() > 1))
      return row.outcome == Outcome::kFail ? Checked::kWrong : Checked::kEnded;
    if (interrupted() && distribution != plan.distributions.back()) return Checked::kStopped;
  }
  row.outcome = Outcome::kPass;
  return Checked::kRight;
}

void add_ratios(Results& results, const std::vector<Row>& rows, const std::string& baseline) {
  const Row* base = nullptr;
  for (const Row& row : rows)
    if (row.backend == baseline && row.median_us) base = &row;
  if (!base) return;
  for (const Row& row : rows)
    if (&row != base && row.median_us)
      results.ratios.push_back(
          {case_text(row), row.backend, baseline, paired_ratio(row.slices_us, base->slices_us)});
}

void add_ratios_of(Results& results, const std::vector<Row>& rows, const std::string& subject,
                   const std::string& baseline) {
  std::vector<const Row*> others;
  const Row* ours = nullptr;
  for (const Row& row : rows) {
    if (!row.median_us) continue;
    if (row.backend == subject)
      ours = &row;
    else
      others.insert(row.backend == baseline ? others.begin() : others.end(), &row);
  }
  if (!ours) return add_ratios(results, rows, baseline);
  for (const Row* other : others)
    results.ratios.push_back({case_text(*ours), ours->backend, other->backend,
                              paired_ratio(ours->slices_us, other->slices_us)});
}

}  // namespace nrd
