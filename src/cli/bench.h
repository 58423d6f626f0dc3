// SPDX-License-Identifier: MIT
// src/cli/bench.h: what bench, check and demo share.
#pragma once

#include "cli/session.h"

namespace nrd::cli {

void add_bench_flags(CLI::App& verb, BenchOptions& options);
// The backends that are here and have a kernel for one of the cases.
std::vector<std::string> default_backends(Session& session, const std::vector<CaseSpec>& cases);
// The first peer, else the last of our own.
std::string default_baseline(const std::vector<std::string>& backends);
// Runs, reports and sets the exit code. `skips_count`: the user named the backends, so one that
// cannot do a case is not what was asked for.
void finish_bench(Session& session, BenchOptions& options, const ReportOptions& report,
                  bool skips_count);

}  // namespace nrd::cli
