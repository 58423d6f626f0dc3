// SPDX-License-Identifier: MIT
// src/cli/sweep.cpp: nereid sweep OP|all: random cases, and what their ratios say as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <random>

#include "cli/bench.h"
#include "cli/sweep_report.h"
#include "workbench/sweep_draw.h"

namespace nrd::cli {
namespace {

// Slices short enough for some hundred cases in ten minutes, and as many as a median of paired
// ratios needs to be steady.
constexpr double kSliceMs = 6, kCaseSeconds = 1;
constexpr int kRounds = 9;
constexpr size_t kCount = 300, kMostCount = 100000;
// On a device calls are shorter and its memory is larger.
constexpr double kDeviceBytes = 512e6, kDeviceFlops = 1e12;

struct SweepFlags {
  CaseOptions cases;
  ReportOptions report;
  std::string backends;
  size_t count = 0;  // 0: kCount, or as many as there is time for
  double minutes = 0, seconds = 0, most_gflop = 0, most_mb = 0;
  BenchOptions options;
};

std::vector<const Op*> operators(const std::string& name) {
  if (name != "all") return {or_fail(find_op(name))};
  std::vector<const Op*> ops;
  for (const Op& op : catalogue()) ops.push_back(&op);
  return ops;
}

bool has_key(const Op& op, const std::string& key) {
  for (const Signature& s : signatures(op))
    if (const int axis = s.find_axis(key); axis >= 0 && s.axes[static_cast<size_t>(axis)].is_key())
      return true;
  return false;
}

SizeRanges ranges(const std::vector<std::string>& shapes, const std::vector<const Op*>& ops) {
  SizeRanges all;
  for (const std::string& text : shapes)
    for (auto& [key, pieces] : or_fail(parse_ranges(text))) {
      if (std::none_of(ops.begin(), ops.end(), [&](const Op* op) { return has_key(*op, key); }))
        fail(kUsage,
             fmt::format("--shape: no operator here has the key '{}'; `nereid ops {}` shows "
                         "what there is",
                         key, ops.front()->name));
      if (!all.try_emplace(key, pieces).second)
        fail(kUsage, fmt::format("--shape: got '{}' twice, allowed: each key once", key));
    }
  return all;
}

SweepSpace space_of(const SweepFlags& flags, uint64_t seed) {
  const CaseOptions& asked = flags.cases;
  SweepSpace space;
  space.ops = operators(asked.op);
  space.sizes = ranges(asked.shapes, space.ops);
  space.dtypes = asked.dtypes;
  space.threads = thread_counts(asked.threads.empty() && available_cores() > 1
                                    ? fmt::format("1,{}", available_cores())
                                : asked.threads.empty() ? "1"
                                                        : asked.threads);
  CaseSpec& base = space.base;
  base.seed = seed;
  base.device = asked.device.empty() ? Device{} : or_fail(parse_device(asked.device));
  base.distribution = or_fail(parse_distribution(asked.data));
  for (const std::string& option : asked.options)
    if (Expected<void> applied = apply_options(base, option); !applied) fail(applied.error());
  const bool on_cpu = base.device.kind == DeviceKind::kCpu;
  if (!on_cpu) space.threads = {1};
  space.caches = cache_states(asked.cache, on_cpu);
  space.regimes = regimes(asked.regime, on_cpu);
  if (!on_cpu) space.most_bytes = kDeviceBytes, space.most_flops = kDeviceFlops;
  if (flags.most_mb > 0) space.most_bytes = flags.most_mb * 1e6;
  if (flags.most_gflop > 0) space.most_flops = flags.most_gflop * 1e9;
  return space;
}

// Ours first, then the peers that are here, and on a device a copy of the same bytes.
std::vector<std::string> sweep_backends(Session& session, const std::vector<CaseSpec>& cases) {
  std::vector<std::string> names;
  for (const std::string& name : default_backends(session, cases)) {
    const Backend& backend = **session.registry().find_backend(name);
    const bool peer = backend.peer() && (backend.computes() || name == "copy");
    if (peer || name == "cpu" || name == "cuda") names.push_back(name);
  }
  return names;
}

std::vector<std::string> roofs(Session& session, const std::vector<std::string>& backends) {
  std::vector<std::string> names;
  for (const std::string& name : backends)
    if (!or_fail(session.registry().find_backend(name))->computes()) names.push_back(name);
  return names;
}

std::map<std::string, CaseSpec> by_text(const std::vector<CaseSpec>& cases) {
  std::map<std::string, CaseSpec> found;
  for (const CaseSpec& spec : cases)
    if (Expected<Case> c = make_case(spec)) found.emplace(c->text(), spec);
  return found;
}

uint64_t chosen_seed(const CLI::App& verb, const SweepFlags& flags) {
  return verb.count("--seed") > 0 ? flags.cases.seed : std::random_device{}();
}

void run(Session& session, SweepFlags& flags, const CLI::App& verb) {
  KernelRegistry& registry = session.registry();
  if (flags.cases.op.empty()) flags.cases.op = session.register_user_ops();
  if (flags.cases.op.empty()) fail(kUsage, "sweep: give an operator, or all");
  BenchOptions& options = flags.options;
  options.backends = split_list(flags.backends);
  for (const std::string& name : options.backends)
    if (Expected<Backend*> backend = registry.find_backend(name); !backend) fail(backend.error());
  follow_backends(session, options.backends, flags.cases);
  const uint64_t seed = chosen_seed(verb, flags);
  options.seconds = flags.minutes * 60 + flags.seconds;
  const size_t count = flags.count > 0 ? flags.count : options.seconds > 0 ? kMostCount : kCount;
  options.cases = or_fail(draw_cases(space_of(flags, seed), count));
  if (options.cases.empty()) fail(kUsage, "sweep: no case fits what was asked");
  if (options.backends.empty()) options.backends = sweep_backends(session, options.cases);
  if (options.backends.empty())
    fail(kFailed, "sweep: no backend here can run this; `nereid backends` says why");
  options.only_capable = true;
  options.subject = options.backends.front();
  const SweepTelling telling{.op = flags.cases.op,
                             .seed = seed,
                             .backends = options.backends,
                             .roofs = roofs(session, options.backends),
                             .by_time = options.seconds > 0,
                             .cases = by_text(options.cases)};
  std::cerr << fmt::format(
      "nereid: sweep {} --seed {}, {} cases{}, {}\n", telling.op, seed, options.cases.size(),
      telling.by_time ? " or as many as there is time for" : "", fmt::join(options.backends, ", "));
  const Results results =
      finish_bench(session, options, flags.report, Skips::kFine, sweep_form(session, telling));
  if (!flags.report.uses_stdout()) show_sweep(session, telling, results);
}

}  // namespace

void add_sweep(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand(
      "sweep", "random cases of an operator, or of all: how ratios are distributed");
  auto flags = std::make_shared<SweepFlags>();
  flags->options.rounds = kRounds;
  flags->options.slice_ms = kSliceMs;
  flags->options.case_seconds = kCaseSeconds;
  flags->cases.threads = "";
  verb->add_option("operator", flags->cases.op, "a name that `nereid ops` lists, or all");
  flags->cases.add_to(*verb, true);
  verb->get_option("--shape")->description("bounds, e.g. 'm=1..64;n=256..16384;k=512,4096'");
  verb->get_option("--seed")->description("of the cases and of their data; else drawn, and shown");
  verb->get_option("--threads")
      ->description("a list that is drawn from; 1 and all cores unless said");
  verb->add_option("--count", flags->count, "how many cases; 300, or what --minutes allow")
      ->check(whole_between(1, kMostCount));
  verb->add_option("--minutes", flags->minutes, "begin no case after that")
      ->check(number_between(0.001, 1e5));
  verb->add_option("--seconds", flags->seconds, "likewise")->check(number_between(0.1, 1e6));
  verb->add_option("--most-gflop", flags->most_gflop, "of one case; 1, on a device 1000")
      ->check(number_between(1e-6, 1e9));
  verb->add_option("--most-mb", flags->most_mb, "of the operands of a case; 64, on a device 512")
      ->check(number_between(1e-6, 1e9));
  verb->add_option("--backend", flags->backends,
                   "a list, ours first; cpu or cuda and the peers that are here");
  add_bench_flags(*verb, flags->options);
  flags->report.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->report.open(*verb);
    run(session, *flags, *verb);
  });
}

}  // namespace nrd::cli
