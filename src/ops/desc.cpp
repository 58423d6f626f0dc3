// SPDX-License-Identifier: MIT
// src/ops/desc.cpp: what a Desc says of itself, and the checks of its memory.
#include "ops/desc.h"

#include <fmt/format.h>

#include <array>

namespace nrd {

std::string_view numerics_word(Numerics n) {
  switch (n) {
    case Numerics::kPlain: return "plain";
    case Numerics::kAmx: return "amx";
    case Numerics::kInt8: return "int8";
    case Numerics::kBf16Dot: return "bf16_dot";
  }
  return "plain";
}

std::string_view Desc::choice(std::string_view name) const {
  for (size_t i = 0; i < op->choices.size(); i++)
    if (op->choices[i].name == name) return choices[i];
  return {};
}

double Desc::number(std::string_view name) const {
  for (size_t i = 0; i < op->numbers.size(); i++)
    if (op->numbers[i].name == name) return numbers[i];
  return 0;
}

std::string Desc::shape_text() const {
  std::string text;
  const Signature& s = signature();
  for (int64_t size : leading) text += fmt::format("{}{}", text.empty() ? "leading=" : "x", size);
  for (size_t i = 0; i < axes.size(); i++) {
    if (!s.axes[i].is_key()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", s.axes[i].name, axes[i]);
  }
  return text;
}

std::string Desc::dtype_text() const {
  const Signature& s = signature();
  std::string each;
  DType first = DType::kF32;
  bool uniform = true, seen = false;
  for (size_t i = 0; i < operands.size(); i++) {
    if (!operands[i].present) continue;
    if (static_cast<int>(i) == s.inputs)
      each += "->";
    else if (!each.empty() && !each.ends_with("->"))
      each += ",";
    each += word(operands[i].dtype);
    if (s.operands[i].dtypes != DTypeClass::kFloat &&
        s.operands[i].dtypes != DTypeClass::kFloatOrF64) {
      // Fixed dtypes are part of the operator; only a free one makes the long form necessary.
      uniform = uniform && (s.operands[i].dtypes == DTypeClass::kF32 ||
                            s.operands[i].dtypes == DTypeClass::kI32);
      continue;
    }
    uniform = uniform && (!seen || operands[i].dtype == first);
    first = operands[i].dtype;
    seen = true;
  }
  return uniform && seen ? std::string(word(first)) : each;
}

std::string Desc::options_text() const {
  std::string text;
  auto add = [&text](std::string part) { text += (text.empty() ? "" : ",") + part; };
  for (size_t i = 0; i < op->choices.size(); i++)
    if (choices[i] != op->choices[i].values.front())
      add(fmt::format("{}={}", op->choices[i].name, choices[i]));
  for (size_t i = 0; i < op->numbers.size(); i++)
    if (numbers[i] != op->numbers[i].value)
      add(fmt::format("{}={:g}", op->numbers[i].name, numbers[i]));
  const Signature& s = signature();
  for (size_t i = 0; i < operands.size(); i++)
    if (s.operands[i].optional && !s.operands[i].output && operands[i].present)
      add("+" + s.operands[i].name);
  if (batch_invariant) add("batch_invariant=yes");
  return text;
}

TensorView operand_view(const OperandDesc& operand, void* data) {
  TensorView view;
  view.data = data;
  if (operand.form) {
    view.dtype = DType::kU8;
    view.sizes = {static_cast<int64_t>(operand.form->bytes())};
    view.strides = {1};
    return view;
  }
  view.dtype = operand.dtype;
  view.sizes = operand.sizes;
  view.strides = operand.strides;
  return view;
}

namespace {

Expected<void> check_pointer(const Desc& desc, size_t i, const TensorView& view) {
  const OperandSpec& spec = desc.signature().operands[i];
  if (view.count() == 0) return {};
  if (view.data == nullptr)
    return make_error(
        {.code = ErrorCode::kInvalidArgument,
         .op = desc.op->name,
         .argument = spec.name,
         .got = "a null pointer",
         .allowed = fmt::format("{} elements of {}", view.count(), word(view.dtype))});
  const Form* form = desc.operands[i].form;
  const size_t bytes = form ? form->alignment() : byte_size(view.dtype);
  if (reinterpret_cast<uintptr_t>(view.data) % bytes != 0)
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = desc.op->name,
                       .argument = spec.name,
                       .got = fmt::format("address {} for {}", view.data,
                                          form ? form->text() : std::string(word(view.dtype))),
                       .allowed = fmt::format("a multiple of {} bytes", bytes),
                       .hint = "copy the data to an aligned buffer"});
  return {};
}

}  // namespace

bool may_be_output(const Desc& desc, size_t input) {
  const Op& op = *desc.op;
  if (op.in_place == InPlace::kNo || desc.operands[input].form) return false;
  return op.in_place_input.empty() || desc.signature().operands[input].name == op.in_place_input;
}

Expected<void> check_pointers(const Desc& desc, std::span<void* const> pointers) {
  const Signature& s = desc.signature();
  const size_t count = desc.operands.size();
  std::array<TensorView, kMaxOperands> views;  // no allocation: this runs before every call
  for (size_t i = 0; i < count; i++) {
    views[i] = operand_view(desc.operands[i], pointers[i]);
    if (desc.operands[i].present) NRD_TRY(check_pointer(desc, i, views[i]));
  }
  for (size_t out = static_cast<size_t>(s.inputs); out < count; out++) {
    if (!desc.operands[out].present) continue;
    for (size_t other = 0; other < count; other++) {
      if (other == out || !desc.operands[other].present || !overlap(views[out], views[other]))
        continue;
      bool input = static_cast<int>(other) < s.inputs;
      if (!input && other > out) continue;  // each pair of outputs once
      const bool may_be_same = input && may_be_output(desc, other);
      if (may_be_same && same_elements(views[out], views[other])) continue;
      return make_error(
          {.code = ErrorCode::kOverlap,
           .op = desc.op->name,
           .argument = s.operands[out].name,
           .got = fmt::format("memory that overlaps '{}'", s.operands[other].name),
           .allowed = may_be_same ? "disjoint memory, or exactly the same elements as that input"
                                  : "disjoint memory",
           .hint = "give the output a buffer of its own"});
    }
  }
  return {};
}

}  // namespace nrd
