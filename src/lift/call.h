// SPDX-License-Identifier: MIT
// src/lift/call.h: calls a function of any signature, with neither a compiler nor libffi.
#pragma once

#include "lift/lift.h"

namespace nrd::lift {

// Arguments that do not fit into registers. A struct behind a pointer is one argument.
constexpr size_t kMaxStackArguments = 16;

// Whether call_function can: what it lacks is room for more arguments.
Expected<void> check_callable(const CSignature& signature);

// One word a parameter: a pointer, an integer, the bits of a number (a float's in the low half), or
// the address of a struct, which lives as long as this.
struct CallWords {
  std::vector<int64_t> words;
  std::vector<std::vector<int64_t>> structs;  // in the order of the parameters that are one
};
CallWords call_words(const CSignature& signature, void* const* pointers,
                     const int64_t* sizes_and_ints, const double* numbers);

// Arguments by kind, each list in the order of the parameters with structs flattened into their
// fields: pointers, integers (sizes and ints, signed or not), floating-point numbers (a float is
// rounded from its double). `result` gets a float widened, an integer converted. Where it is null,
// what a function of pointers returns is stored, as the float, double or int32_t that it is, behind
// the last pointer, as the operator has it.
void call_function(const void* function, const CSignature& signature, void* const* pointers,
                   const int64_t* sizes_and_ints, const double* numbers, double* result);

}  // namespace nrd::lift
