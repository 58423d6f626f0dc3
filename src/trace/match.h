// SPDX-License-Identifier: MIT
// src/trace/match.h: extrema and comparisons under their many spellings.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace nrd {

// op(a, b), whether it is written as that op or as a select on a comparison of a and b.
struct Extremum {
  TraceOp op;  // kMaxFirst kMinFirst kMaxNan kMinNan kMaxNum kMinNum kMax kMin
  ValueId a, b;
};
std::optional<Extremum> extremum_of(const OpTrace& trace, ValueId id);

// A condition that is true where `element` replaces `best`, as the extremum `op` of the two would:
//   element > best                                                kMaxFirst
//   element > best | (element != element & best == best)          kMaxNan: the first NaN stays
// and so for minima. Only strict comparisons: the first of equal elements stays. `negated`: the
// condition is true where best stays.
struct Better {
  TraceOp op;
  ValueId element;
};
std::optional<Better> better_of(const OpTrace& trace, ValueId condition, ValueId best,
                                bool negated);

}  // namespace nrd
