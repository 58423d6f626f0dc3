// SPDX-License-Identifier: MIT
// src/cuda/launch/row_axes.cpp
#include "cuda/launch/row_axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace nrd::cuda {

RowAxes::RowAxes(const Desc& desc, std::initializer_list<std::string_view> names) : desc_(desc) {
  for (int64_t size : desc.leading) axes_.push_back({size, -1, {}});
  for (std::string_view name : names) {
    const int axis = desc.signature().find_axis(name);
    axes_.push_back({desc.axes[static_cast<size_t>(axis)], axis, {}});
  }
}

void RowAxes::add(RowOperand& operand, std::string_view name, Inside inside) {
  const Signature& s = desc_.signature();
  const int index = s.find_operand(name);
  if (index < 0 || !desc_.operands[static_cast<size_t>(index)].present) return;
  const OperandDesc& given = desc_.operands[static_cast<size_t>(index)];
  const OperandSpec& spec = s.operands[static_cast<size_t>(index)];
  const int named = static_cast<int>(spec.axes.size());
  const int extra = given.sizes.size() - named, leading = desc_.leading.size();
  auto stride_of = [&](int axis) -> int64_t {
    for (int d = 0; d < named; d++)
      if (axis >= 0 && spec.axes[static_cast<size_t>(d)].axis == axis)
        return given.strides[extra + d];
    return 0;
  };
  operand.present = true;
  operand.dtype = given.dtype;
  operand.step = inside.column.empty() ? 1 : stride_of(s.find_axis(inside.column));
  operand.head = inside.head.empty() ? 0 : stride_of(s.find_axis(inside.head));
  operand.table = inside.table.empty() ? 0 : stride_of(s.find_axis(inside.table));
  for (size_t i = 0; i < axes_.size(); i++) {
    const int d = static_cast<int>(i) - (leading - extra);  // among the operand's own leading axes
    const bool is_leading = axes_[i].named < 0;
    int64_t stride = 0;
    if (!is_leading) stride = stride_of(axes_[i].named);
    if (is_leading && d >= 0 && given.sizes[d] != 1) stride = given.strides[d];
    axes_[i].strides.push_back(stride);
  }
  operands_.push_back(&operand);
}

bool RowAxes::joins(const Axis& outer, const Axis& inner) const {
  for (size_t o = 0; o < operands_.size(); o++)
    if (outer.strides[o] != inner.strides[o] * inner.size) return false;
  return true;
}

Expected<void> RowAxes::fold(int64_t (&outer)[kRowAxes]) {
  std::vector<Axis> folded;
  for (const Axis& axis : axes_) {
    if (axis.size == 1) continue;
    if (!folded.empty() && joins(folded.back(), axis)) {
      folded.back().size *= axis.size;
      folded.back().strides = axis.strides;
    } else {
      folded.push_back(axis);
    }
  }
  if (folded.size() > kRowAxes)
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = desc_.op->name,
                       .argument = "strides",
                       .got = fmt::format("{} outer axes that do not fold", folded.size()),
                       .allowed = fmt::format("{} at most", kRowAxes),
                       .hint = "make the operands contiguous"});
  const size_t first = kRowAxes - folded.size();
  for (size_t i = 0; i < kRowAxes; i++) {
    outer[i] = i < first ? 1 : folded[i - first].size;
    for (size_t o = 0; o < operands_.size(); o++)
      operands_[o]->outer[i] = i < first ? 0 : folded[i - first].strides[o];
  }
  return {};
}

}  // namespace nrd::cuda
