// SPDX-License-Identifier: MIT
// src/cuda/launch/loops.cpp
#include "cuda/launch/loops.h"

namespace nrd::cuda {
namespace {

// The step along axis `d` of `rank` axes that are aligned with the operand's at the right, `behind`
// axes further in.
int64_t step_along(const OperandDesc& operand, int rank, int d, int behind) {
  if (!operand.present) return 0;
  const int own = operand.sizes.size() - behind - (rank - d);
  return own < 0 || operand.sizes[own] == 1 ? 0 : operand.strides[own];
}

bool walks_as_one(const Loops& loops, size_t outer) {
  for (const std::vector<int64_t>& steps : loops.steps)
    if (steps[outer] != steps[outer + 1] * loops.sizes[outer + 1]) return false;
  return true;
}

void erase_axis(Loops& loops, size_t axis) {
  loops.sizes.erase(loops.sizes.begin() + static_cast<ptrdiff_t>(axis));
  for (std::vector<int64_t>& steps : loops.steps)
    steps.erase(steps.begin() + static_cast<ptrdiff_t>(axis));
}

}  // namespace

int64_t Loops::count() const {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

void Loops::fold() {
  for (size_t i = sizes.size(); i-- > 0;)
    if (sizes[i] == 1) erase_axis(*this, i);
  for (size_t i = sizes.size(); i-- > 1;) {
    if (!walks_as_one(*this, i - 1)) continue;
    sizes[i] *= sizes[i - 1];
    erase_axis(*this, i - 1);
  }
}

void Loops::for_each(int axes, const std::function<void(const std::vector<int64_t>&)>& body) const {
  int64_t total = 1;
  for (int d = 0; d < axes; d++) total *= sizes[static_cast<size_t>(d)];
  for (int64_t index = 0; index < total; index++) {
    std::vector<int64_t> offsets(steps.size(), 0);
    int64_t left = index;
    for (size_t d = static_cast<size_t>(axes); d-- > 0; left /= sizes[d])
      for (size_t o = 0; o < steps.size(); o++) offsets[o] += left % sizes[d] * steps[o][d];
    body(offsets);
  }
}

Loops leading_loops(const Desc& desc) {
  Loops loops;
  const int rank = desc.leading.size();
  for (int d = 0; d < rank; d++) loops.sizes.push_back(desc.leading[d]);
  for (size_t o = 0; o < desc.operands.size(); o++) {
    const int named = static_cast<int>(desc.signature().operands[o].axes.size());
    loops.steps.emplace_back();
    for (int d = 0; d < rank; d++)
      loops.steps.back().push_back(step_along(desc.operands[o], rank, d, named));
  }
  return loops;
}

Loops element_loops(const Desc& desc) {
  Loops loops = leading_loops(desc);
  const int named = static_cast<int>(desc.signature().operands.front().axes.size());
  for (int d = 0; d < named; d++)
    loops.sizes.push_back(desc.axes[static_cast<size_t>(
        desc.signature().operands.front().axes[static_cast<size_t>(d)].axis)]);
  for (size_t o = 0; o < desc.operands.size(); o++)
    for (int d = 0; d < named; d++)
      loops.steps[o].push_back(step_along(desc.operands[o], named, d, 0));
  return loops;
}

}  // namespace nrd::cuda
