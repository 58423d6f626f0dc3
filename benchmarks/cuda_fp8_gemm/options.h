// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/options.h: what the command line asks for; main.cpp has the words.
#pragma once

#include <vector>

#include "problem.h"

namespace nrd::bench {

struct Options {
  std::vector<Mode> modes;
  bool all_configs = true, gaps = false;
  bool plain = false;  // of all configurations those without clusters and cuts
  int top = 5, rounds = 10;
  double slice_ms = 10;
};

Expected<Options> read_options(int argc, char** argv);

}  // namespace nrd::bench
