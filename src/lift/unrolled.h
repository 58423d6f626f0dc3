// SPDX-License-Identifier: MIT
// src/lift/unrolled.h: loops that a compiler unrolled, as they were written.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// A loop of one block that does the work of several iterations, and what is left of them behind it,
// becomes one loop again, where all copies are shown to compute the same. Whether any did; then
// branches on constants and dead blocks are left over (clean.h). Needs no dominators.
bool roll_loops(Function& function);

}  // namespace nrd::lift
