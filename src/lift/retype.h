// SPDX-License-Identifier: MIT
// src/lift/retype.h: which phis and loads should have another type.
#pragma once

#include <vector>

#include "lift/function.h"

namespace nrd::lift {

// For each node its better type, kNone where it has the right one:
// - a float that was moved about in integer registers (all uses cast it), and the reverse;
// - a 64-bit phi of 32-bit numbers, all zero extended: kI32.
std::vector<Type> better_types(const Function& function, const std::vector<bool>& live);

}  // namespace nrd::lift
