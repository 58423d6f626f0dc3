// SPDX-License-Identifier: MIT
// src/lift/prove.h: the first proof of SPEC 4: the trace is the function.
#pragma once

#include "lift/lift.h"

namespace nrd::lift {

// Interprets the trace in source order and calls the function on the same arguments; every
// written and every untouched element must be equal, bit for bit (any NaN equals any NaN). The
// error names the first difference. Runs the function in this process.
Expected<void> prove_trace(const OpTrace& trace, const LiftRequest& request);

}  // namespace nrd::lift
