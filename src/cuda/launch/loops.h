// SPDX-License-Identifier: MIT
// src/cuda/launch/loops.h: axes that the operands of a call walk together.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/desc.h"

namespace nrd::cuda {

// Nested loops, the last one innermost, and each operand's step along each, in elements. Absent
// operands have steps of 0, as have axes along which one is broadcast.
struct Loops {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> steps;  // [operand][axis]

  int rank() const { return static_cast<int>(sizes.size()); }
  int64_t count() const;
  // Without axes of size 1; two axes that every operand walks as one become one.
  void fold();
  // Calls body with the element offset of every operand, once for each index of the first `axes`
  // axes.
  void for_each(int axes, const std::function<void(const std::vector<int64_t>&)>& body) const;
};

// The leading axes of a Desc.
Loops leading_loops(const Desc& desc);
// Those and the named axes of the first operand, which every operand must have or be broadcast
// along: the loops of an elementwise operator.
Loops element_loops(const Desc& desc);

}  // namespace nrd::cuda
