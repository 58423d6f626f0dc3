// SPDX-License-Identifier: MIT
// src/lift/loop_shape.h: where a natural loop is left, and which part of it runs how often.
#pragma once

#include "lift/loop_tree.h"

namespace nrd::lift {

// The only way out is an edge from exit_block, which every iteration reaches, to exit_target.
struct LoopShape {
  BlockId exit_block = kNoBlock;
  BlockId exit_target = kNoBlock;
  bool leaves_on_true = false;
  bool bottom_tested = false;
};

// One a loop of the function; gives up on loops with other exits.
std::vector<LoopShape> loop_shapes(const Function& function);

}  // namespace nrd::lift
