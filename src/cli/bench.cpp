// SPDX-License-Identifier: MIT
// src/cli/bench.cpp: nereid bench, and the common end of bench, check and demo.
#include "cli/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/interrupt.h"
#include "workbench/environment.h"

namespace nrd::cli {
namespace {

struct BenchFlags {
  CaseOptions cases;
  ReportOptions report;
  std::string case_file, backends, baseline;
  BenchOptions options;
};

bool has_kernel(const Backend& backend, const std::vector<CaseSpec>& cases) {
  for (const CaseSpec& spec : cases)
    if (Expected<const Op*> op = find_op(spec.op);
        op && backend.runs_on(spec.device.kind) && !backend.kernels(**op).empty())
      return true;
  return false;
}

// "gemm m=512;n=512;k=512 f32 b=kn": operator, shape, dtype, options; # begins a comment. Options
// of the command line that begin with device, threads, cache, regime or data stand for a line too:
// "regime=both".
std::vector<CaseSpec> read_cases(const std::string& path, const CaseOptions& defaults) {
  const Expected<std::string> content = read_file(path);
  if (!content) fail(kUsage, "--cases: " + content.error().message());
  std::istringstream file(*content);
  std::vector<CaseSpec> list;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    CaseOptions one = defaults;
    std::string shape, dtype, option;
    if (!(words >> one.op)) continue;
    one.shapes.clear();
    one.dtypes.clear();
    if (words >> shape) one.shapes = {shape};
    if (words >> dtype) one.dtypes = {dtype};
    while (words >> option)
      if (!one.take_word(option)) one.options.push_back(option);
    for (CaseSpec& spec : one.cases()) list.push_back(std::move(spec));
  }
  if (list.empty()) fail(kUsage, fmt::format("--cases: '{}' holds no case", path));
  return list;
}

void run(Session& session, BenchFlags& flags) {
  session.registry();  // functions of --op are operators from here on
  if (flags.cases.op.empty() && flags.case_file.empty())
    flags.cases.op = session.register_user_ops();
  if (!flags.cases.op.empty() && !flags.case_file.empty())
    fail(kUsage,
         fmt::format("bench: got '{}' and --cases, allowed: one of the two", flags.cases.op));
  if (flags.cases.op.empty() && flags.case_file.empty())
    fail(kUsage, "bench: give an operator or --cases FILE, for example: nereid bench gemm");
  const bool named = !flags.backends.empty();
  follow_backends(session, split_list(flags.backends), flags.cases);
  flags.options.cases =
      flags.case_file.empty() ? flags.cases.cases() : read_cases(flags.case_file, flags.cases);
  flags.options.backends = named ? named_backends(session, flags.backends)
                                 : default_backends(session, flags.options.cases);
  flags.options.only_capable = !named;
  if (flags.options.backends.empty())
    fail(kFailed, "bench: no backend here can run this; `nereid backends` says why");
  flags.options.baseline =
      flags.baseline.empty() ? default_baseline(flags.options.backends) : flags.baseline;
  const std::vector<std::string>& runs = flags.options.backends;
  if (std::find(runs.begin(), runs.end(), flags.options.baseline) == runs.end())
    fail(kUsage,
         fmt::format("--baseline: got '{}', allowed: {}", flags.baseline, fmt::join(runs, ", ")));
  finish_bench(session, flags.options, flags.report, named ? Skips::kFail : Skips::kFine);
}

// Some row was skipped; or, with a backend's name, all of its rows were.
bool skipped(const Results& results, const std::string& backend) {
  size_t rows = 0, skips = 0;
  for (const Row& row : results.rows) {
    if (!backend.empty() && row.backend != backend) continue;
    rows++;
    skips += row.outcome == Outcome::kSkipped;
  }
  return backend.empty() ? skips > 0 : rows == skips;
}

}  // namespace

std::vector<std::string> default_backends(Session& session, const std::vector<CaseSpec>& cases) {
  std::vector<std::string> names;
  for (Backend* backend : session.registry().backends()) {
    const bool asked = std::any_of(cases.begin(), cases.end(), [&](const CaseSpec& spec) {
      return backend->runs_on(spec.device.kind);
    });
    if (asked && backend->load() && has_kernel(*backend, cases)) names.push_back(backend->name());
  }
  return names;
}

