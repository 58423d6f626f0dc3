// SPDX-License-Identifier: MIT
// src/ops/signature.cpp: parses the one-line text of a signature.
#include "ops/signature.h"

#include <fmt/format.h>

#include <charconv>

namespace nrd {
namespace {

struct ClassRow {
  DTypeClass c;
  std::string_view word;
  std::vector<DType> dtypes;
};

const std::vector<ClassRow>& class_table() {
  using enum DType;
  static const std::vector<ClassRow> table = {
      {DTypeClass::kFloat, "float", {kF32, kF16, kBF16}},
      {DTypeClass::kF32, "f32", {kF32}},
      {DTypeClass::kFp8, "fp8", {kF8E4M3, kF8E5M2}},
      {DTypeClass::kI32, "i32", {kI32}},
      {DTypeClass::kI8, "i8", {kI8}},
      {DTypeClass::kInt8, "int8", {kI8, kU8}},
      {DTypeClass::kNumber, "number", {kF32, kF16, kBF16, kF8E4M3, kF8E5M2, kI8, kU8, kI32}},
      {DTypeClass::kFloatOrFp8, "float_or_fp8", {kF32, kF16, kBF16, kF8E4M3, kF8E5M2}},
      {DTypeClass::kFloatOrF64, "float_or_f64", {kF64, kF32, kF16, kBF16}},
      {DTypeClass::kMatrix, "matrix", {kF32, kF16, kBF16, kI8, kU8}},
      {DTypeClass::kAccumulator, "accumulator", {kF32, kF16, kBF16, kI32}},
  };
  return table;
}

const ClassRow& row(DTypeClass c) {
  for (const ClassRow& r : class_table())
    if (r.c == c) return r;
  return class_table().front();
}

Error bad(std::string_view text, std::string what) {
  return make_error({.code = ErrorCode::kInternal,
                     .argument = "signature",
                     .got = "'" + std::string(text) + "'",
                     .hint = std::move(what)});
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view s, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = s.find(by);
    if (std::string_view part = trim(s.substr(0, at)); !part.empty()) parts.push_back(part);
    if (at == std::string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) { signature_.text = text; }

  Expected<Signature> parse() {
    std::string_view text = signature_.text;
    std::vector<std::string_view> clauses = split(text, ';');
    if (clauses.empty()) return bad(text, "is empty");
    size_t arrow = clauses[0].find("->");
    if (arrow == std::string_view::npos) return bad(text, "has no '->'");
    NRD_TRY(add_operands(clauses[0].substr(0, arrow), false));
    signature_.inputs = static_cast<int>(signature_.operands.size());
    NRD_TRY(add_operands(clauses[0].substr(arrow + 2), true));
    for (size_t i = 1; i < clauses.size(); i++) NRD_TRY(add_clause(clauses[i]));
    for (Axis& axis : signature_.axes) axis.separable = axis.separable || !axis.core;
    return signature_;
  }

 private:
  int axis(std::string_view name) {
    int found = signature_.find_axis(name);
    if (found >= 0) return found;
    Axis axis{.name = std::string(name)};
    if (int64_t size = 0;
        std::from_chars(name.data(), name.data() + name.size(), size).ec == std::errc()) {
      axis.fixed = size;
      axis.core = true;
    }
    signature_.axes.push_back(std::move(axis));
    return static_cast<int>(signature_.axes.size()) - 1;
  }

  Expected<void> add_operands(std::string_view list, bool output) {
    for (std::string_view word : split(list, ' ')) NRD_TRY(add_operand(word, output));
    return {};
  }

  // name?[axis,axis/128]:class
  Expected<void> add_operand(std::string_view word, bool output) {
    size_t open = word.find('['), close = word.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos)
      return bad(word, "an operand is written name[axes]");
    OperandSpec operand;
    operand.output = output;
    std::string_view name = word.substr(0, open);
    if (name.ends_with('?')) {
      operand.optional = true;
      name.remove_suffix(1);
    }
    operand.name = name;
    for (std::string_view part : split(word.substr(open + 1, close - open - 1), ',')) {
      AxisRef ref;
      size_t slash = part.find('/');
      if (slash != std::string_view::npos) {
        std::string_view digits = part.substr(slash + 1);
        if (std::from_chars(digits.data(), digits.data() + digits.size(), ref.block).ec !=
            std::errc())
          return bad(word, "a block size is a number");
      }
      ref.axis = axis(part.substr(0, slash));
      operand.axes.push_back(ref);
    }
    std::string_view rest = word.substr(close + 1);
    if (rest.starts_with(':')) {
      bool known = false;
      for (const ClassRow& r : class_table())
        if (r.word == rest.substr(1)) operand.dtypes = r.c, known = true;
      if (!known) return bad(word, "no such dtype class");
    }
    signature_.operands.push_back(std::move(operand));
    return {};
  }

  Expected<void> add_clause(std::string_view clause) {
    if (clause.starts_with("core ")) {
      for (std::string_view name : split(clause.substr(5), ',')) {
        bool separable = name.ends_with('*');
        if (separable) name.remove_suffix(1);
        int index = axis(name);
        signature_.axes[static_cast<size_t>(index)].core = true;
        signature_.axes[static_cast<size_t>(index)].separable = separable;
        signature_.core.push_back(index);
      }
      return {};
    }
    if (clause.starts_with("where ")) {
      size_t equals = clause.find('='), slash = clause.find('/');
      if (equals == std::string_view::npos || slash == std::string_view::npos)
        return bad(clause, "write: where heads = hidden/head_dim");
      int derived = axis(trim(clause.substr(6, equals - 6)));
      int numerator = axis(trim(clause.substr(equals + 1, slash - equals - 1)));
      int denominator = axis(trim(clause.substr(slash + 1)));
      Axis& a = signature_.axes[static_cast<size_t>(derived)];
      a.numerator = numerator;
      a.denominator = denominator;
      return {};
    }
    if (clause.starts_with("even ")) {
      signature_.axes[static_cast<size_t>(axis(trim(clause.substr(5))))].even = true;
      return {};
    }
    return bad(clause, "a clause begins with 'core', 'where' or 'even'");
  }

  Signature signature_;
};

}  // namespace

std::string_view dtype_class_word(DTypeClass c) { return row(c).word; }

bool allows(DTypeClass c, DType dtype) {
  for (DType d : row(c).dtypes)
    if (d == dtype) return true;
  return false;
}

std::string allowed_words(DTypeClass c) {
  std::string text;
  for (DType d : row(c).dtypes) text += (text.empty() ? "" : ", ") + std::string(word(d));
  return text;
}

int Signature::find_axis(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); i++)
    if (axes[i].name == name) return static_cast<int>(i);
  return -1;
}

int Signature::find_operand(std::string_view name) const {
  for (size_t i = 0; i < operands.size(); i++)
    if (operands[i].name == name) return static_cast<int>(i);
  return -1;
}

Expected<Signature> parse_signature(std::string_view text) { return Parser(text).parse(); }

}  // namespace nrd
