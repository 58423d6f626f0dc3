// SPDX-License-Identifier: MIT
// src/cli/worker.cpp: nereid worker: the other end of bench; not for people.
#include "cli/session.h"
#include "workbench/session.h"

namespace nrd::cli {

void add_worker(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("worker", "started by bench");
  verb->group("");  // not in the help
  auto backend = std::make_shared<std::string>();
  auto shared = std::make_shared<bool>(false);
  verb->add_option("--backend", *backend)->required();
  verb->add_flag("--shared", *shared);
  verb->callback([&session, backend, shared] {
    session.exit_code = worker_main(session.registry(), *backend, *shared);
  });
}

}  // namespace nrd::cli
