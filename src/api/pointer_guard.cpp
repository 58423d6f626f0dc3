// SPDX-License-Identifier: MIT
// src/api/pointer_guard.cpp: the distances that keep operands apart.
#include "api/pointer_guard.h"

#include <limits>

namespace nrd {
namespace {

// Bytes that a view reaches before its first element and to the end of its last.
struct Reach {
  uint64_t before = 0;
  uint64_t after = 0;
  bool is_wild = false;  // more than any memory: check_pointers() refuses it in its own way
};

Reach reach_of(const OperandDesc& operand) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  if (operand.form) return {0, operand.form->bytes(), false};
  Reach reach{0, byte_size(operand.dtype), false};
  for (int d = 0; d < operand.sizes.size(); d++) {
    const int64_t stride = operand.strides[d];
    const uint64_t step =
        stride < 0 ? uint64_t{0} - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
    uint64_t bytes = 0;
    reach.is_wild |=
        __builtin_mul_overflow(step, static_cast<uint64_t>(operand.sizes[d] - 1), &bytes);
    reach.is_wild |= __builtin_mul_overflow(bytes, byte_size(operand.dtype), &bytes);
    reach.is_wild |= bytes > kMost;
    if (reach.is_wild) return reach;
    (stride < 0 ? reach.before : reach.after) += bytes;
  }
  return reach;
}

bool has_memory(const OperandDesc& operand) {
  if (!operand.present) return false;
  for (int64_t size : operand.sizes)
    if (size == 0) return false;
  return true;
}

// What same_elements() asks besides the address.
bool are_alike(const OperandDesc& a, const OperandDesc& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
}

}  // namespace

PointerGuard::PointerGuard(const Desc& desc) {
  const auto inputs = static_cast<uint32_t>(desc.signature().inputs);
  const auto count = static_cast<uint32_t>(desc.operands.size());
  constexpr uint64_t kEveryAddress = std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kNever = kEveryAddress;
  for (uint32_t i = 0; i < count; i++) {
    if (!has_memory(desc.operands[i])) continue;
    const Reach reach = reach_of(desc.operands[i]);
    const Form* form = desc.operands[i].form;
    const size_t alignment = form ? form->alignment() : byte_size(desc.operands[i].dtype);
    singles_.push_back({i, static_cast<uint32_t>(alignment - 1), reach.before,
                        kEveryAddress - reach.before - reach.after});
  }
  for (uint32_t out = inputs; out < count; out++) {
    const OperandDesc& output = desc.operands[out];
    if (!has_memory(output)) continue;
    const Reach a = reach_of(output);
    for (uint32_t i = 0; i < out; i++) {  // each pair of outputs once
      const OperandDesc& other = desc.operands[i];
      if (!has_memory(other)) continue;
      const Reach b = reach_of(other);
      const bool is_wild = a.is_wild || b.is_wild;
      pairs_.push_back(
          {out, i, is_wild ? kNever : a.after + b.before, is_wild ? kNever : b.after + a.before,
           !is_wild && i < inputs && may_be_output(desc, i) && are_alike(output, other)});
    }
  }
}

}  // namespace nrd
