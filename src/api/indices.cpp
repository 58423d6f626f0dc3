// SPDX-License-Identifier: MIT
// src/api/indices.cpp: values that lead to indices must point into what they index.
#include "api/call.h"
#include "base/convert.h"

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

// Calls visit(value, index) for each element of a strided view until it returns false.
template <class Visit>
void for_each(const OperandDesc& operand, const void* data, Visit&& visit) {
  const int rank = operand.sizes.size();
  const size_t bytes = byte_size(operand.dtype);
  int64_t count = 1;
  for (int64_t size : operand.sizes) count *= size;
  for (int64_t i = 0; i < count; i++) {
    int64_t offset = 0, rest = i;
    for (int d = rank - 1; d >= 0; d--) {
      offset += rest % operand.sizes[d] * operand.strides[d];
      rest /= operand.sizes[d];
    }
    const char* at = static_cast<const char*>(data) + offset * static_cast<int64_t>(bytes);
    double value = 0;
    convert(at, operand.dtype, &value, DType::kF64, 1);
    if (!visit(value, i)) return;
  }
}

// -1 when the elements do not lie side by side.
int64_t contiguous_count(const OperandDesc& operand) {
  const TensorView view{nullptr, operand.dtype, operand.sizes, operand.strides, {}};
  return view.is_contiguous() ? view.count() : -1;
}

IndexCheck make_check(const Desc& desc, size_t operand, double low, double high) {
  const OperandDesc& o = desc.operands[operand];
  return {operand, o.dtype, low, high, contiguous_count(o)};
}

// No early end: the loop over good values is the one to be fast.
template <class T>
bool all_within(const void* data, int64_t count, T low, T high) {
  const T* values = static_cast<const T*>(data);
  bool wrong = false;
  for (int64_t i = 0; i < count; i++) wrong |= !(values[i] >= low && values[i] <= high);
  return !wrong;
}

bool passes(const IndexCheck& c, const void* data) {
  if (c.contiguous < 0) return false;
  switch (c.dtype) {
    case DType::kI32:
      return all_within(data, c.contiguous, static_cast<int32_t>(c.low),
                        static_cast<int32_t>(c.high));
    case DType::kU8:
      return all_within(data, c.contiguous, static_cast<uint8_t>(c.low),
                        static_cast<uint8_t>(c.high));
    case DType::kI8:
      return all_within(data, c.contiguous, static_cast<int8_t>(c.low),
                        static_cast<int8_t>(c.high));
    case DType::kF32:
      return all_within(data, c.contiguous, static_cast<float>(c.low), static_cast<float>(c.high));
    default: return false;
  }
}

std::string allowed_text(const IndexCheck& c) {
  if (c.high < c.low) return "nothing: the table is empty";
  return fmt::format("{:.9g} to {:.9g}", c.low, c.high);
}

}  // namespace

std::vector<IndexCheck> index_checks(const Desc& desc) {
  const Signature& s = desc.signature();
  std::vector<IndexCheck> checks;
  if (desc.device.kind != DeviceKind::kCpu) return checks;
  for (const ValueCheck& v : desc.value_checks)
    checks.push_back(make_check(desc, v.operand, v.low, v.high));
  const int axis = desc.op->group == "user" ? -1 : indexed_axis(s);
  if (axis < 0) return checks;
  for (size_t i = 0; i < static_cast<size_t>(s.inputs); i++)
    if (desc.operands[i].present && s.operands[i].dtypes == DTypeClass::kI32 &&
        !has_axis(s.operands[i], axis))
      checks.push_back(
          make_check(desc, i, 0, static_cast<double>(desc.axes[static_cast<size_t>(axis)]) - 1));
  return checks;
}

bool indices_pass(std::span<const IndexCheck> checks, void* const* pointers) {
  bool all = true;
  for (const IndexCheck& check : checks) all = all && passes(check, pointers[check.operand]);
  return all;
}

Expected<void> check_indices(const Desc& desc, std::span<const IndexCheck> checks,
                             void* const* pointers) {
  for (const IndexCheck& check : checks) {
    int64_t bad_index = -1;
    double bad_value = 0;
    for_each(desc.operands[check.operand], pointers[check.operand],
             [&](double value, int64_t index) {
               if (value >= check.low && value <= check.high) return true;
               bad_value = value;
               bad_index = index;
               return false;
             });
    if (bad_index >= 0)
      return make_error({ErrorCode::kInvalidArgument, desc.op->name,
                         desc.signature().operands[check.operand].name,
                         fmt::format("{:.9g} at element {}", bad_value, bad_index),
                         allowed_text(check), ""});
  }
  return {};
}

}  // namespace nrd
