// SPDX-License-Identifier: MIT
// src/cli/demo.cpp: nereid demo: every operator, checked and timed here, with a report.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "cli/bench.h"
#include "workbench/sweep_summary.h"

namespace nrd::cli {
namespace {

constexpr size_t kSlowest = 3;

struct DemoFlags {
  std::string out = ".";
  bool details = false;
  BenchOptions options;
};

ReportOptions report_files(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(kFailed, fmt::format("--out: '{}': {}", folder, error.message()));
  ReportOptions report;
  for (auto [target, name] :
       {std::pair{&report.json, "report.json"}, {&report.html, "report.html"}}) {
    target->given = {(std::filesystem::path(folder) / name).string()};
    target->asked = true;
  }
  report.open();
  return report;
}

bool is_definition(const std::string& backend) {
  return backend == "scalar" || backend == "autovec";
}

std::string wrong_lines(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows)
    if (row.wrong())
      text += fmt::format("{} {}: {}: {}\n", word(row.outcome), row.backend, case_text(row),
                          row.reason);
  return text;
}

// Beside peers: the definitions are no measure.
std::vector<SweepPoint> points_of(const Results& results) {
  std::vector<RatioRow> ratios;
  for (const Row& ours : results.rows)
    for (const Row& other : results.rows)
      if (ours.backend == "cpu" && case_text(ours) == case_text(other) && other.backend != "cpu" &&
          other.backend != "autovec" && other.backend != "scalar")
        ratios.push_back(
            {case_text(ours), "cpu", other.backend, paired_ratio(ours.slices_us, other.slices_us)});
  return sweep_points(results.rows, ratios, "cpu", {});
}

void show_slowest(const std::vector<SweepPoint>& points, const char* title) {
  for (const SweepPoint& point : worst(points, kSlowest)) {
    std::cout << fmt::format("  {:<14} {}\n", title, point_line(point));
    title = "";
  }
}

// What a person wants to know, on one screen.
void show_summary(const Results& results, const ReportOptions& report) {
  std::set<std::string> ops, backends, wrong;
  for (const Row& row : results.rows) {
    ops.insert(row.op);
    if (row.outcome != Outcome::kSkipped) backends.insert(row.backend);
    if (row.wrong()) wrong.insert(row.op);
  }
  std::cout << fmt::format(
      "\n{} operators checked on {} backends: {}\n\n", ops.size(), backends.size(),
      wrong.empty() ? "all right" : fmt::format("wrong or failing: {}", fmt::join(wrong, ", ")));
  const char* title = "speed";
  std::vector<MeanRatio> means = mean_ratios(results.rows, "cpu");
  std::stable_partition(means.begin(), means.end(),
                        [](const MeanRatio& mean) { return !is_definition(mean.against); });
  for (const MeanRatio& mean : means) {
    std::cout << fmt::format("  {:<14} {:.2f}x {}, geometric mean of {} operators\n", title,
                             mean.mean, mean.against, mean.cases);
    title = "";
  }
  const std::vector<SweepPoint> points = points_of(results);
  show_slowest(select(points, false), "slowest");
  show_slowest(select(points, true), "far from roof");
  std::cout << fmt::format("\n  {:<14} {}\n  {:<14} {}\n", "report", report.html.file->path(),
                           "data", report.json.file->path());
}

void run(Session& session, DemoFlags& flags) {
  const ReportOptions report = report_files(flags.out);
  for (const Op& op : catalogue()) {
    CaseOptions one;
    one.op = op.name;
    one.threads = fmt::format("{}", available_cores());
    for (CaseSpec& spec : one.cases()) flags.options.cases.push_back(std::move(spec));
  }
  flags.options.backends = default_backends(session, flags.options.cases);
  flags.options.only_capable = true;
  flags.options.baseline = "scalar";
  ReportForm form;
  if (!flags.details)
    form.lines = [](const std::vector<Row>& rows, const std::vector<RatioRow>&) {
      return wrong_lines(rows);
    };
  const Results results =
      finish_bench(session, flags.options, report, Skips::kFine, std::move(form));
  show_summary(results, report);
}

}  // namespace

void add_demo(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("demo", "every operator on this machine, with a report");
  auto flags = std::make_shared<DemoFlags>();
  flags->options.rounds = 5;
  flags->options.case_seconds = 2;
  verb->add_option("--out", flags->out, "folder for the report")->capture_default_str();
  verb->add_flag("--details", flags->details, "show each operator's table, too");
  add_bench_flags(*verb, flags->options);
  verb->callback([&session, flags] { run(session, *flags); });
}

}  // namespace nrd::cli
