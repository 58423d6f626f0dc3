// SPDX-License-Identifier: MIT
// src/cli/backends.cpp: nereid backends: which are here, and why the others are not.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/session.h"
#include "workbench/environment.h"

namespace nrd::cli {

void add_backends(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("backends", "the backends: loaded, or why not");
  verb->callback([&session] {
    KernelRegistry& registry = session.registry();
    std::vector<std::string> names;
    for (Backend* backend : registry.backends()) names.push_back(backend->name());
    WorkerOptions options;
    options.plugins = session.plugins;
    for (const nlohmann::json& b : describe_backends(registry, names, options)) {
      size_t operators = 0;
      Backend* backend = *registry.find_backend(b["name"].get<std::string>());
      if (b["available"].get<bool>() && backend->load())
        for (const Op& op : catalogue()) operators += !backend->kernels(op).empty();
      std::cout << fmt::format(
          "{} {:<10} {}\n", b["available"].get<bool>() ? "+" : "-", b["name"].get<std::string>(),
          b["available"].get<bool>()
              ? fmt::format("{} operators{}{}", operators, b["version"].is_string() ? ", " : "",
                            b["version"].is_string() ? b["version"].get<std::string>() : "")
              : b["reason"].get<std::string>());
    }
  });
}

}  // namespace nrd::cli
