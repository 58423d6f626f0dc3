// SPDX-License-Identifier: MIT
// src/trace/coverage.h: whether what an output held before a run matters to what it holds after.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace nrd {

// By pointer, in order: whether a run with these sizes may read an element of it before writing it,
// or may leave one of its first `elements` unwritten. False for what is only read. Nothing is
// assumed of data: a store under a condition on data may not happen, a load may.
std::vector<bool> needs_contents(const OpTrace& trace, std::span<const int64_t> sizes,
                                 std::span<const int64_t> elements);

}  // namespace nrd
