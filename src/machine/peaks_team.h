// SPDX-License-Identifier: MIT
// src/machine/peaks_team.h: runs probes on several threads at once and keeps the best rate.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace nrd {

// One thing to measure. `run` does `units` units of work on one thread of the team and returns
// what it did (operations or bytes). One unit should take microseconds to a millisecond.
struct Probe {
  std::function<int64_t(int thread, int64_t units)> run;
  double* best = nullptr;  // where the best total rate goes, in 1e9 a second
};

struct TeamPlan {
  int threads = 1;
  double slice_seconds = 0.01;  // a probe's turn
  int rounds = 1;               // turns of each probe, A B C A B C
};

// Calls `setup(thread, threads)` on every thread (for memory it should touch first), then runs the
// probes. Returns how many threads ran: fewer than asked where the system refuses more, 0 if none.
int run_probes(const TeamPlan& plan, const std::function<void(int thread, int threads)>& setup,
               const std::vector<Probe>& probes);

}  // namespace nrd
