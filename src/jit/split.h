// SPDX-License-Identifier: MIT
// src/jit/split.h: whether the iterations of a trace's outermost loop may be shared out.
#pragma once

#include "jit/vectorize.h"

namespace nrd::jit {

// The one loop at the top of the trace (but for loops that run in order, which store nothing), if
// there is nothing else to execute, it carries nothing and no iteration touches what another one
// stores; -1 otherwise.
int loop_to_split(const Analysis& analysis);

// Ranges of that loop begin at multiples of this: vectors must not straddle the blocks of x[i / K].
int64_t grain_of(const Analysis& analysis, uint16_t loop);

}  // namespace nrd::jit
