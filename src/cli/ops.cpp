// SPDX-License-Identifier: MIT
// src/cli/ops.cpp: nereid ops: the catalogue, or one entry whole.
#include <fmt/format.h>

#include <iostream>

#include "cli/session.h"
#include "ops/contract.h"

namespace nrd::cli {
namespace {

void list_all() {
  std::string group;
  auto list = [&group](const Op& op) {
    if (op.group != group) std::cout << fmt::format("{}{}\n", group.empty() ? "" : "\n", op.group);
    group = op.group;
    std::cout << fmt::format("  {:<16} {}\n", op.name, op.summary);
  };
  for (const Op& op : catalogue()) list(op);
  for (const Op* op : added_ops()) list(*op);
}

void show(const std::string& name) {
  Expected<const Op*> found = find_op(name);
  if (!found) fail(found.error());
  const Op& op = **found;
  std::cout << fmt::format("{}: {}\n", op.name, op.summary);
  for (const Variant& v : op.variants)
    std::cout << fmt::format("  signature  {}{}{}\n", v.signature, v.when.empty() ? "" : "   when ",
                             v.when);
  if (const std::string assumed = assumptions_text(op.variants.front()); !assumed.empty())
    std::cout << fmt::format("  assumes    {}\n", assumed);
  for (const ChoiceAttribute& c : op.choices) {
    std::string values;
    for (const std::string& value : c.values) values += (values.empty() ? "" : " | ") + value;
    std::cout << fmt::format("  option     {} = {}   {}\n", c.name, values, c.meaning);
  }
  for (const NumberAttribute& n : op.numbers)
    std::cout << fmt::format(
        "  option     {} = {:g}   {}{}\n", n.name, n.value, n.meaning,
        n.range == NumberRange::kAny ? "" : fmt::format(" ({})", range_text(n.range)));
  std::cout << (op.tolerance.exact
                    ? "  tolerance  exact: equal to the f32 build, bit for bit\n"
                    : fmt::format("  tolerance  {:g} of the row's largest value, f32\n",
                                  op.tolerance.f32));
  for (const auto& [choice, tolerance] : op.tolerances)
    std::cout << fmt::format("             {:g} with {}\n", tolerance.f32, choice);
  std::cout << fmt::format(
      "  cost       {:g} flop a point\n  in place   {}\n  example    nereid bench {} --shape "
      "'{}'\n",
      op.flops, op.in_place == InPlace::kYes ? "yes" : "no", op.name, op.shape);
  if (!op.composite() && !op.variants.front().builds->no_trace.empty())
    std::cout << fmt::format("  as it is   {}\n", op.variants.front().builds->no_trace);
  if (op.composite()) std::cout << "  graph\n" << op.variants.front().graph;
}

}  // namespace

void add_ops(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("ops", "the operators, or one of them whole");
  auto name = std::make_shared<std::string>();
  verb->add_option("operator", *name, "show this one");
  verb->callback([&session, name] {
    session.register_user_ops();
    name->empty() ? list_all() : show(*name);
  });
}

}  // namespace nrd::cli
