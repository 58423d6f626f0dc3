// SPDX-License-Identifier: MIT
// src/workbench/data.h: the inputs of a case, made from a seed and a counter.
//
// An element's value depends on the case's seed, the operand and the element's logical index
// alone, so that every process, layout and sampled part of a case sees the same data.
#pragma once

#include <cstdint>

#include "workbench/case.h"

namespace nrd {

// The values of one operand before they are rounded to its dtype.
class OperandValues {
 public:
  OperandValues(const Case& c, size_t operand);
  double operator[](uint64_t logical_index) const;
  bool operator==(const OperandValues&) const = default;

 private:
  // What an operand holds follows from its dtype and its name.
  enum class Role { kValue, kScale, kIndex, kInteger };

  Role role_ = Role::kValue;
  int64_t indices_ = 1;        // kIndex: how many there are to point at
  double low_ = 0, high_ = 0;  // kInteger
  double largest_ = 0;         // of an 8-bit float; 0 for others
  double constant_ = 1.5;
  uint64_t key_ = 0;
  Distribution distribution_ = Distribution::kNormal;
};

// Fills operand `index` of the case in memory of its dtype and strides, with `threads` threads.
void fill_operand(const Case& c, size_t index, void* data, int threads = 1);

// Whether what an operand holds before a run matters: an input, or an output that is read too. Both
// are filled alike.
bool has_contents(const Desc& desc, size_t operand);
// Whether a run changes what the next one would begin with: some output is read too.
bool reads_outputs(const Desc& desc);

// The value of one element; a loop makes an OperandValues once.
double element_value(const Case& c, size_t operand, uint64_t logical_index);

}  // namespace nrd
