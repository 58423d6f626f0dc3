// SPDX-License-Identifier: MIT
// src/compiler/operator.h: a trace becomes vector code, and the body that Evaluation runs.
//
// trace --storage, lower--> vector IR --allocate, encode--> bytes --map--> code
#pragma once

#include <memory>
#include <string>

#include "jit/lower.h"
#include "machine/isa.h"
#include "ops/evaluate.h"
#include "trace/trace.h"

namespace nrd {

// The trace of a bound primitive: embedded for the catalogue's, kept by the operator for a
// user's. Null where there is none.
const OpTrace* trace_of(const Desc& desc);

struct OperatorOptions {
  bool non_temporal = false;  // outputs bypass the cache
};

// Code for the best ISA in `isa`, for desc's dtypes and rounding types and any sizes. Made once
// and kept; a user's is proved, too. The error says what cannot be compiled.
Expected<std::shared_ptr<const Body>> compile_operator(const Desc& desc, const IsaSet& isa,
                                                       const OperatorOptions& options);

// The same for a trace alone and one target, not kept: for proofs and tests. The trace must outlive
// the body.
Expected<std::shared_ptr<const Body>> compile_trace(const OpTrace& trace,
                                                    const jit::Binding& binding,
                                                    const jit::Target& target);

// The ISA word that compile_operator would emit for; empty: none (no back end, or the system
// refuses executable memory).
std::string_view compile_target(const IsaSet& isa);

// The f32 code of a trace as text, for `nereid lift --dump asm`.
Expected<std::string> operator_assembly(const OpTrace& trace, const IsaSet& isa);

}  // namespace nrd
