// SPDX-License-Identifier: MIT
// src/ops/axis_formula.h: a size that is computed from others: n+1, 2*n, floor(n/32), n+m-1.
//
//   sum     = product {(+|-) product}
//   product = factor {* factor}
//   factor  = number | axis | (sum) | floor(sum/divisor) | ceil(sum/divisor)
//   divisor = number | axis
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace nrd {

class AxisFormula {
 public:
  // Gives the number of an axis by its name.
  struct Names {
    virtual int number_of(std::string_view name) = 0;

   protected:
    ~Names() = default;
  };
  // Nothing where the text is no formula.
  static std::optional<AxisFormula> parse(std::string_view text, Names& names);

  const std::vector<int>& axes() const { return axes_; }  // that it uses, each once

  // Its value, at least 0. Nothing on overflow and division by what is not positive.
  std::optional<int64_t> evaluate(std::span<const int64_t> sizes) const;

  // The size of `axis` that makes the formula `value`, the other axes being known. Nothing where
  // there is none, or where the axis does not enter as a constant times itself.
  std::optional<int64_t> solve(int axis, int64_t value, std::span<const int64_t> sizes) const;

 private:
  enum class Kind : uint8_t { kNumber, kAxis, kAdd, kSub, kMul, kFloor, kCeil };
  struct Node {
    Kind kind = Kind::kNumber;
    int64_t number = 0;  // or the axis
    int a = -1, b = -1;
  };
  // slope * axis + base
  struct Affine {
    int64_t slope = 0, base = 0;
  };
  std::optional<Affine> affine(int node, int axis, std::span<const int64_t> sizes) const;

  std::vector<Node> nodes_;  // the last one is the formula
  std::vector<int> axes_;
  friend class AxisFormulaParser;
};

}  // namespace nrd
