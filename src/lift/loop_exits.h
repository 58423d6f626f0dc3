// SPDX-License-Identifier: MIT
// src/lift/loop_exits.h: loops that a compiler gave more than one exit, with one again.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// Two things compilers do to loops are undone: an exit test that was copied to the end of several
// paths becomes one test behind them, and a test that has the same outcome in every iteration is
// made once, before the loop. Loops that have other exits stay as they are.
void tidy_exits(Function& function, NodeFactory& factory);

}  // namespace nrd::lift
