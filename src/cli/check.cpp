// SPDX-License-Identifier: MIT
// src/cli/check.cpp: nereid check: accuracy only, on every kind of data.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/bench.h"

namespace nrd::cli {
namespace {

struct CheckFlags {
  CaseOptions cases;
  ReportOptions report;
  std::string backends;  // empty: ours of the device
  BenchOptions options;
};

// Sizes that fit no vector and no block: 7, or what the operator's constraints leave.
std::map<std::string, int64_t, std::less<>> odd_sizes(const Op& op) {
  Expected<Desc> example = bind_case(op, example_request(op));
  if (!example) fail(example.error());
  const Signature& s = example->signature();
  std::map<std::string, int64_t, std::less<>> sizes;
  for (size_t i = 0; i < s.axes.size(); i++) {
    if (!s.axes[i].is_key()) continue;
    int64_t size = 7;
    for (const Axis& derived : s.axes) {
      if (derived.denominator == static_cast<int>(i)) size = 6;
      if (derived.numerator == static_cast<int>(i)) size = 18;
    }
    sizes[s.axes[i].name] = s.axes[i].even ? 6 : size;
  }
  return sizes;
}

void add_op(const Op& op, const CaseOptions& options, std::vector<CaseSpec>& list) {
  CaseOptions one = options;
  one.op = op.name;
  if (one.dtypes.empty()) one.dtypes = {"f32", "f16", "bf16"};
  if (options.dtypes.empty() && takes_f64(op)) one.dtypes.insert(one.dtypes.begin(), "f64");
  for (CaseSpec& spec : one.cases()) {
    // A word that an operator's free operands cannot take is no mistake when it was our default.
    Expected<Case> c = make_case(spec);
    if (options.dtypes.empty() && !c && c.error().code == ErrorCode::kUnsupportedDtype) continue;
    if (options.shapes.empty()) {
      CaseSpec odd = spec;
      odd.request.sizes = odd_sizes(op);
      if (make_case(odd)) list.push_back(odd);
    }
    list.push_back(std::move(spec));
  }
}

void run(Session& session, CheckFlags& flags) {
  session.registry();  // functions of --op are operators from here on
  follow_backends(session, split_list(flags.backends), flags.cases);
  if (flags.backends.empty())
    flags.backends = flags.cases.device.empty() || flags.cases.device == "cpu" ? "cpu" : "cuda";
  if (flags.cases.op == "all") {
    for (const Op& op : catalogue()) add_op(op, flags.cases, flags.options.cases);
  } else {
    Expected<const Op*> op = find_op(flags.cases.op);
    if (!op) fail(op.error());
    add_op(**op, flags.cases, flags.options.cases);
  }
  flags.options.backends = named_backends(session, flags.backends);
  flags.options.time = false;
  flags.options.distributions = {all_distributions().begin(), all_distributions().end()};
  finish_bench(session, flags.options, flags.report, Skips::kFailIfAll);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("check", "accuracy of an operator, or of all");
  auto flags = std::make_shared<CheckFlags>();
  verb->add_option("operator", flags->cases.op, "a name that `nereid ops` lists, or all")
      ->required();
  flags->cases.add_to(*verb, false);
  verb->add_option("--backend", flags->backends,
                   "a list, e.g. cpu,scalar; cpu, or cuda with --device cuda");
  add_worker_flags(*verb, flags->options);
  flags->report.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->report.open(*verb);
    run(session, *flags);
  });
}

}  // namespace nrd::cli
