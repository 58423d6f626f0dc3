// SPDX-License-Identifier: MIT
// src/jit/lane_range.h: whether a 64-bit integer of data can be computed in lanes of 32 bits.
#pragma once

#include "trace/trace.h"

namespace nrd::jit {

// Sizes and counters are taken to fit, as everywhere in vector code; what comes from memory fits
// where its type and the operations on it say so.
bool fits_in_lane(const OpTrace& trace, ValueId id);

// An i32 of data or a masked one: from 0 to `last` in every lane.
bool is_lane_within(const OpTrace& trace, ValueId id, int64_t last);

// Never below 0, whatever the sizes are.
bool is_never_negative(const OpTrace& trace, ValueId id);

}  // namespace nrd::jit
