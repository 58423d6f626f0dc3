// SPDX-License-Identifier: MIT
// src/workbench/profile.h: Profiler: times a prepared kernel in slices.
#pragma once

#include <vector>

#include "workbench/runner.h"

namespace nrd {

struct Slice {
  std::vector<double> samples_us;  // time of one call, each the mean of a short batch
};

// How many operand sets a cold case cycles through: together well beyond the last-level cache.
int cold_sets(const Case& c, int64_t last_level_bytes);

class Profiler {
 public:
  explicit Profiler(KernelRunner& runner, bool cold) : runner_(runner), cold_(cold) {}

  // Warms up (every set once, at least half a slice), then samples for `milliseconds`,
  // at least one sample. Short calls are timed in batches so that the clock's own cost vanishes;
  // calls that need restoring one by one.
  Expected<Slice> slice(double milliseconds);

 private:
  double batch_us(int calls);
  double restored_batch_us(int calls);
  void next_set() {
    if (cold_ && ++next_set_ == runner_.sets()) next_set_ = 0;
  }

  KernelRunner& runner_;
  bool cold_;
  int next_set_ = 0;
  int batch_ = 0;  // calls a sample; found on the first slice
  Expected<void> failure_;
};

}  // namespace nrd
