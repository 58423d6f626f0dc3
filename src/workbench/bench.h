// SPDX-License-Identifier: MIT
// src/workbench/bench.h: the supervisor: cases x backends -> checked and timed rows.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workbench/gpu_peaks.h"
#include "workbench/result.h"
#include "workbench/worker.h"

namespace nrd {

struct BenchOptions {
  std::vector<CaseSpec> cases;
  std::vector<std::string> backends;  // rows stand in this order
  // Leave out a backend that has no kernel of the operator at all: for a list nobody named.
  bool only_capable = false;
  std::string baseline;  // ratios are formed against it; empty: the first backend
  // Where it is named, ratios are of this backend against each other one.
  std::string subject;
  bool time = true;  // false: accuracy only
  // A case is checked on all of these, or on its own data where there are none, and timed on its
  // own.
  std::vector<Distribution> distributions;
  int rounds = 10;
  double slice_ms = 20;
  double case_seconds = 20;  // a backend's budget for timing one case; at least three rounds
  double seconds = 0;        // of the whole run: no case begins after them; 0: no limit
  WorkerOptions worker;
  // Called with a line that says what is being done and how far it is (0 to 1).
  std::function<void(const std::string& what, double fraction)> progress;
  // Called when the rows of a case are there, with all that there are so far.
  std::function<void(const Results& so_far)> on_rows;

  std::vector<Distribution> distributions_of(const Case& c) const {
    return distributions.empty() ? std::vector{c.spec.distribution} : distributions;
  }
};

// Peaks of this machine, measured on the first use for a thread count and kept.
class Roofline {
 public:
  explicit Roofline(const Machine& machine, double seconds)
      : machine_(machine), seconds_(seconds) {}
  const MeasuredPeaks& measured(int threads);
  const std::map<int, MeasuredPeaks>& all() const { return measured_; }
  // Fills gflops, gbps, percentages, bound and flags from the median time.
  void judge(Row& row, const Case& c);

  // Of the devices that cases ran on, measured in their worker.
  std::map<std::string, GpuRoofs>& devices() { return devices_; }
  const std::map<std::string, GpuRoofs>& devices() const { return devices_; }

 private:
  const Machine& machine_;
  double seconds_;
  std::map<int, MeasuredPeaks> measured_;
  std::map<std::string, GpuRoofs> devices_;  // "cuda:0"
};

// Stops when interrupted(), with what was measured until then.
Results run_bench(KernelRegistry& registry, const BenchOptions& options, Roofline& roofline);

}  // namespace nrd
