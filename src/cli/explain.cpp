// SPDX-License-Identifier: MIT
// src/cli/explain.cpp: nereid explain: which kernel would run, and why not the others.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/report.h"
#include "cli/session.h"
#include "ops/contract.h"

namespace nrd::cli {
namespace {

struct ExplainFlags {
  CaseOptions cases;
  std::string backend;
  JsonOption json;
};

nlohmann::json explained(Session& session, const Case& c, const std::string& backend) {
  const Cost work = cost(c.desc);
  nlohmann::json kernels = nlohmann::json::array();
  for (const Explanation& line : session.registry().explain(c.desc, backend))
    kernels.push_back({{"backend", line.backend},
                       {"kernel", line.kernel},
                       {"isa", line.isa},
                       {"numerics", line.accepted ? line.numerics : ""},
                       {"accepted", line.accepted},
                       {"chosen", line.chosen},
                       {"reason", line.reason}});
  return {
      {"case", c.text()},      {"signature", c.desc.signature().text},        {"flops", work.flops},
      {"bytes", work.bytes()}, {"assumes", assumptions_text(c.desc.bound())}, {"kernels", kernels}};
}

void show_case(const nlohmann::json& found) {
  auto word = [](const nlohmann::json& object, const char* key) {
    return object[key].get<std::string>();
  };
  std::cout << fmt::format("{}\n  signature  {}\n  cost       {:.4g} flop, {:.4g} bytes\n",
                           word(found, "case"), word(found, "signature"),
                           found["flops"].get<double>(), found["bytes"].get<double>());
  if (const std::string assumed = word(found, "assumes"); !assumed.empty())
    std::cout << fmt::format("  assumes    {}\n", assumed);
  for (const nlohmann::json& line : found["kernels"])
    std::cout << fmt::format("  {} {:<10} {:<18} {:<9} {}\n",
                             line["chosen"].get<bool>()     ? "*"
                             : line["accepted"].get<bool>() ? "+"
                                                            : "-",
                             word(line, "backend"), word(line, "kernel"), word(line, "numerics"),
                             word(line, "reason"));
}

void run(Session& session, ExplainFlags& flags) {
  KernelRegistry& registry = session.registry();
  if (!flags.backend.empty())
    if (Expected<Backend*> found = registry.find_backend(flags.backend); !found)
      fail(found.error());
  nlohmann::json all = {{"schema", 1}, {"cases", nlohmann::json::array()}};
  for (const CaseSpec& spec : flags.cases.cases()) {
    all["cases"].push_back(explained(session, or_fail(make_case(spec)), flags.backend));
    if (!flags.json.replaces_text()) show_case(all["cases"].back());
  }
  if (!flags.json.replaces_text())
    std::cout << "* runs when its backend is asked for, + could run, - cannot\n";
  flags.json.write(all);
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("explain", "every kernel of a case: accepted or not, and why");
  auto flags = std::make_shared<ExplainFlags>();
  verb->add_option("operator", flags->cases.op, "a name that `nereid ops` lists")->required();
  flags->cases.add_to(*verb, false);
  verb->add_option("--backend", flags->backend, "only this one");
  flags->json.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->json.open(*verb);
    run(session, *flags);
  });
}

}  // namespace nrd::cli
