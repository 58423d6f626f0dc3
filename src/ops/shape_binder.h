// SPDX-License-Identifier: MIT
// src/ops/shape_binder.h: sizes of a signature's axes from the shapes of operands. Private to bind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/desc.h"

namespace nrd {

// Operands first, one by one, then finish(); then everything can be asked.
class ShapeBinder {
 public:
  explicit ShapeBinder(Desc& desc);
  Expected<void> bind_operand(size_t index);
  // Derived axes, then everything that depends on a block count.
  Expected<void> finish();
  Dims shape(const OperandSpec& spec) const;
  // An axis that no input has (head_dim of rope_table) must come from a given output.
  Expected<void> check_known(const OperandSpec& spec) const;
  Expected<void> check_operand(size_t index) const;

 private:
  int64_t integer_attribute(const Axis& axis) const;
  // An axis that no operand has as it is may follow from one that has a formula of it: n from 2*n.
  bool solve_one();
  bool solve(const AxisFormula& formula, const OperandSpec& spec, int64_t size);
  // An output that is not given may still have one of these axes: check_known speaks of it.
  Expected<void> check_core() const;
  bool is_of_missing(int axis) const;
  Expected<void> set_axis(const OperandSpec& spec, const OperandDesc& operand, int axis,
                          int64_t size);
  Expected<void> add_leading(const OperandSpec& spec, const OperandDesc& operand, int extra);
  Desc& desc_;
  const Signature& s_;
  std::vector<char> known_;
  std::map<int, std::string> first_;
};

}  // namespace nrd
