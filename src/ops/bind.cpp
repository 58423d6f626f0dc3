// SPDX-License-Identifier: MIT
// src/ops/bind.cpp: from names, attributes and shapes to a Desc, or to a clear error.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/suggest.h"
#include "ops/contract.h"
#include "ops/desc.h"
#include "ops/shape_binder.h"

namespace nrd {
namespace {

template <class List, class Name>
std::string join_names(const List& list, Name name) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + std::string(name(item));
  return text.empty() ? "none" : text;
}

std::string attribute_names(const Op& op) {
  std::string text = join_names(op.choices, [](const auto& c) { return c.name; });
  if (op.numbers.empty()) return text;
  std::string numbers = join_names(op.numbers, [](const auto& n) { return n.name; });
  return op.choices.empty() ? numbers : text + ", " + numbers;
}

std::string value_text(const AttributeValue& value) {
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{:g}", *number);
  return "'" + std::get<std::string>(value) + "'";
}

Expected<double> number_value(const Op& op, const NumberAttribute& n, const AttributeValue& value) {
  double parsed = 0;
  bool good = true;
  if (const double* number = std::get_if<double>(&value)) {
    parsed = *number;
  } else {
    const std::string& word = std::get<std::string>(value);
    const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), parsed);
    good = ec == std::errc() && end == word.data() + word.size();
  }
  if (good && n.integer) good = std::trunc(parsed) == parsed && std::fabs(parsed) <= 0x1p53;
  const bool in_range = allows(n.range, parsed);
  if (good && in_range) return parsed;
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = op.name,
                     .argument = n.name,
                     .got = value_text(value),
                     .allowed = !in_range   ? std::string(range_text(n.range))
                                : n.integer ? "an integer of at most 53 bits"
                                            : "a number"});
}

Expected<void> set_attribute(Desc& desc, const std::string& name, const AttributeValue& value) {
  const Op& op = *desc.op;
  for (size_t i = 0; i < op.numbers.size(); i++) {
    if (op.numbers[i].name != name) continue;
    Expected<double> number = number_value(op, op.numbers[i], value);
    if (!number) return number.error();
    desc.numbers[i] = *number;
    return {};
  }
  for (size_t i = 0; i < op.choices.size(); i++) {
    const ChoiceAttribute& choice = op.choices[i];
    if (choice.name != name) continue;
    const std::string* word = std::get_if<std::string>(&value);
    if (word &&
        std::find(choice.values.begin(), choice.values.end(), *word) != choice.values.end()) {
      desc.choices[i] = *word;
      return {};
    }
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = op.name,
                       .argument = name,
                       .got = value_text(value),
                       .allowed = join_names(choice.values, [](const auto& v) { return v; })});
  }
  return make_error({.code = ErrorCode::kUnknownName,
                     .op = op.name,
                     .argument = "attribute '" + name + "'",
                     .got = "a name that it does not have",
                     .allowed = attribute_names(op)});
}

Expected<void> set_attributes(Desc& desc, const Attributes& attributes) {
  for (const NumberAttribute& n : desc.op->numbers) desc.numbers.push_back(n.value);
  for (const ChoiceAttribute& c : desc.op->choices) desc.choices.push_back(c.values.front());
  for (const auto& [name, value] : attributes) NRD_TRY(set_attribute(desc, name, value));
  return {};
}

const NamedOperand* find(std::span<const NamedOperand> operands, std::string_view name) {
  for (const NamedOperand& operand : operands)
    if (operand.name == name && operand.desc.present) return &operand;
  return nullptr;
}

bool dtype_matches(std::string_view word_or_class, DType dtype) {
  if (word(dtype) == word_or_class) return true;
  for (DTypeClass c : {DTypeClass::kFloat, DTypeClass::kFp8, DTypeClass::kInt8})
    if (dtype_class_word(c) == word_or_class) return allows(c, dtype);
  return false;
}

// One condition of Variant::when.
bool holds(const Desc& desc, std::string_view condition, std::span<const NamedOperand> operands) {
  if (condition.starts_with('+')) return find(operands, condition.substr(1)) != nullptr;
  if (condition.starts_with('-')) return find(operands, condition.substr(1)) == nullptr;
  if (size_t colon = condition.find(':'); colon != std::string_view::npos) {
    const NamedOperand* operand = find(operands, condition.substr(0, colon));
    return operand && dtype_matches(condition.substr(colon + 1), operand->desc.dtype);
  }
  size_t equals = condition.find('=');
  return desc.choice(condition.substr(0, equals)) == condition.substr(equals + 1);
}

Error absent(const Op& op, const std::string& operand, const std::string& signature) {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = op.name,
                     .argument = operand,
                     .got = "nothing",
                     .allowed = "a tensor",
                     .hint = "the signature is " + signature});
}

// An input that every variant needs and nobody gave: what else is wrong follows from it.
const OperandSpec* missing_everywhere(const Op& op, std::span<const NamedOperand> operands) {
  for (const OperandSpec& spec : signatures(op).front().operands) {
    bool needed = !spec.output && !find(operands, spec.name);
    for (const Signature& s : signatures(op)) {
      const int at = s.find_operand(spec.name);
      needed = needed && at >= 0 && !s.operands[static_cast<size_t>(at)].optional;
    }
    if (needed) return &spec;
  }
  return nullptr;
}

