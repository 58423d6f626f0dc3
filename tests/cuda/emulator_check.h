// SPDX-License-Identifier: MIT
// tests/cuda/emulator_check.h: a kernel under several orders of threads.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "emulator/scheduler.h"

namespace nrd::cuda::emulated {

// The seeds that a race is looked for with.
constexpr int kSeeds = 24;

class EmulatorTest : public ::testing::Test {
 protected:
  void TearDown() override {
    emulator::set_seed(0);
    emulator::take_report();
  }
  // With how many seeds the kernel is right.
  template <class Run>
  static int count_right(Run run) {
    int right = 0;
    for (int seed = 0; seed < kSeeds; seed++) {
      emulator::set_seed(static_cast<uint64_t>(seed));
      right += run();
    }
    return right;
  }
};

inline bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Whether a launch came to its end; a data race is all that may have stopped it.
inline bool ended(cudaError_t code) {
  if (code == cudaSuccess) return true;
  const std::string report = emulator::take_report();
  EXPECT_TRUE(contains(report, "a data race")) << report;
  return false;
}

}  // namespace nrd::cuda::emulated
