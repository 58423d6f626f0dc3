// SPDX-License-Identifier: MIT
// src/cli/compare.cpp: nereid compare OLD.json NEW.json.
#include "workbench/compare.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/session.h"

namespace nrd::cli {
namespace {

struct CompareFlags {
  std::string before, after, tolerance = "3%";
};

double parse_tolerance(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  if (end == text.c_str() || (unit != "" && unit != "%") || !(value >= 0) || value > 1000)
    fail(kUsage, fmt::format("--tolerance: got '{}', allowed: a percentage such as 3%", text));
  return unit == "%" || value >= 1 ? value / 100 : value;
}

void run(Session& session, const CompareFlags& flags) {
  Expected<Document> before = read_results(flags.before), after = read_results(flags.after);
  if (!before) fail(kUsage, before.error().message());
  if (!after) fail(kUsage, after.error().message());
  const Changes changes =
      compare_results(before->rows, after->rows, parse_tolerance(flags.tolerance));
  const bool color = color_output();
  for (const Change& c : changes.changes) {
    std::string verdict = fmt::format("{:<8}", c.verdict);
    if (color && (c.verdict == "slower" || c.verdict == "failing"))
      verdict = "\033[31m" + verdict + "\033[0m";
    if (color && (c.verdict == "faster" || c.verdict == "fixed"))
      verdict = "\033[32m" + verdict + "\033[0m";
    std::string ratio = c.ratio.median > 0 ? fmt::format("{:6.2f}x [{:.2f}, {:.2f}]",
                                                         c.ratio.median, c.ratio.low, c.ratio.high)
                                           : "";
    std::cout << fmt::format("{} {:<22} {}{}{}\n", verdict, ratio, c.row,
                             c.detail.empty() ? "" : ": ", c.detail);
  }
  if (changes.regressed()) session.exit_code = kFailed;
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("compare", "what changed between two results");
  auto flags = std::make_shared<CompareFlags>();
  verb->add_option("old", flags->before, "an earlier result, written by --json")->required();
  verb->add_option("new", flags->after, "a later one")->required();
  verb->add_option("--tolerance", flags->tolerance, "a change that does not matter")
      ->capture_default_str();
  verb->callback([&session, flags] { run(session, *flags); });
}

}  // namespace nrd::cli
