// SPDX-License-Identifier: MIT
// src/cli/ops.cpp: nereid ops: the catalogue, or one entry whole.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/report.h"
#include "cli/session.h"
#include "ops/contract.h"

namespace nrd::cli {
namespace {

nlohmann::json described(const Op& op) {
  nlohmann::json signatures = nlohmann::json::array(), options = nlohmann::json::array();
  for (const Variant& v : op.variants)
    signatures.push_back({{"when", v.when}, {"signature", v.signature}});
  for (const ChoiceAttribute& c : op.choices)
    options.push_back({{"name", c.name},
                       {"default", c.values.front()},
                       {"values", c.values},
                       {"meaning", c.meaning}});
  for (const NumberAttribute& n : op.numbers)
    options.push_back({{"name", n.name},
                       {"default", n.value},
                       {"range", range_text(n.range)},
                       {"meaning", n.meaning}});
  nlohmann::json tolerances = nlohmann::json::object();
  for (const auto& [choice, tolerance] : op.tolerances) tolerances[choice] = tolerance.f32;
  const Variant& first = op.variants.front();
  return {{"name", op.name},
          {"group", op.group},
          {"summary", op.summary},
          {"signatures", signatures},
          {"assumes", assumptions_text(first)},
          {"options", options},
          {"exact", op.tolerance.exact},
          {"tolerance", op.tolerance.f32},
          {"tolerances", tolerances},
          {"flops_per_point", op.flops},
          {"in_place", op.in_place == InPlace::kYes},
          {"example", op.shape},
          {"as_it_is", op.composite() ? "" : first.builds->no_trace},
          {"graph", first.graph}};
}

nlohmann::json facts(const std::string& name) {
  nlohmann::json list = nlohmann::json::array();
  if (!name.empty()) {
    list.push_back(described(*or_fail(find_op(name))));
  } else {
    for (const Op& op : catalogue()) list.push_back(described(op));
    for (const Op* op : added_ops()) list.push_back(described(*op));
  }
  return {{"schema", 1}, {"operators", list}};
}

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
  const Op& op = *or_fail(find_op(name));
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
  auto as_json = std::make_shared<JsonOption>();
  as_json->add_to(*verb);
  verb->callback([&session, name, as_json, verb] {
    as_json->open(*verb);
    session.register_user_ops();
    if (!as_json->replaces_text()) name->empty() ? list_all() : show(*name);
    as_json->write(facts(*name));
  });
}

}  // namespace nrd::cli
