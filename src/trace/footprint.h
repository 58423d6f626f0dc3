// SPDX-License-Identifier: MIT
// src/trace/footprint.h: how much memory a trace touches, by interval arithmetic on its indices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace nrd {

// Elements of each pointer parameter (in order) that a run with these sizes may touch, were every
// loaded integer in [0, loaded). An upper bound; -1 where an index may be negative or is unbounded.
std::vector<int64_t> footprint(const OpTrace& trace, std::span<const int64_t> sizes,
                               int64_t loaded);

}  // namespace nrd
