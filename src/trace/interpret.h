// SPDX-License-Identifier: MIT
// src/trace/interpret.h: runs a trace as its scalar function would: in source order, every value in
// its own type, with the host's libm.
#pragma once

#include "trace/trace.h"

namespace nrd {

// Arguments by kind, each list in the order of the trace's parameters.
struct TraceArgs {
  void* const* pointers = nullptr;  // elements in the parameters' dtypes
  const int64_t* sizes = nullptr;
  const double* numbers = nullptr;  // an f32 number is rounded to f32
  const int* ints = nullptr;
  float (*round_to)(float, int) = nullptr;  // nrd_round_to_f32, for traces with kRoundTo
  int nan_sign = 0;  // 1, -1: that of every NaN whose sign or bits are asked for; 0: as it comes
};

// The trace must be one that verify_trace accepts; memory is not checked.
void interpret(const OpTrace& trace, const TraceArgs& args);

enum class TraceRun : uint8_t {
  kDone,
  kOutside,  // an element that a pointer does not have; what was computed since is worthless
  kTooLong,
};

// The same within bounds: the elements of each pointer, and about how many values are computed.
// Touches nothing outside.
TraceRun interpret_within(const OpTrace& trace, const TraceArgs& args, const int64_t* elements,
                          int64_t most_steps);

}  // namespace nrd
