// SPDX-License-Identifier: MIT
// src/workbench/report_html_model.cpp: reads a report's JSON; groups rows into cases.
#include "workbench/report_html_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "workbench/result.h"

namespace nrd::html {
namespace {

std::string join_words(std::initializer_list<std::string> parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += ' ';
    out += part;
  }
  return out;
}

Verdict read_verdict(const Json& row, const std::string& word) {
  if (word == "pass") return Verdict::kPass;
  if (word == "fail") return Verdict::kFail;
  if (word == "skipped") return Verdict::kSkipped;
  const Json& ok = member(row, "ok");
  const bool says_ok = word.empty() && ok.is_boolean() && ok.get<bool>();
  return says_ok ? Verdict::kPass : Verdict::kError;
}

void read_words(const Json& json, Row& row) {
  row.op = text(json, "op");
  row.shape = text(json, "shape");
  row.dtype = text(json, "dtype");
  row.options = text(json, "options");
  row.backend = text(json, "backend");
  row.isa = text(json, "isa");
  row.threads = text(json, "threads");
  row.cache = text(json, "cache");
  row.regime = text(json, "regime");
  row.numerics = text(json, "numerics");
  row.kernel = text(json, "kernel");
  row.note = text(json, "note");
  row.bound = text(json, "bound");
  row.reason = text(json, "reason");
  row.first_bad = text(json, "first_bad_index");
  row.verdict = read_verdict(json, text(json, "verdict"));
  static constexpr const char* kWords[] = {"pass", "fail", "skipped", "error"};
  row.verdict_text = kWords[static_cast<int>(row.verdict)];
  for (const Json& flag : list(json, "flags")) row.flags.push_back(describe(flag));
  row.ratio_key = single_blanks(case_text(row_from_json(json)));
}

void read_figures(const Json& json, Row& row) {
  row.median_us = number(json, "median_us");
  row.p10_us = number(json, "p10_us");
  row.p90_us = number(json, "p90_us");
  row.prepare_us = number(json, "prepare_us");
  row.gflops = number(json, "gflops");
  row.gbps = number(json, "gbps");
  row.nominal = number(json, "percent_of_nominal");
  row.roofline = number(json, "percent_of_roofline");
  row.max_abs = number(json, "max_abs");
  row.max_rel = number(json, "max_rel");
  row.l2_rel = number(json, "l2_rel");
  row.ulp_p50 = number(json, "ulp_p50");
  row.ulp_p99 = number(json, "ulp_p99");
  row.workspace = number(json, "workspace_bytes");
  row.peak = number(json, "peak_bytes");
  row.flops = number(json, "flops");
  row.bytes = number(json, "bytes");
  row.tolerance = number(json, "tolerance");
  for (const Json& slice : list(json, "slices_us")) {
    if (slice.is_number()) row.slices_us.push_back(slice.get<double>());
  }
}

std::string threads_words(const std::string& threads) {
  if (threads.empty()) return "";
  return threads + (threads == "1" ? " thread" : " threads");
}

std::string cache_words(const std::string& cache) { return cache.empty() ? "" : cache + " cache"; }

template <class Field>
bool varies(const std::vector<Row>& rows, Field field) {
  std::set<std::string> seen;
  for (const Row& row : rows) seen.insert(row.*field);
  return seen.size() > 1;
}

void note_what_varies(Model& model) {
  const auto& rows = model.rows;
  model.many_ops = varies(rows, &Row::op);
  model.many_dtypes = varies(rows, &Row::dtype);
  model.many_options = varies(rows, &Row::options);
  model.many_threads = varies(rows, &Row::threads);
  model.many_caches = varies(rows, &Row::cache);
  model.many_regimes = varies(rows, &Row::regime);
  if (rows.empty()) return;
  const Row& row = rows.front();
  const auto add = [&](bool many, const std::string& words) {
    if (many || words.empty()) return;
    model.constants += (model.constants.empty() ? "" : ", ") + words;
  };
  add(model.many_ops, row.op);
  add(model.many_dtypes, row.dtype);
  add(model.many_options, row.options);
  add(model.many_threads, threads_words(row.threads));
  add(model.many_caches, cache_words(row.cache));
  add(model.many_regimes, row.regime);
}

Case make_case(const Model& model, const Row& row) {
  const std::string threads = threads_words(row.threads), cache = cache_words(row.cache);
  const auto if_many = [](bool many, const std::string& words) { return many ? words : ""; };
  Case out;
  out.full = join_words({row.op, row.shape, row.dtype, row.options, threads, cache, row.regime});
  out.label =
      join_words({if_many(model.many_ops, row.op), row.shape, if_many(model.many_dtypes, row.dtype),
                  if_many(model.many_options, row.options), if_many(model.many_threads, threads),
                  if_many(model.many_caches, row.cache), if_many(model.many_regimes, row.regime)});
  if (out.label.empty()) out.label = out.full.empty() ? "unnamed case" : out.full;
  return out;
}

void group_into_cases(Model& model) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    Row& row = model.rows[i];
    const auto [found, added] =
        known.try_emplace(row.ratio_key + "|" + row.regime, model.cases.size());
    if (added) model.cases.push_back(make_case(model, row));
    row.case_index = found->second;
    model.cases[row.case_index].rows.push_back(i);
  }
}

