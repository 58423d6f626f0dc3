// SPDX-License-Identifier: MIT
// src/lift/prove.h: the first proof: the trace is the function, wherever the function is defined.
#pragma once

#include "lift/lift.h"
#include "trace/assumption.h"

namespace nrd::lift {

struct TraceProof {
  Assumptions assumptions;  // of the integers, in the order of the trace's parameters
  bool in_place = false;    // any output may be the same memory as any input of its size and dtype
};

struct ProofRequest {
  bool in_place = false;  // find out whether outputs may lie on inputs
};

// On each sample the code is first followed step by step (function_machine.h), then its trace is
// interpreted, both with checked memory and bounded steps. Where the code is defined the two must
// agree bit for bit (any NaN equals any NaN), and only then the function itself is called, in this
// process, and must agree too. Where it is not, that must follow from a few conditions on the
// integers, which are the result. The error names the first difference (kInternal: it was lifted
// wrongly) or what goes wrong in the function (kUnsupported).
Expected<TraceProof> prove_trace(const OpTrace& trace, const LiftRequest& request,
                                 const ProofRequest& wanted = {});

}  // namespace nrd::lift
