// SPDX-License-Identifier: MIT
// tests/compiler/function_machine.h: runs a Function of the lifter on this process's memory, as
// the code it was made from would.
#pragma once

#include <span>

#include "lift/function.h"

namespace nrd::lift {

// Arguments are the bits of each parameter (floats in the low half). Returns the result's bits.
// Stops with `finished` false after too many blocks.
struct FunctionRun {
  uint64_t result = 0;
  bool finished = false;
};
FunctionRun run_function(const Function& function, std::span<const uint64_t> arguments);

}  // namespace nrd::lift