Expected<int> choose_variant(const Desc& desc, std::span<const NamedOperand> operands) {
  for (size_t v = 0; v < desc.op->variants.size(); v++) {
    std::istringstream conditions(desc.op->variants[v].when);
    bool all = true;
    for (std::string condition; conditions >> condition;)
      all = all && holds(desc, condition, operands);
    if (all) return static_cast<int>(v);
  }
  const OperandSpec* missing = missing_everywhere(*desc.op, operands);
  if (missing) return absent(*desc.op, missing->name, desc.op->variants.front().signature);
  std::string got;
  for (const NamedOperand& operand : operands)
    got += fmt::format("{}{}:{}", got.empty() ? "" : ", ", operand.name, word(operand.desc.dtype));
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = "operands",
                     .got = got,
                     .allowed = join_names(desc.op->variants, [](const Variant& v) {
                       return (v.when.empty() ? "any: " : v.when + ": ") + v.signature;
                     })});
}

Expected<void> check_names(const Desc& desc, std::span<const NamedOperand> operands) {
  const Signature& s = desc.signature();
  for (const NamedOperand& operand : operands)
    if (s.find_operand(operand.name) < 0)
      return make_error({.code = ErrorCode::kUnknownName,
                         .op = desc.op->name,
                         .argument = "operand '" + operand.name + "'",
                         .got = "a name that it does not have",
                         .allowed = join_names(s.operands, [](const auto& o) { return o.name; })});
  for (const OperandSpec& spec : s.operands)
    if (!spec.output && !spec.optional && !find(operands, spec.name))
      return absent(*desc.op, spec.name, s.text);
  return {};
}

DType default_output_dtype(const Desc& desc, const OperandSpec& spec) {
  for (size_t i = 0; i < static_cast<size_t>(desc.signature().inputs); i++)
    if (desc.operands[i].present && allows(spec.dtypes, desc.operands[i].dtype) &&
        desc.signature().operands[i].dtypes == spec.dtypes)
      return desc.operands[i].dtype;
  for (const DTypeInfo& d : all_dtypes())
    if (allows(spec.dtypes, d.dtype)) return d.dtype;
  return DType::kF32;
}

Expected<void> check_dtypes(const Desc& desc) {
  const Signature& s = desc.signature();
  for (size_t i = 0; i < s.operands.size(); i++)
    if (desc.operands[i].present && !allows(s.operands[i].dtypes, desc.operands[i].dtype))
      return make_error({.code = ErrorCode::kUnsupportedDtype,
                         .op = desc.op->name,
                         .argument = s.operands[i].name,
                         .got = std::string(word(desc.operands[i].dtype)),
                         .allowed = allowed_words(s.operands[i].dtypes),
                         .hint = "convert it with cast"});
  return {};
}

Expected<void> bind_shapes(Desc& desc, std::span<const NamedOperand> given) {
  const Signature& s = desc.signature();
  ShapeBinder shapes(desc);
  for (const OperandSpec& spec : s.operands) {
    const NamedOperand* operand = find(given, spec.name);
    desc.operands.push_back(operand ? operand->desc : OperandDesc{.present = false});
  }
  // Inputs come first in the list, so a message about a mismatch blames the output.
  for (size_t i = 0; i < s.operands.size(); i++)
    if (desc.operands[i].present) NRD_TRY(shapes.bind_operand(i));
  NRD_TRY(shapes.finish());
  for (size_t i = 0; i < s.operands.size(); i++) {
    OperandDesc& operand = desc.operands[i];
    const OperandSpec& spec = s.operands[i];
    if (spec.output && !operand.present && !spec.optional) {
      NRD_TRY(shapes.check_known(spec));
      operand = {.dtype = default_output_dtype(desc, spec), .sizes = shapes.shape(spec)};
      operand.strides = contiguous_strides(operand.sizes);
    }
    if (operand.present) NRD_TRY(shapes.check_operand(i));
  }
  return check_dtypes(desc);
}

void fill_types(Desc& desc) {
  std::istringstream names(desc.bound().types);
  for (std::string name; names >> name;) {
    int index = desc.signature().find_operand(name);
    desc.types.push_back(static_cast<int>(desc.operands[static_cast<size_t>(index)].dtype));
  }
  std::istringstream constants(desc.op->constant);
  for (std::string name; constants >> name;) {
    OperandDesc& operand = desc.operands[static_cast<size_t>(desc.signature().find_operand(name))];
    operand.constant = operand.form == nullptr;  // else it was prepared by who packed it
  }
}

}  // namespace

Expected<Desc> bind(const Op& op, const Attributes& attributes,
                    std::vector<NamedOperand> operands) {
  Desc desc;
  desc.op = &op;
  NRD_TRY(set_attributes(desc, attributes));
  Expected<int> variant = choose_variant(desc, operands);
  if (!variant) return variant.error();
  desc.variant = *variant;
  desc.bound_signature = &signatures(op)[static_cast<size_t>(*variant)];
  NRD_TRY(check_names(desc, operands));
  NRD_TRY(bind_shapes(desc, operands));
  fill_types(desc);
  if (const std::optional<Builds>& builds = desc.bound().builds; builds && builds->contract)
    NRD_TRY(check_contract(*builds->contract, desc, &desc.value_checks));
  return desc;
}

}  // namespace nrd
