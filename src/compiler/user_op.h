// SPDX-License-Identifier: MIT
// src/compiler/user_op.h: a user's C function as an operator (SPEC 1).
#pragma once

#include <string>

#include "lift/lift.h"
#include "ops/op.h"
#include "trace/trace.h"

namespace nrd {

struct UserOpRequest {
  std::string name;
  const void* function = nullptr;
  lift::CSignature c_signature;
  std::string signature;  // the operator's; empty: inferred from the trace
  std::string library;    // where it came from, for messages; may be empty
};

// What became of a function.
struct UserOp {
  const Op* op = nullptr;
  bool lifted = false;
  bool proved = false;    // the trace equals the function (first proof)
  bool compiled = false;  // the vector code equals the trace (second proof); else it runs as it is
  OpClass op_class = OpClass::kOpaque;
  std::string reason;  // why not, where one of them is false
  double lift_us = 0, prove_us = 0;
};

// Names for parameters that have none: x y z w (const pointers), out, n m k (integers), a b c
// (numbers).
void name_parameters(lift::CSignature& signature);

// Lifts, proves and adds the operator for the rest of the process. A function that is not lifted
// or not proved still becomes an operator (it runs as it is) if a signature is given.
Expected<UserOp> register_user_op(const UserOpRequest& request);

}  // namespace nrd
