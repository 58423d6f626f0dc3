// SPDX-License-Identifier: MIT
// src/cli/demo.cpp: nereid demo: every operator, checked and timed here, with a report.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/bench.h"

namespace nrd::cli {
namespace {

struct DemoFlags {
  std::string out = ".";
  BenchOptions options;
};

void run(Session& session, DemoFlags& flags) {
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (error) fail(kFailed, fmt::format("--out: '{}': {}", flags.out, error.message()));
  ReportOptions report;
  for (auto [target, name] :
       {std::pair{&report.json, "report.json"}, {&report.html, "report.html"}}) {
    target->given = {(std::filesystem::path(flags.out) / name).string()};
    target->asked = true;
  }
  report.open();
  for (const Op& op : catalogue()) {
    CaseOptions one;
    one.op = op.name;
    one.threads = fmt::format("{}", available_cores());
    for (CaseSpec& spec : one.cases()) flags.options.cases.push_back(std::move(spec));
  }
  flags.options.backends = default_backends(session, flags.options.cases);
  flags.options.only_capable = true;
  flags.options.baseline = "scalar";
  finish_bench(session, flags.options, report, Skips::kFine);
  std::cout << fmt::format("\nreport: {}\ndata:   {}\n", report.html.file->path(),
                           report.json.file->path());
}

}  // namespace

void add_demo(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("demo", "every operator on this machine, with a report");
  auto flags = std::make_shared<DemoFlags>();
  flags->options.rounds = 5;
  flags->options.case_seconds = 2;
  verb->add_option("--out", flags->out, "folder for the report")->capture_default_str();
  add_bench_flags(*verb, flags->options);
  verb->callback([&session, flags] { run(session, *flags); });
}

}  // namespace nrd::cli