std::vector<std::string> named_backends(Session& session, const std::string& text) {
  std::vector<std::string> names = split_list(text);
  if (names.empty())
    fail(kUsage, fmt::format("--backend: got '{}', allowed: a list of names", text));
  for (size_t i = 0; i < names.size(); i++) {
    if (Expected<Backend*> found = session.registry().find_backend(names[i]); !found)
      fail(found.error());
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i))
      fail(kUsage, fmt::format("--backend: got '{}' twice, allowed: each once", names[i]));
  }
  return names;
}

void follow_backends(Session& session, const std::vector<std::string>& names, CaseOptions& cases) {
  if (!cases.device.empty() || names.empty()) return;
  for (const std::string& name : names) {
    Expected<Backend*> backend = session.registry().find_backend(name);
    if (!backend || (*backend)->runs_on(DeviceKind::kCpu)) return;
  }
  cases.device = "cuda";
}

std::string default_baseline(const std::vector<std::string>& backends) {
  for (const std::string& name : backends)
    if (name != "cpu" && name != "autovec" && name != "scalar" && name != "cuda") return name;
  return backends.back();
}

void add_bench_flags(CLI::App& verb, BenchOptions& options) {
  verb.add_option("--rounds", options.rounds, "slices a backend")
      ->check(whole_between(1, 1000))
      ->capture_default_str();
  verb.add_option("--slice-ms", options.slice_ms, "length of a slice")
      ->check(number_between(0.01, 60000))
      ->capture_default_str();
  add_worker_flags(verb, options);
}

void add_worker_flags(CLI::App& verb, BenchOptions& options) {
  verb.add_option("--timeout", options.worker.timeout_s, "seconds until a worker counts as hung")
      ->check(number_between(0.1, 1e6))
      ->capture_default_str();
  verb.add_flag("--in-process", options.worker.in_process, "no workers: for a debugger");
}

Results finish_bench(Session& session, BenchOptions& options, const ReportOptions& files,
                     Skips skips, ReportForm form) {
  KernelRegistry& registry = session.registry();
  options.worker.plugins = session.plugins;
  options.worker.user_ops = session.user_ops;
  options.worker.prove = session.prove;
  options.progress = show_progress;
  const InterruptGuard guard("\nnereid: stopping; what was measured is kept (again: at once)\n");
  Roofline roofline(registry.machine(), 1.0);
  nlohmann::json environment =
      describe_environment(registry.machine(), session.command,
                           describe_backends(registry, options.backends, options.worker), options);
  RunReport report(files, environment, std::move(form));
  options.on_rows = [&](const Results& so_far) {
    describe_roofs(environment, roofline);
    report.add(so_far, environment);
  };
  Results results = run_bench(registry, options, roofline);
  const std::string stopped =
      fmt::format("interrupted after {} of {} cases", results.cases_done, results.cases);
  if (!results.complete()) environment["warnings"].push_back(stopped);
  const bool written = report.finish(results, environment);
  if (!written || !results.all_ok() || (skips == Skips::kFail && skipped(results, "")))
    session.exit_code = kFailed;
  for (const std::string& backend : options.backends)
    if (skips == Skips::kFailIfAll && skipped(results, backend)) session.exit_code = kFailed;
  if (results.complete()) return results;
  std::cerr << fmt::format("nereid: {}; {} rows are kept\n", stopped, results.rows.size());
  session.exit_code = kInterrupted;
  return results;
}

void add_bench(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("bench", "check and time an operator on several backends");
  auto flags = std::make_shared<BenchFlags>();
  verb->add_option("operator", flags->cases.op, "a name that `nereid ops` lists");
  flags->cases.add_to(*verb, true);
  verb->add_option("--cases", flags->case_file, "a file of cases: OP SHAPE DTYPE OPTIONS a line");
  verb->add_option("--backend", flags->backends, "a list, e.g. cpu,openblas; all that are here");
  verb->add_option("--baseline", flags->baseline, "the backend that speed-ups are against");
  add_bench_flags(*verb, flags->options);
  flags->report.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->report.open(*verb);
    run(session, *flags);
  });
}

}  // namespace nrd::cli
