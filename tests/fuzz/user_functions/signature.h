// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/signature.h: a function's type in C and an operator's signature, read
// without the library's help.
#pragma once

#include <nereid/c.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace judge {

struct CParam {
  enum Kind { kPointer, kInteger, kFloat, kDouble, kVoid };
  Kind kind = kInteger;
  std::string name;
  bool is_const = false;
  nereid_dtype element{};  // behind a pointer; 0: a type that no operand has
  bool is_signed = true;   // an integer
  int bytes = 8;           // of an integer, or of what is behind a pointer
};

struct CFunction {
  std::string name;
  std::string type;  // "void(const float* x, float* out, size_t n)"
  CParam result;
  std::vector<CParam> params;

  bool is_map() const;  // float f(float, ...): an element a call
};

// "name | void(const float* x, ...)"
CFunction parse_listing_line(std::string_view line);

using Values = std::map<std::string, int64_t>;  // of axes and integer attributes

struct OperandSpec {
  std::string name;
  bool output = false;
  std::vector<std::string> axes;  // expressions: "n", "floor(n/32)", "n+m-1", "32"
};

struct OpSignature {
  std::vector<OperandSpec> operands;
  std::vector<std::string> axes;  // the names that shapes consist of, in order of appearance
  std::vector<std::string> ints;  // integer attributes
  std::vector<std::string> even;  // axes that must be even
};

OpSignature parse_op_signature(std::string_view text);

// The size that an axis expression has; negative: none.
int64_t evaluate(std::string_view expression, const Values& values);

}  // namespace judge
