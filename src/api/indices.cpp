// SPDX-License-Identifier: MIT
// src/api/indices.cpp: index operands must point into the table they index.
#include "api/call.h"

namespace nrd {
namespace {

bool has_axis(const OperandSpec& spec, int axis) {
  for (const AxisRef& ref : spec.axes)
    if (ref.axis == axis) return true;
  return false;
}

// The first axis of an input that no output has: the rows of a table. -1 if there is none.
int indexed_axis(const Signature& s) {
  for (size_t i = 0; i < static_cast<size_t>(s.inputs); i++) {
    if (s.operands[i].axes.empty()) continue;
    const int axis = s.operands[i].axes.front().axis;
    bool in_output = false;
    for (size_t out = static_cast<size_t>(s.inputs); out < s.operands.size(); out++)
      in_output = in_output || has_axis(s.operands[out], axis);
    if (!in_output) return axis;
  }
  return -1;
}

// Calls visit(value, offset) for each element of a strided i32 view until it returns false.
template <class Visit>
void for_each(const OperandDesc& operand, const int32_t* data, Visit&& visit) {
  const int rank = operand.sizes.size();
  int64_t count = 1;
  for (int64_t size : operand.sizes) count *= size;
  for (int64_t i = 0; i < count; i++) {
    int64_t offset = 0, rest = i;
    for (int d = rank - 1; d >= 0; d--) {
      offset += rest % operand.sizes[d] * operand.strides[d];
      rest /= operand.sizes[d];
    }
    if (!visit(data[offset], i)) return;
  }
}

// -1 when the elements do not lie side by side.
int64_t contiguous_count(const OperandDesc& operand) {
  const TensorView view{nullptr, operand.dtype, operand.sizes, operand.strides, {}};
  return view.is_contiguous() ? view.count() : -1;
}

}  // namespace

std::vector<IndexCheck> index_checks(const Desc& desc) {
  const Signature& s = desc.signature();
  std::vector<IndexCheck> checks;
  const int axis = indexed_axis(s);
  if (axis < 0 || desc.device.kind != DeviceKind::kCpu) return checks;
  for (size_t i = 0; i < static_cast<size_t>(s.inputs); i++)
    if (desc.operands[i].present && s.operands[i].dtypes == DTypeClass::kI32 &&
        !has_axis(s.operands[i], axis))
      checks.push_back(
          {i, desc.axes[static_cast<size_t>(axis)], contiguous_count(desc.operands[i])});
  return checks;
}

bool indices_pass(std::span<const IndexCheck> checks, void* const* pointers) {
  bool wrong = false;  // no early end: the loop over good indices is the one to be fast
  for (const IndexCheck& check : checks) {
    const auto* values = static_cast<const int32_t*>(pointers[check.operand]);
    for (int64_t i = 0; i < check.contiguous; i++)
      wrong |= values[i] < 0 || values[i] >= check.limit;
    wrong |= check.contiguous < 0;
  }
  return !wrong;
}

Expected<void> check_indices(const Desc& desc, std::span<const IndexCheck> checks,
                             void* const* pointers) {
  for (const IndexCheck& check : checks) {
    const auto* data = static_cast<const int32_t*>(pointers[check.operand]);
    int64_t bad_index = -1;
    int32_t bad_value = 0;
    for_each(desc.operands[check.operand], data, [&](int32_t value, int64_t index) {
      if (value >= 0 && value < check.limit) return true;
      bad_value = value;
      bad_index = index;
      return false;
    });
    if (bad_index >= 0)
      return make_error({ErrorCode::kInvalidArgument, desc.op->name,
                         desc.signature().operands[check.operand].name,
                         fmt::format("{} at element {}", bad_value, bad_index),
                         check.limit > 0 ? fmt::format("0 to {}", check.limit - 1)
                                         : "nothing: the table is empty",
                         ""});
  }
  return {};
}

}  // namespace nrd
