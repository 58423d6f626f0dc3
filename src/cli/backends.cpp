// SPDX-License-Identifier: MIT
// src/cli/backends.cpp: nereid backends: which are here, and why the others are not.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/report.h"
#include "cli/session.h"
#include "workbench/environment.h"

namespace nrd::cli {
namespace {

size_t operators_of(Backend& backend) {
  size_t count = 0;
  if (backend.load())
    for (const Op& op : catalogue()) count += !backend.kernels(op).empty();
  return count;
}

nlohmann::json facts(Session& session) {
  KernelRegistry& registry = session.registry();
  std::vector<std::string> names;
  for (Backend* backend : registry.backends()) names.push_back(backend->name());
  WorkerOptions options;
  options.plugins = session.plugins;
  nlohmann::json list = describe_backends(registry, names, options);
  for (nlohmann::json& one : list)
    one["operators"] = one["available"].get<bool>()
                           ? operators_of(**registry.find_backend(one["name"].get<std::string>()))
                           : 0;
  return {{"schema", 1}, {"backends", list}};
}

void show_backend(const nlohmann::json& backend) {
  const nlohmann::json& version = backend["version"];
  const bool here = backend["available"];
  const std::string words =
      here ? fmt::format("{} operators{}{}", backend["operators"].get<size_t>(),
                         version.is_string() ? ", " : "",
                         version.is_string() ? version.get<std::string>() : "")
           : backend["reason"].get<std::string>();
  std::cout << fmt::format("{} {:<10} {}\n", here ? "+" : "-", backend["name"].get<std::string>(),
                           words);
}

}  // namespace

void add_backends(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("backends", "the backends: loaded, or why not");
  auto as_json = std::make_shared<JsonOption>();
  as_json->add_to(*verb);
  verb->callback([&session, as_json, verb] {
    as_json->open(*verb);
    const nlohmann::json found = facts(session);
    if (!as_json->replaces_text())
      for (const nlohmann::json& backend : found["backends"]) show_backend(backend);
    as_json->write(found);
  });
}

}  // namespace nrd::cli
