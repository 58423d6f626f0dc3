// SPDX-License-Identifier: MIT
// src/ops/axis_formula.cpp: a recursive-descent parser, and values of formulas.
#include "ops/axis_formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace nrd {

class AxisFormulaParser {
 public:
  AxisFormulaParser(std::string_view text, AxisFormula::Names& names)
      : rest_(text), names_(names) {}

  std::optional<AxisFormula> parse() {
    const int top = sum();
    if (top < 0 || !rest_.empty()) return std::nullopt;
    return std::move(formula_);
  }

 private:
  using Kind = AxisFormula::Kind;

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  int add(Kind kind, int64_t number, int a = -1, int b = -1) {
    if (formula_.nodes_.size() >= 64) return -1;
    formula_.nodes_.push_back({kind, number, a, b});
    return static_cast<int>(formula_.nodes_.size()) - 1;
  }

  int sum() {
    int left = product();
    while (left >= 0 && (rest_.starts_with('+') || rest_.starts_with('-'))) {
      const Kind kind = rest_.front() == '+' ? Kind::kAdd : Kind::kSub;
      rest_.remove_prefix(1);
      const int right = product();
      left = right < 0 ? -1 : add(kind, 0, left, right);
    }
    return left;
  }

  int product() {
    int left = factor();
    while (left >= 0 && take("*")) {
      const int right = factor();
      left = right < 0 ? -1 : add(Kind::kMul, 0, left, right);
    }
    return left;
  }

  int factor() {
    for (const Kind kind : {Kind::kFloor, Kind::kCeil}) {
      if (!take(kind == Kind::kFloor ? "floor(" : "ceil(")) continue;
      const int over = sum();
      if (over < 0 || !take("/")) return -1;
      const int by = leaf();
      return by < 0 || !take(")") ? -1 : add(kind, 0, over, by);
    }
    if (take("(")) {
      const int inside = sum();
      return inside < 0 || !take(")") ? -1 : inside;
    }
    return leaf();
  }

  int leaf() {
    size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
      length++;
    const std::string_view word = rest_.substr(0, length);
    if (word.empty()) return -1;
    rest_.remove_prefix(length);
    if (!std::isdigit(static_cast<unsigned char>(word.front()))) {
      const int axis = names_.number_of(word);
      if (std::find(formula_.axes_.begin(), formula_.axes_.end(), axis) == formula_.axes_.end())
        formula_.axes_.push_back(axis);
      return add(Kind::kAxis, axis);
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error != std::errc() || end != word.data() + word.size() ? -1
                                                                    : add(Kind::kNumber, number);
  }

  std::string_view rest_;
  AxisFormula::Names& names_;
  AxisFormula formula_;
};

std::optional<AxisFormula> AxisFormula::parse(std::string_view text, Names& names) {
  return AxisFormulaParser(text, names).parse();
}

std::optional<AxisFormula::Affine> AxisFormula::affine(int node, int axis,
                                                       std::span<const int64_t> sizes) const {
  const Node& n = nodes_[static_cast<size_t>(node)];
  if (n.kind == Kind::kNumber) return Affine{0, n.number};
  if (n.kind == Kind::kAxis)
    return n.number == axis ? Affine{1, 0} : Affine{0, sizes[static_cast<size_t>(n.number)]};
  const std::optional<Affine> a = affine(n.a, axis, sizes), b = affine(n.b, axis, sizes);
  if (!a || !b) return std::nullopt;
  Affine r;
  bool wrong = false;
  switch (n.kind) {
    case Kind::kAdd:
      wrong = __builtin_add_overflow(a->slope, b->slope, &r.slope) ||
              __builtin_add_overflow(a->base, b->base, &r.base);
      break;
    case Kind::kSub:
      wrong = __builtin_sub_overflow(a->slope, b->slope, &r.slope) ||
              __builtin_sub_overflow(a->base, b->base, &r.base);
      break;
    case Kind::kMul: {
      const Affine &line = b->slope == 0 ? *a : *b, &times = b->slope == 0 ? *b : *a;
      wrong = times.slope != 0 || __builtin_mul_overflow(line.slope, times.base, &r.slope) ||
              __builtin_mul_overflow(line.base, times.base, &r.base);
      break;
    }
    default: {  // floor, ceil
      if (a->slope != 0 || b->slope != 0 || b->base < 1) return std::nullopt;
      const int64_t down = a->base / b->base - (a->base % b->base < 0);
      r.base = down + (n.kind == Kind::kCeil && a->base % b->base != 0);
    }
  }
  return wrong ? std::nullopt : std::optional(r);
}

std::optional<int64_t> AxisFormula::evaluate(std::span<const int64_t> sizes) const {
  const std::optional<Affine> value = affine(static_cast<int>(nodes_.size()) - 1, -1, sizes);
  return value ? std::optional(std::max<int64_t>(0, value->base)) : std::nullopt;
}

std::optional<int64_t> AxisFormula::solve(int axis, int64_t value,
                                          std::span<const int64_t> sizes) const {
  const std::optional<Affine> line = affine(static_cast<int>(nodes_.size()) - 1, axis, sizes);
  int64_t over = 0;
  if (!line || line->slope == 0 || __builtin_sub_overflow(value, line->base, &over))
    return std::nullopt;
  return over % line->slope == 0 ? std::optional(over / line->slope) : std::nullopt;
}

}  // namespace nrd
