// SPDX-License-Identifier: MIT
// src/jit/size_value.h: which values callers of generated code can compute before it runs.
#pragma once

#include "trace/trace.h"

namespace nrd::jit {

// Made from sizes alone, so that evaluate_size (lower.h) has it.
bool is_known_ahead(const OpTrace& trace, ValueId id);

}  // namespace nrd::jit
