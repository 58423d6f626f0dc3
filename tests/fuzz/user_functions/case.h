// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/case.h: one call of an operator, all of it from a seed: sizes, dtypes,
// layouts, what is shared, and the data. Who judges makes the same case again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "element.h"
#include "signature.h"

namespace judge {

struct OperandCase {
  nereid_dtype dtype{};
  std::vector<int64_t> sizes, strides;  // leading axes first; strides in elements
  size_t leading = 0;                   // how many of the axes are leading ones
  bool at_begin = false;                // the memory begins, rather than ends, at a guard page
  int owner = -1;                       // an output whose memory it is, too
  int64_t shift = 0;                    // then: its elements lie this much further
  int64_t lowest = 0;                   // the element with the lowest address, as an offset
  int64_t span = 0;                     // from there to the highest
  size_t region_bytes = 0;              // whole pages
  size_t offset = 0;                    // bytes from the region's begin to the element at index 0

  int64_t core_count() const;
  bool empty() const;
};

enum class Data { kSmooth, kPositive, kWhole, kSpecial };

struct Case {
  bool possible = true;  // no size is negative
  uint64_t seed = 0;
  Values values;                          // axes and integer attributes
  std::map<std::string, double> numbers;  // attributes
  std::vector<int64_t> leading;
  std::vector<OperandCase> operands;  // as the signature has them
  Data data = Data::kSmooth;
  int64_t limit = 4;   // of integers that may be indices
  bool wild = false;   // integers of any value
  std::string misfit;  // why the call must be refused; empty: it need not be
  std::map<std::string, double> odd_integers;  // attributes that are no such integers
  const char* backend = "cpu";
  int threads = 1;
  bool planned = false;  // prepared, and run twice from the same state with a workspace of its own
  std::string text;      // for reports

  int64_t instances() const;
};

Case make_case(const CFunction& f, const OpSignature& s, uint64_t seed);

// The content of an operand's region before the call.
void fill(const Case& c, size_t operand, char* region);

// The offset in elements of an instance's first element.
int64_t instance_offset(const Case& c, const OperandCase& operand, int64_t instance);
// And of the core element with this number from there.
int64_t core_offset(const OperandCase& operand, int64_t element);

// The parameter behind an operand; null: the function's result.
const CParam* parameter_of(const CFunction& f, const std::string& operand);

}  // namespace judge
