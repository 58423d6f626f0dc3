// SPDX-License-Identifier: MIT
// src/trace/program.h: a trace as one list of steps, so that interpreters need no recursion.
#pragma once

#include "trace/trace.h"

namespace nrd {

enum class StepKind : uint8_t { kValue, kBegin, kEnd };

struct Step {
  StepKind kind = StepKind::kValue;
  uint16_t loop = 0;   // of kBegin, kEnd
  ValueId value = 0;   // of kValue
  uint32_t other = 0;  // kBegin: the step after the loop; kEnd: the first step of the loop
};

// Live values and loops in execution order, without constants and parameters, which an interpreter
// sets once.
std::vector<Step> linearise(const OpTrace& trace);

// Each parameter's place among those of its kind.
std::vector<size_t> param_ranks(const OpTrace& trace);

}  // namespace nrd
