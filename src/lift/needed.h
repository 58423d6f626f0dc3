// SPDX-License-Identifier: MIT
// src/lift/needed.h: what stores and the result of a LoopTree need.
#pragma once

#include "lift/loop_tree.h"

namespace nrd::lift {

// Everything else is dead: counters of instrumentation, guards of what has no effect, values that
// a path computes and drops.
struct Needed {
  std::vector<bool> nodes;
  std::vector<bool> regions;

  Needed(const Function& function, const LoopTree& tree);
};

}  // namespace nrd::lift
