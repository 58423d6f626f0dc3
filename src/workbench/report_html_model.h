// SPDX-License-Identifier: MIT
// src/workbench/report_html_model.h: the report's JSON, read once into what the page shows.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "workbench/report_html_text.h"

namespace nrd::html {

enum class Verdict { kPass, kFail, kSkipped, kError };

struct Row {
  std::string op, shape, dtype, options, backend, isa, threads, cache, regime, numerics;
  std::string kernel, note, bound, reason, first_bad, verdict_text;
  Verdict verdict = Verdict::kError;
  Number median_us, p10_us, p90_us, prepare_us, gflops, gbps, nominal, roofline;
  Number max_abs, max_rel, l2_rel, ulp_p50, ulp_p99, workspace, peak, flops, bytes, tolerance;
  std::vector<double> slices_us;
  std::vector<std::string> flags;
  std::string ratio_key;  // the `case` text of the ratios list
  std::size_t case_index = 0;

  bool passed() const { return verdict == Verdict::kPass; }
  bool impossible() const;   // flagged as over 100 % of a limit: shown, but in no mean
  Number spread() const;     // half of p10..p90 as a share of the median
  Number intensity() const;  // flops per byte
};

// One thing that was measured, on every backend that was asked.
struct Case {
  std::string label;  // what tells it from the other cases of this report
  std::string full;   // everything
  std::vector<std::size_t> rows;
};

// How many times faster `backend` is than `against`.
struct Ratio {
  std::string case_text, backend, against;
  double median = 0;
  Number low, high;
  std::size_t case_index = 0;
  bool counted = true;  // both sides passed and are possible

  bool faster() const;
  bool slower() const;  // not "not slower"
};

struct Geomean {
  double value = 0;
  Number low, high;
  std::size_t count = 0;
};

struct Pair {
  std::string backend, against;
  std::vector<const Ratio*> ratios;   // all, in the order of the report
  std::vector<const Ratio*> counted;  // those in the mean
  Geomean geomean;
};

struct Model {
  Model() = default;
  Model(Model&&) = default;  // moving keeps the pairs' pointers into `ratios`; copying would not
  Model& operator=(Model&&) = default;

  Json environment;
  std::vector<Row> rows;
  std::vector<Case> cases;
  std::vector<Ratio> ratios;
  std::vector<Pair> pairs;
  std::vector<std::string> backends;  // ours first; the position is the colour
  std::vector<std::string> ops;
  std::string baseline;  // what the table's speed-ups are against; empty if there is none
  bool derived = false;  // the ratios come from medians, the report had none
  bool many_ops = false, many_dtypes = false, many_options = false;
  bool many_threads = false, many_caches = false, many_regimes = false;
  std::string constants;  // what all cases share, in words
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> ratio_index;

  std::size_t series(const std::string& backend) const;
  std::size_t count(Verdict verdict) const;
  const Row* find(std::size_t case_index, const std::string& backend) const;
  // The row's speed-up against the baseline: the paired ratio, else that of the medians.
  std::optional<Ratio> speedup(const Row& row) const;
};

bool is_ours(const std::string& backend);  // cpu, cuda: the page speaks of these first
Model read_model(const Json& report);
void read_ratios(const Json& report, Model& model);  // the last step of read_model
Geomean geomean(const std::vector<const Ratio*>& ratios);

// "m=16,n=4096" -> {{"m",16},{"n",4096}}; parts that are no numbers are left out.
std::vector<std::pair<std::string, double>> shape_axes(const std::string& shape);

}  // namespace nrd::html
