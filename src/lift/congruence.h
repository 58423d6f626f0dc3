// SPDX-License-Identifier: MIT
// src/lift/congruence.h: carried values that are always equal.
#pragma once

#include "lift/loop_tree.h"

namespace nrd::lift {

// Of each carried value of a loop the first one that it always equals, bit for bit: compilers keep
// a number in an integer and in a vector register at once, or in two registers.
std::vector<size_t> equal_carries(const Function& function, NodeFactory& factory,
                                  const Region& loop);

}  // namespace nrd::lift
