// SPDX-License-Identifier: MIT
// src/cli/bench.h: what bench, check and demo share.
#pragma once

#include "cli/report.h"
#include "cli/session.h"

namespace nrd::cli {

void add_bench_flags(CLI::App& verb, BenchOptions& options);
void add_worker_flags(CLI::App& verb, BenchOptions& options);  // those of them for `check`
// The backends that are here and have a kernel for one of the cases.
std::vector<std::string> default_backends(Session& session, const std::vector<CaseSpec>& cases);
// Those of --backend; ends the program where one is unknown, twice there, or there is none.
std::vector<std::string> named_backends(Session& session, const std::string& text);
// Backends that all belong to a device say which one is meant, where no --device does.
void follow_backends(Session& session, const std::vector<std::string>& names, CaseOptions& cases);
// The first peer, else the last of our own.
std::string default_baseline(const std::vector<std::string>& backends);
// What a skipped row means for the exit code: nothing, where nobody named the backends; a failure,
// where the user asked for just that; or a failure when a named backend did nothing at all.
enum class Skips { kFine, kFail, kFailIfAll };
// Runs, shows and writes rows as they come, and sets the exit code. A Ctrl-C ends the run; what was
// measured is kept.
Results finish_bench(Session& session, BenchOptions& options, const ReportOptions& report,
                     Skips skips, ReportForm form = {});

}  // namespace nrd::cli
