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
#include "trace/assumption.h"
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

// What is known of a user's function when code for it is tried.
struct CodeTrust {
  const Assumptions* assumptions = nullptr;  // samples keep to them; null: none
  bool in_place = false;                     // outputs may lie on inputs
  bool proved_elsewhere = false;             // the same code was proved in another process
};

// Makes and proves the code of a user's trace for the best ISA of this process, in the dtypes of
// the trace, and keeps it for compile_operator.
Expected<void> compile_user_code(const OpTrace& trace, const CodeTrust& trust);

// The same for a trace alone and one target, not kept: for proofs and tests.
Expected<std::shared_ptr<const Body>> compile_trace(const OpTrace& trace,
                                                    const jit::Binding& binding,
                                                    const jit::Target& target);

// The ISA word that compile_operator would emit for; empty: none (no back end, or the system
// refuses executable memory).
std::string_view compile_target(const IsaSet& isa);

// The f32 code of a trace as text, for `nereid lift --dump asm`.
Expected<std::string> operator_assembly(const OpTrace& trace, const IsaSet& isa);

}  // namespace nrd
