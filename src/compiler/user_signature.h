// SPDX-License-Identifier: MIT
// src/compiler/user_signature.h: the operator signature of a user's function: given or inferred,
// completed by what the trace says, and refused where the trace contradicts it.
#pragma once

#include "compiler/user_function.h"
#include "compiler/user_op.h"
#include "ops/signature.h"

namespace nrd {

// Completed: dtypes of operands by their C types, `&` behind outputs whose contents matter, `int`
// for integers that no shape determines. `user.trace` is the proved one, or empty.
Expected<Signature> user_signature(const UserOpRequest& request, const UserFunction& user,
                                   bool proved);

}  // namespace nrd