void collect_names(Model& model) {
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Row& row : model.rows) {
    add(model.ops, row.op);
    add(model.backends, row.backend);
  }
  std::stable_partition(model.backends.begin(), model.backends.end(), is_ours);
}

}  // namespace

bool is_ours(const std::string& backend) { return backend == "cpu" || backend == "cuda"; }

bool Row::impossible() const {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.find("over 100") != std::string::npos;
  });
}

Number Row::spread() const {
  if (!median_us || !p10_us || !p90_us || *median_us <= 0) return {};
  return (*p90_us - *p10_us) / 2 / *median_us;
}

Number Row::intensity() const {
  if (flops && bytes && *flops > 0 && *bytes > 0) return *flops / *bytes;
  if (gflops && gbps && *gflops > 0 && *gbps > 0) return *gflops / *gbps;
  return {};
}

bool Ratio::faster() const { return low ? *low > 1 : median > 1 / kNotSlower; }

bool Ratio::slower() const {
  return !not_slower({median, low.value_or(median), high.value_or(HUGE_VAL)});
}

std::size_t Model::series(const std::string& backend) const {
  const auto found = std::find(backends.begin(), backends.end(), backend);
  return static_cast<std::size_t>(found - backends.begin());
}

std::size_t Model::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const Row& row) { return row.verdict == verdict; }));
}

const Row* Model::find(std::size_t case_index, const std::string& backend) const {
  if (case_index >= cases.size()) return nullptr;
  for (const std::size_t i : cases[case_index].rows) {
    if (rows[i].backend == backend) return &rows[i];
  }
  return nullptr;
}

std::vector<std::pair<std::string, double>> shape_axes(const std::string& shape) {
  std::vector<std::pair<std::string, double>> axes;
  std::size_t at = 0;
  while (at < shape.size()) {
    const std::size_t end = std::min(shape.find(',', at), shape.size());
    const std::string part = shape.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    char* rest = nullptr;
    const double value = std::strtod(part.c_str() + equals + 1, &rest);
    if (rest == part.c_str() + part.size()) axes.emplace_back(part.substr(0, equals), value);
  }
  return axes;
}

Model read_model(const Json& report) {
  Model model;
  const Json& environment = member(report, "environment");
  model.environment = environment.is_object() ? environment : Json::object();
  for (const Json& json : list(report, "results")) {
    Row row;
    read_words(json, row);
    read_figures(json, row);
    model.rows.push_back(std::move(row));
  }
  note_what_varies(model);
  group_into_cases(model);
  collect_names(model);
  read_ratios(report, model);
  return model;
}

}  // namespace nrd::html
