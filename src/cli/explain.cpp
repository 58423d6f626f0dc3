// SPDX-License-Identifier: MIT
// src/cli/explain.cpp: nereid explain: which kernel would run, and why not the others.
#include <fmt/format.h>

#include <iostream>

#include "cli/session.h"
#include "ops/contract.h"

namespace nrd::cli {
namespace {

struct ExplainFlags {
  CaseOptions cases;
  std::string backend;
};

void run(Session& session, const ExplainFlags& flags) {
  KernelRegistry& registry = session.registry();
  if (!flags.backend.empty())
    if (Expected<Backend*> found = registry.find_backend(flags.backend); !found)
      fail(found.error());
  for (const CaseSpec& spec : flags.cases.cases()) {
    Expected<Case> c = make_case(spec);
    if (!c) fail(c.error());
    const Cost work = cost(c->desc);
    std::cout << fmt::format("{}\n  signature  {}\n  cost       {:.4g} flop, {:.4g} bytes\n",
                             c->text(), c->desc.signature().text, work.flops, work.bytes());
    if (const std::string assumed = assumptions_text(c->desc.bound()); !assumed.empty())
      std::cout << fmt::format("  assumes    {}\n", assumed);
    for (const Explanation& line : registry.explain(c->desc, flags.backend))
      std::cout << fmt::format("  {} {:<10} {:<18} {:<9} {}\n",
                               line.chosen     ? "*"
                               : line.accepted ? "+"
                                               : "-",
                               line.backend, line.kernel, line.accepted ? line.numerics : "",
                               line.reason);
  }
  std::cout << "* runs when its backend is asked for, + could run, - cannot\n";
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("explain", "every kernel of a case: accepted or not, and why");
  auto flags = std::make_shared<ExplainFlags>();
  verb->add_option("operator", flags->cases.op, "a name that `nereid ops` lists")->required();
  flags->cases.add_to(*verb, false);
  verb->add_option("--backend", flags->backend, "only this one");
  verb->callback([&session, flags] { run(session, *flags); });
}

}  // namespace nrd::cli
