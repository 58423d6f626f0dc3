// SPDX-License-Identifier: MIT
// src/trace/extents.h: which elements of its operands a trace touches when its sizes are known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/bounds.h"
#include "trace/trace.h"

namespace nrd {

// Of one pointer parameter: every element that is read or written lies in [first, end).
struct Extent {
  int64_t first = 0;
  int64_t end = 0;
  ValueId lowest = kNoValue, highest = kNoValue;  // the accesses that reach there
  bool is_bounded() const { return first > kUnboundedLow && end < kUnboundedHigh; }
  bool fits(int64_t elements) const { return first >= 0 && end <= elements; }
};

// By pointer, in order. Sound: a run with these sizes touches nothing else, provided the elements
// that it loads lie in `loaded` (see Bounds).
std::vector<Extent> extents(const OpTrace& trace, std::span<const int64_t> sizes,
                            std::span<const LoadedRange> loaded = {});

// By pointer, in order: whether values are loaded from it that an index or an extent is made of.
std::vector<bool> index_sources(const OpTrace& trace);

// "x[i0+1]": an access as a person would write it.
std::string access_text(const OpTrace& trace, ValueId access);

}  // namespace nrd
