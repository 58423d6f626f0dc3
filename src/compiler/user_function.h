// SPDX-License-Identifier: MIT
// src/compiler/user_function.h: a user's C function, callable like a build of a definition.
#pragma once

#include <string>
#include <vector>

#include "lift/lift.h"
#include "ops/contract.h"
#include "ops/op.h"
#include "trace/trace.h"

namespace nrd {

// What the definitions of a user's operator point to. Lives as long as the process, as the
// operator does. Operands list inputs first, whatever the order in C.
struct UserFunction {
  std::string name;
  const void* function = nullptr;
  lift::CSignature signature;
  std::vector<DType> elements;             // of the operands: inputs, then outputs
  size_t inputs = 0;                       // how many of them
  size_t sizes = 0;                        // integer parameters; one for a map over values
  std::vector<std::string> numbers;        // names of the operator's number attributes
  std::vector<size_t> operand_of_pointer;  // the operand that each pointer of the C function is
  OpTrace trace;                           // with the operands' order; empty if not proved
  Contract contract;                       // what a call must fulfil
  std::string reason;                      // why it runs as it is; empty where it does not
};

// Reads operands, sizes and numbers off the C signature. The error says what no operator can have.
Expected<void> describe_function(UserFunction& user);

// Keeps a proved trace, its pointers in operand order. What is an input and what an output is then
// known from what is written, const or not.
Expected<void> keep_trace(UserFunction& user, OpTrace trace);

// Its integers with the bounds of their C types. A map over values has one, of any length.
std::vector<IntegerParam> integer_params(const UserFunction& user);

// The function as it is; or its trace in double, the checker's reference.
Definition function_definition(const UserFunction& user);
Definition reference_definition(const UserFunction& user);

}  // namespace nrd
