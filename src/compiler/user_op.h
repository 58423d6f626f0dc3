// SPDX-License-Identifier: MIT
// src/compiler/user_op.h: a user's C function as an operator.
#pragma once

#include <functional>
#include <string>

#include "lift/lift.h"
#include "ops/op.h"
#include "trace/assumption.h"
#include "trace/trace.h"

namespace nrd {

struct UserOpRequest {
  std::string name;
  const void* function = nullptr;
  lift::CSignature c_signature;
  std::string signature;  // the operator's; empty: inferred from the trace
  std::string library;    // where it came from, for messages; may be empty
};

// The two proofs.
struct Proofs {
  bool proved = false;      // the trace equals the function, wherever `assumptions` hold
  bool compiled = false;    // the vector code equals the trace; else the function runs as it is
  bool in_place = false;    // outputs may lie on inputs of their size and dtype
  Assumptions assumptions;  // on the function's integers
  std::string reason;       // why not, where one of them is false
};

// What became of a function.
struct UserOp : Proofs {
  const Op* op = nullptr;
  bool lifted = false;
  OpClass op_class = OpClass::kOpaque;
  double lift_us = 0, prove_us = 0;
};

// An error without the operator's name, which stands in front wherever a reason is shown.
std::string reason_of(Error error);

// Names for parameters that have none: x y z w (const pointers), out, n m k (integers), a b c
// (numbers).
void name_parameters(lift::CSignature& signature);

// A lifted function: its trace in the order of its parameters, and in that of the operands.
struct LiftedFunction {
  const OpTrace& trace;
  const OpTrace& operator_trace;
  const lift::LiftRequest& request;
};

// Calls the function, and the vector code for the best ISA here, in this process, which keeps it.
Proofs prove_function(const LiftedFunction& lifted);

// The same in a child, so that a function which was lifted wrongly can harm nobody: the error then
// says how the child ended. This process makes the same code again and keeps it.
Expected<Proofs> prove_in_child(const LiftedFunction& lifted);

// Nothing is run: the function is unproved and needs a signature.
Expected<Proofs> prove_nothing(const LiftedFunction& lifted);

using Prover = std::function<Expected<Proofs>(const LiftedFunction&)>;

// Lifts, has it proved and adds the operator for the rest of the process. A function that is not
// lifted or not proved still becomes an operator (it runs as it is) if a signature is given.
Expected<UserOp> register_user_op(const UserOpRequest& request,
                                  const Prover& prove = prove_function);

}  // namespace nrd
