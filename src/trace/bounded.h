// SPDX-License-Identifier: MIT
// src/trace/bounded.h: a trace in double, with a first-order bound on what f32 may differ by.
//
// Each f32 operation adds its own rounding (half a unit; two units for functions such as exp) and
// passes on its operands' bounds, times the derivative. A sum of n terms adds n eps sum|terms|,
// whatever its order. Where a comparison, a rounding to integers or to a narrow type might go
// either way within kDecisionSlack bounds, the result's bound covers both ways. An infinite bound
// means that nothing is known: the interval met a pole, the end of a domain or of f32's range.
#pragma once

#include "trace/trace.h"

namespace nrd {

struct Bounded {
  double value = 0;
  double bound = 0;
};

// Checkers accept this many bounds, so decisions are open this far.
constexpr double kDecisionSlack = 4;

// As TraceArgs, but for pointers: floats, and integers that are written, are arrays of Bounded
// (inputs usually with bound 0); integers that are only read stay in their dtype.
struct BoundedArgs {
  void* const* pointers = nullptr;
  const int64_t* sizes = nullptr;
  const double* numbers = nullptr;
  const int* ints = nullptr;
};

// The trace must be one that verify_trace accepts. Indices and loop extents are taken at their
// value, whatever their bound; what is loaded from an uncertain index has an infinite bound.
void interpret_bounded(const OpTrace& trace, const BoundedArgs& args);

// NaN wants NaN and an infinity the same infinity, unless the bound is infinite: then anything will
// do.
bool within(double got, const Bounded& want, double factor);

}  // namespace nrd
