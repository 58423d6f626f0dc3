// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/race.h: several ways to do the same, timed in turn on one device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/launch/timing.h"
#include "workbench/nvml.h"

namespace nrd::bench {

struct Runner {
  std::string name;
  // Call `i`: which copy of the operands it takes.
  std::function<Expected<void>(int i, cuda::Stream stream)> call;
  std::vector<double> slices = {};  // us a call, in round order
  GpuReadings readings = {};
  std::string error = {};  // the first; it does not run again
};

struct RaceOptions {
  int rounds = 10;
  double slice_ms = 10;
  // Calls in a row as one graph; 0: each one alone, behind `between`, and timed alone.
  int calls_a_graph = 0;
  std::function<Expected<void>(cuda::Stream)> between = {};
  const Nvml* nvml = nullptr;
};

// A B C A B C ...
void race(std::vector<Runner>& runners, const RaceOptions& options, cuda::Stream stream);

double median(std::vector<double> values);
// The median over rounds of `of`'s time by `runner`'s: above 1 where the runner is faster.
double ratio(const Runner& runner, const Runner& of);

}  // namespace nrd::bench
