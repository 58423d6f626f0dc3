// SPDX-License-Identifier: MIT
// src/ops/shape_binder.cpp: axes that operands have, that follow from them, and those that do not.
#include "ops/shape_binder.h"

#include <fmt/format.h>

#include <optional>

namespace nrd {
namespace {

Error shape_error(const Desc& desc, const OperandSpec& spec, const Dims& sizes, std::string allowed,
                  std::string hint = "") {
  return make_error({.code = ErrorCode::kShapeMismatch,
                     .op = desc.op->name,
                     .argument = spec.name,
                     .got = "shape " + to_string(sizes),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

std::string axes_text(const Signature& s, const OperandSpec& spec) {
  std::string text = "[...";
  for (const AxisRef& ref : spec.axes) {
    text += ", " + s.axes[static_cast<size_t>(ref.axis)].name;
    if (ref.block > 1) text += fmt::format("/{}", ref.block);
  }
  return text + "]";
}

}  // namespace

ShapeBinder::ShapeBinder(Desc& desc) : desc_(desc), s_(desc.signature()) {
  for (const Axis& axis : s_.axes) {
    desc_.axes.push_back(axis.attribute ? integer_attribute(axis) : axis.fixed);
    known_.push_back(axis.attribute || axis.fixed >= 0);
  }
}

Expected<void> ShapeBinder::bind_operand(size_t index) {
  const OperandSpec& spec = s_.operands[index];
  const OperandDesc& operand = desc_.operands[index];
  const int named = static_cast<int>(spec.axes.size());
  if (operand.sizes.size() < named)
    return shape_error(desc_, spec, operand.sizes, axes_text(s_, spec),
                       fmt::format("it needs at least {} axes", named));
  for (int64_t size : operand.sizes)
    if (size < 0) return shape_error(desc_, spec, operand.sizes, "sizes of 0 or more");
  if (operand.strides.size() != operand.sizes.size())
    return shape_error(desc_, spec, operand.sizes, "one stride a size",
                       fmt::format("got {} strides", operand.strides.size()));
  Expected<int64_t> count = element_count(operand.sizes, byte_size(operand.dtype));
  if (!count) return shape_error(desc_, spec, operand.sizes, "fewer than 2^63 bytes");
  const int extra = operand.sizes.size() - named;
  for (int d = 0; d < named; d++) {
    const AxisRef& ref = spec.axes[static_cast<size_t>(d)];
    const bool plain = ref.block == 1 && !s_.axes[static_cast<size_t>(ref.axis)].formula;
    if (plain) NRD_TRY(set_axis(spec, operand, ref.axis, operand.sizes[extra + d]));
  }
  return add_leading(spec, operand, extra);
}

Expected<void> ShapeBinder::finish() {
  while (solve_one()) {
  }
  for (size_t i = 0; i < s_.axes.size(); i++) {
    const Axis& axis = s_.axes[i];
    if (axis.even && desc_.axes[i] % 2 != 0)
      return make_error({.code = ErrorCode::kShapeMismatch,
                         .op = desc_.op->name,
                         .argument = axis.name,
                         .got = fmt::format("{}", desc_.axes[i]),
                         .allowed = "an even size",
                         .hint = "elements are rotated in pairs"});
    if (axis.numerator < 0) continue;
    int64_t n = desc_.axes[static_cast<size_t>(axis.numerator)];
    int64_t d = desc_.axes[static_cast<size_t>(axis.denominator)];
    const std::string &n_name = s_.axes[static_cast<size_t>(axis.numerator)].name,
                      &d_name = s_.axes[static_cast<size_t>(axis.denominator)].name;
    if (d <= 0 || n % d != 0)
      return make_error({.code = ErrorCode::kShapeMismatch,
                         .op = desc_.op->name,
                         .argument = n_name,
                         .got = fmt::format("{}={}", n_name, n),
                         .allowed = fmt::format("a multiple of {}={}", d_name, d)});
    desc_.axes[i] = n / d;
    known_[i] = true;
  }
  NRD_TRY(check_core());
  if (Expected<void> filled = fill_formulas(s_, desc_.axes); !filled) {
    Error error = filled.error();
    error.op = desc_.op->name;
    return make_error(std::move(error));
  }
  return {};
}

Dims ShapeBinder::shape(const OperandSpec& spec) const {
  Dims sizes = desc_.leading;
  for (const AxisRef& ref : spec.axes) sizes.push_back(size_of(ref, desc_.axes));
  return sizes;
}

Expected<void> ShapeBinder::check_known(const OperandSpec& spec) const {
  for (const AxisRef& ref : spec.axes)
    if (desc_.axes[static_cast<size_t>(ref.axis)] < 0)
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .op = desc_.op->name,
                         .argument = spec.name,
                         .got = "nothing",
                         .allowed = "a tensor " + axes_text(s_, spec),
                         .hint = "its shape does not follow from the inputs"});
  return {};
}

Expected<void> ShapeBinder::check_operand(size_t index) const {
  const OperandSpec& spec = s_.operands[index];
  const OperandDesc& operand = desc_.operands[index];
  const int extra = operand.sizes.size() - static_cast<int>(spec.axes.size());
  for (int d = 0; d < static_cast<int>(spec.axes.size()); d++) {
    const AxisRef& ref = spec.axes[static_cast<size_t>(d)];
    if (operand.sizes[extra + d] != size_of(ref, desc_.axes))
      return shape_error(desc_, spec, operand.sizes, "shape " + to_string(shape(spec)),
                         axes_text(s_, spec));
  }
  if (spec.output && !(operand.sizes == shape(spec)))
    return shape_error(desc_, spec, operand.sizes, "shape " + to_string(shape(spec)));
  return {};
}

int64_t ShapeBinder::integer_attribute(const Axis& axis) const {
  for (size_t i = 0; i < desc_.op->numbers.size(); i++)
    if (desc_.op->numbers[i].name == axis.name) return static_cast<int64_t>(desc_.numbers[i]);
  return axis.preset;
}

bool ShapeBinder::solve_one() {
  for (size_t i = 0; i < s_.operands.size(); i++) {
    const OperandSpec& spec = s_.operands[i];
    if (!desc_.operands[i].present) continue;
    const int extra = desc_.operands[i].sizes.size() - static_cast<int>(spec.axes.size());
    for (size_t d = 0; d < spec.axes.size(); d++) {
      const auto& formula = s_.axes[static_cast<size_t>(spec.axes[d].axis)].formula;
      if (formula && solve(*formula, spec, desc_.operands[i].sizes[extra + static_cast<int>(d)]))
        return true;
    }
  }
  return false;
}

bool ShapeBinder::solve(const AxisFormula& formula, const OperandSpec& spec, int64_t size) {
  int unknown = -1;
  for (const int axis : formula.axes()) {
    if (known_[static_cast<size_t>(axis)]) continue;
    if (unknown >= 0) return false;
    unknown = axis;
  }
  if (unknown < 0) return false;
  const std::optional<int64_t> solved = formula.solve(unknown, size, desc_.axes);
  if (!solved || *solved < 0) return false;
  desc_.axes[static_cast<size_t>(unknown)] = *solved;
  known_[static_cast<size_t>(unknown)] = true;
  first_[unknown] = spec.name;
  return true;
}

Expected<void> ShapeBinder::check_core() const {
  for (const int axis : s_.core) {
    if (known_[static_cast<size_t>(axis)] || is_of_missing(axis)) continue;
    return make_error({.code = ErrorCode::kShapeMismatch,
                       .op = desc_.op->name,
                       .argument = s_.axes[static_cast<size_t>(axis)].name,
                       .got = "shapes that leave it open",
                       .allowed = "operands whose shapes fit the signature",
                       .hint = "the signature is " + s_.text});
  }
  return {};
}

bool ShapeBinder::is_of_missing(int axis) const {
  for (size_t i = 0; i < s_.operands.size(); i++)
    for (const AxisRef& ref : s_.operands[i].axes)
      if (!desc_.operands[i].present && ref.axis == axis) return true;
  return false;
}

Expected<void> ShapeBinder::set_axis(const OperandSpec& spec, const OperandDesc& operand, int axis,
                                     int64_t size) {
  int64_t& known = desc_.axes[static_cast<size_t>(axis)];
  if (!known_[static_cast<size_t>(axis)]) {
    known = size;
    known_[static_cast<size_t>(axis)] = true;
    first_[axis] = spec.name;
  }
  if (known == size) return {};
  const std::string& name = s_.axes[static_cast<size_t>(axis)].name;
  return shape_error(
      desc_, spec, operand.sizes, fmt::format("{} = {}", name, known),
      first_[axis].empty() ? "" : fmt::format("'{}' set {} to {}", first_[axis], name, known));
}

Expected<void> ShapeBinder::add_leading(const OperandSpec& spec, const OperandDesc& operand,
                                        int extra) {
  while (desc_.leading.size() < extra) {
    if (desc_.leading.size() + static_cast<int>(spec.axes.size()) >= kMaxRank)
      return shape_error(desc_, spec, operand.sizes, fmt::format("at most {} axes", kMaxRank));
    desc_.leading.push_front(1);
  }
  const int offset = desc_.leading.size() - extra;
  for (int d = 0; d < extra; d++) {
    int64_t& known = desc_.leading[offset + d];
    if (known == 1)
      known = operand.sizes[d];
    else if (operand.sizes[d] != 1 && operand.sizes[d] != known)
      return shape_error(desc_, spec, operand.sizes,
                         "leading axes " + to_string(desc_.leading) + " or 1 in their place");
  }
  return {};
}

}  // namespace nrd
