// SPDX-License-Identifier: MIT
// src/ops/signature.cpp: parses the one-line text of a signature.
#include "ops/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace nrd {
namespace {

struct ClassRow {
  DTypeClass c;
  std::string_view word;
  std::initializer_list<DType> dtypes;
};

using enum DType;
constexpr ClassRow kClasses[] = {
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

const ClassRow& row(DTypeClass c) {
  for (const ClassRow& r : kClasses)
    if (r.c == c) return r;
  return kClasses[0];
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

class Parser final : private AxisFormula::Names {
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
  int number_of(std::string_view name) override { return axis(name); }

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

  // An axis that follows from others stands once, whatever the number of its uses.
  Expected<int> formula_axis(std::string_view word, std::string_view text) {
    if (int found = signature_.find_axis(text); found >= 0) return found;
    std::optional<AxisFormula> formula = AxisFormula::parse(text, *this);
    if (!formula)
      return bad(word, "a size is an axis, a number or a formula such as n+1, 2*n, floor(n/32)");
    Axis axis{.name = std::string(text), .core = true};
    axis.formula = std::make_shared<const AxisFormula>(std::move(*formula));
    signature_.axes.push_back(std::move(axis));
    return static_cast<int>(signature_.axes.size()) - 1;
  }

  // n, 32, n/32 (rounded up) or a formula
  Expected<AxisRef> axis_ref(std::string_view word, std::string_view text) {
    AxisRef ref;
    const size_t slash = text.find('/');
    const std::string_view name = text.substr(0, slash);
    if (name.find_first_of("+-*() ") != std::string_view::npos ||
        text.find_first_of("+-*()") != std::string_view::npos) {
      Expected<int> axis = formula_axis(word, text);
      if (!axis) return axis.error();
      ref.axis = *axis;
      return ref;
    }
    if (slash != std::string_view::npos) {
      const std::string_view digits = text.substr(slash + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), ref.block);
      if (error != std::errc() || end != digits.data() + digits.size() || ref.block < 1)
        return bad(word, "a block size is a number from 1 on");
    }
    ref.axis = axis(name);
    return ref;
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
    if (name.ends_with('&')) {
      if (!output) return bad(word, "& marks an output that is read, too");
      operand.read = true;
      name.remove_suffix(1);
    }
    operand.name = name;
    for (std::string_view part : split(word.substr(open + 1, close - open - 1), ',')) {
      Expected<AxisRef> ref = axis_ref(word, part);
      if (!ref) return ref.error();
      operand.axes.push_back(*ref);
    }
    std::string_view rest = word.substr(close + 1);
    if (rest.starts_with(':')) {
      bool known = false;
      for (const ClassRow& r : kClasses)
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
    if (clause.starts_with("any ")) {
      for (std::string_view name : split(clause.substr(4), ','))
        signature_.axes[static_cast<size_t>(axis(name))].core = true;
      return {};
    }
    if (clause.starts_with("int ")) return add_integers(clause.substr(4));
    return bad(clause, "a clause begins with 'core', 'where', 'even', 'int' or 'any'");
  }

  // m=1,k=2
  Expected<void> add_integers(std::string_view list) {
    for (std::string_view part : split(list, ',')) {
      const size_t equals = part.find('=');
      const int found = signature_.find_axis(trim(part.substr(0, equals)));
      if (found < 0 || !signature_.axes[static_cast<size_t>(found)].core)
        return bad(part, "int names integers of the core");
      Axis& axis = signature_.axes[static_cast<size_t>(found)];
      axis.attribute = true;
      axis.separable = false;
      axis.preset = 1;
      if (equals == std::string_view::npos) continue;
      const std::string_view digits = trim(part.substr(equals + 1));
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), axis.preset);
      if (error != std::errc() || end != digits.data() + digits.size())
        return bad(part, "an integer's default is a number");
    }
    return {};
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

bool Signature::determines(int axis) const {
  const Axis& asked = axes[static_cast<size_t>(axis)];
  if (asked.attribute || asked.fixed >= 0 || asked.formula) return true;
  for (const OperandSpec& operand : operands)
    for (const AxisRef& ref : operand.axes)
      if (ref.axis == axis && ref.block == 1) return true;
  // n from 2*n, or from n+m where m is known: what bind() solves.
  const std::vector<int64_t> ones(axes.size(), 1);
  for (const Axis& other : axes) {
    if (!other.formula) continue;
    const std::vector<int>& used = other.formula->axes();
    if (std::find(used.begin(), used.end(), axis) == used.end()) continue;
    bool solvable = true;
    for (const int needed : used)
      if (needed != axis) solvable = solvable && axes[static_cast<size_t>(needed)].attribute;
    // A factor that an attribute may make 0 determines nothing.
    if (solvable && used.size() == 1 && other.formula->solve(axis, 1, ones)) return true;
    if (solvable && used.size() == 1 && other.formula->solve(axis, 2, ones)) return true;
  }
  return false;
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

int64_t size_of(const AxisRef& ref, std::span<const int64_t> axes) {
  const int64_t size = axes[static_cast<size_t>(ref.axis)];
  return size / ref.block + (size % ref.block != 0);
}

Expected<void> fill_formulas(const Signature& signature, std::vector<int64_t>& axes) {
  for (size_t i = 0; i < signature.axes.size(); i++) {
    const Axis& axis = signature.axes[i];
    if (!axis.formula) continue;
    const std::optional<int64_t> size = axis.formula->evaluate(axes);
    if (!size)
      return make_error({.code = ErrorCode::kShapeMismatch,
                         .argument = axis.name,
                         .got = "no size that can be computed",
                         .allowed = "sizes below 2^63 and divisors from 1 on"});
    axes[i] = *size;
  }
  return {};
}

}  // namespace nrd
