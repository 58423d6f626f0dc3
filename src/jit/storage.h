// SPDX-License-Identifier: MIT
// src/jit/storage.h: outputs narrower than f32 that the trace reads back. Private to lowering.
#pragma once

#include "jit/lower.h"

namespace nrd::jit {

// A trace with one more pointer parameter (f32) for each such output, and what goes with it.
struct Stored {
  OpTrace trace;
  Binding binding;
  std::vector<ValueId> scratch;  // lengths
};

// Every value is f32 until it is stored for the last time: what is read back goes through a scratch
// row. Values that the trace itself has rounded to the output's dtype need none.
Expected<Stored> keep_in_scratch(const OpTrace& trace, const Binding& binding);

}  // namespace nrd::jit
