// SPDX-License-Identifier: MIT
// src/cuda/launch/row_axes.h: the operands of a Desc as rows along few outer axes.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "cuda/launch/rows.h"

namespace nrd::cuda {

class RowAxes {
 public:
  // The outer axes are the leading ones and then those of the signature that are named here.
  RowAxes(const Desc& desc, std::initializer_list<std::string_view> names);

  // Names of the axes inside of a row that an operand has.
  struct Inside {
    std::string_view column = {}, head = {}, table = {};
  };
  // Reads an operand (one that the variant lacks stays absent) and remembers it for fold().
  void add(RowOperand& operand, std::string_view name, Inside inside);

  // Drops axes of size 1 and joins those that every operand steps through as one. Sets the
  // operands' outer strides and the sizes. The error says that more than kRowAxes are left.
  Expected<void> fold(int64_t (&outer)[kRowAxes]);

 private:
  struct Axis {
    int64_t size;
    int named;                     // of the signature, or -1
    std::vector<int64_t> strides;  // as operands_
  };
  bool joins(const Axis& outer, const Axis& inner) const;

  const Desc& desc_;
  std::vector<Axis> axes_;
  std::vector<RowOperand*> operands_;
};

}  // namespace nrd::cuda
