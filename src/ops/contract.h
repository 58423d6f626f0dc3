// SPDX-License-Identifier: MIT
// src/ops/contract.h: what a user's function needs of a call, found in its trace, and whether a
// call fulfils it. No accepted call reads or writes outside its operands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/desc.h"
#include "trace/assumption.h"
#include "trace/extents.h"

namespace nrd {

// An integer parameter of the C function, with what its type holds.
struct IntegerParam {
  std::string name;
  std::string c_type;  // "int"
  int64_t least = 0, most = 0;
};

struct Contract {
  std::vector<IntegerParam> integers;  // in the order of the signature's core
  const OpTrace* trace = nullptr;      // proved, pointers in operand order; null: unread code
  Assumptions assumptions;             // on the integers, of the proof
};

// Sizes within their C types and as the function assumes them, and every operand as long as what is
// touched of it. Where that hangs on values in memory, `checks` says on which; they are to be
// looked at before each run.
Expected<void> check_contract(const Contract& contract, const Desc& desc,
                              std::vector<ValueCheck>* checks = nullptr);

// What the proof of a user's function assumed of its integers: "n >= 1, n % 2 == 0"; empty where it
// assumed nothing, and of the catalogue's operators.
std::string assumptions_text(const Variant& variant);

// Elements of an operand that one instance may touch.
int64_t core_elements(const Desc& desc, size_t operand);

}  // namespace nrd
