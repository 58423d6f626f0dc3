// SPDX-License-Identifier: MIT
// src/lift/facts.cpp: see facts.h.
//
// A polynomial is shown not to be negative by putting bounds in the place of its atoms, one after
// the other, and by taking away a multiple of a known fact. Neither finds everything; what is not
// found keeps its guard, or is refused.
#include "lift/facts.h"

#include <algorithm>

namespace nrd::lift {
namespace {

constexpr int kMaxFactDepth = 6;
constexpr int kMaxSteps = 300;  // what takes longer to show is not worth it

bool is_integer_compare(const Function& f, const Node& n) {
  if (n.kind != Kind::kPure || n.op != TraceOp::kCmp) return false;
  const Type type = f[n.args[0]].type;
  return type == Type::kI32 || type == Type::kI64;
}

bool is_unsigned_order(Predicate p) {
  return p == Predicate::kB || p == Predicate::kBe || p == Predicate::kA || p == Predicate::kAe;
}

Fact fact_of(Predicate predicate, bool truth, const IntPoly& a, const IntPoly& b) {
  switch (predicate) {
    case Predicate::kEq: return {truth ? FactKind::kZero : FactKind::kNotZero, a - b};
    case Predicate::kNe: return {truth ? FactKind::kNotZero : FactKind::kZero, a - b};
    case Predicate::kLt:
    case Predicate::kB: return {FactKind::kAtLeastZero, truth ? b - a - IntPoly(1) : a - b};
    case Predicate::kLe:
    case Predicate::kBe: return {FactKind::kAtLeastZero, truth ? b - a : a - b - IntPoly(1)};
    case Predicate::kGt:
    case Predicate::kA: return {FactKind::kAtLeastZero, truth ? a - b - IntPoly(1) : b - a};
    default: return {FactKind::kAtLeastZero, truth ? a - b : b - a - IntPoly(1)};
  }
}

}  // namespace

void collect_facts(const Function& f, Scev& scev, NodeId condition, bool truth,
                   std::vector<Fact>& out) {
  if (condition == kNoNode) return;
  const Node n = f[condition];
  if (n.kind != Kind::kPure) return;
  if (n.op == TraceOp::kNot) return collect_facts(f, scev, n.args[0], !truth, out);
  if (n.op == (truth ? TraceOp::kAnd : TraceOp::kOr)) {
    collect_facts(f, scev, n.args[0], truth, out);
    collect_facts(f, scev, n.args[1], truth, out);
  } else if (is_integer_compare(f, n)) {
    // Data that is compared without sign says nothing of its number with a sign.
    const bool is_bare = scev.may_be_negative(n.args[0]) || scev.may_be_negative(n.args[1]);
    if (is_unsigned_order(n.predicate) && is_bare) return;
    const IntPoly a = scev.of(n.args[0]);
    out.push_back(fact_of(n.predicate, truth, a, scev.of(n.args[1])));
  }
}

void Facts::set_extent(NodeId iv, IntPoly extent) {
  for (auto& [known, value] : extents_)
    if (known == iv) {
      value = std::move(extent);
      return;
    }
  extents_.emplace_back(iv, std::move(extent));
}

const IntPoly* Facts::extent_of(NodeId iv) const {
  for (const auto& [known, value] : extents_)
    if (known == iv) return &value;
  return nullptr;
}

void Facts::assume(NodeId condition) {
  std::vector<Fact> facts;
  collect_facts(function_, scev_, condition, true, facts);
  for (const Fact& fact : facts) assume(fact);
}

void Facts::assume(const Fact& fact) {
  switch (fact.kind) {
    case FactKind::kAtLeastZero: return assume_at_least_zero(fact.poly, 0);
    case FactKind::kZero:
      assume_at_least_zero(fact.poly, 0);
      return assume_at_least_zero(-fact.poly, 0);
    case FactKind::kNotZero:
      steps_left_ = kMaxSteps;
      if (nonnegative(fact.poly, 2)) return assume_at_least_zero(fact.poly - IntPoly(1), 0);
      if (nonnegative(-fact.poly, 2)) assume_at_least_zero(-fact.poly - IntPoly(1), 0);
  }
}

// Also what it says about the parts of quotients and extrema: x / d >= r is x >= d * r.
void Facts::assume_at_least_zero(const IntPoly& poly, int depth) {
  if (poly.is_too_large() || poly.magnitude() > kLargestExact) return;
  known_.push_back(poly);
  if (depth > 2) return;
  for (const PolyTerm& term : poly.terms()) {
    const NodeId atom = term.atoms[0];
    if (atom == kNoNode || term.atoms[1] != kNoNode) continue;
    const Node n = function_[atom];
    const bool up = term.coefficient == 1;
    if ((!up && term.coefficient != -1) || n.kind != Kind::kPure || n.args[1] == kNoNode) continue;
    const IntPoly rest = poly - IntPoly(term.coefficient) * IntPoly::atom(atom);
    if (n.op == (up ? TraceOp::kMin : TraceOp::kMax)) {
      for (const int i : {0, 1})
        assume_at_least_zero(rest + IntPoly(term.coefficient) * scev_.of(n.args[i]), depth + 1);
    } else if (n.op == TraceOp::kDivFloor && scev_.of(n.args[1]).is_constant()) {
      const IntPoly by = scev_.of(n.args[1]);
      const IntPoly whole = scev_.of(n.args[0]);
      const IntPoly scaled = exact_product(by, rest);
      assume_at_least_zero(up ? scaled + whole : scaled + by - IntPoly(1) - whole, depth + 1);
    }
  }
}

IntPoly Facts::narrowed(const IntPoly& count) {
  for (const PolyTerm& term : count.terms()) {
    const NodeId atom = term.atoms[0];
    if (atom == kNoNode || term.atoms[1] != kNoNode) continue;
    const Node n = function_[atom];
    const bool is_max = n.op == TraceOp::kMax;
    if (n.kind != Kind::kPure || (!is_max && n.op != TraceOp::kMin)) continue;
    const IntPoly a = scev_.of(n.args[0]), b = scev_.of(n.args[1]);
    const bool a_is_more = proves_nonnegative(a - b);
    if (!a_is_more && !proves_nonnegative(b - a)) continue;
    const IntPoly rest = count - IntPoly(term.coefficient) * IntPoly::atom(atom);
    return narrowed(rest + IntPoly(term.coefficient) * (a_is_more == is_max ? a : b));
  }
  return count;
}

bool Facts::proves_nonnegative(const IntPoly& poly) {
  steps_left_ = kMaxSteps;
  return nonnegative(poly, 0);
}

bool Facts::nonnegative(const IntPoly& poly, int depth) {
  if (poly.magnitude() > kLargestExact) return false;
  if (scev_.is_nonnegative(poly)) return true;
  if (--steps_left_ < 0 || depth >= kMaxFactDepth || poly.is_too_large() || poly.is_constant())
    return false;
  for (size_t i = 0; i < known_.size(); i++)
    if (combines(poly, known_[i], depth)) return true;
  for (const PolyTerm& term : poly.terms())
    for (NodeId atom : term.atoms)
      if (atom != kNoNode && nonnegative_whatever(poly, atom, depth)) return true;
  return false;
}

// Not negative for any value that the atom can have.
bool Facts::nonnegative_whatever(const IntPoly& poly, NodeId atom, int depth) {
  const auto split = poly.linear_in(atom);
  if (!split) return false;
  if (const IntPoly* extent = extent_of(atom)) {
    if (!nonnegative(split->rest, depth + 1)) return false;
    const IntPoly last = split->rest + exact_product(split->slope, *extent - IntPoly(1));
    return scev_.is_nonnegative(split->slope) || nonnegative(last, depth + 1);
  }
  if (!split->slope.is_constant() || function_[atom].kind != Kind::kPure) return false;
  return nonnegative_by_bounds(*split, split->slope.constant(), atom, depth + 1);
}

bool Facts::nonnegative_by_bounds(const LinearSplit& split, int64_t slope, NodeId atom, int depth) {
  const Node n = function_[atom];
  if (n.args[1] == kNoNode || n.op == TraceOp::kSelect) return false;
  const auto with = [&](const IntPoly& value) {
    return nonnegative(split.rest + exact_product(slope, value), depth);
  };
  const bool is_min = n.op == TraceOp::kMin;
  if (is_min || n.op == TraceOp::kMax) {
    const IntPoly a = scev_.of(n.args[0]), b = scev_.of(n.args[1]);
    return is_min == (slope > 0) ? with(a) && with(b) : with(a) || with(b);
  }
  if (n.op != TraceOp::kDivFloor && n.op != TraceOp::kModFloor) return false;
  const IntPoly by = scev_.of(n.args[1]);
  if (!by.is_constant() || by.constant() <= 0) return false;
  const int64_t divisor = by.constant();
  if (n.op == TraceOp::kModFloor) {
    const IntPoly whole = scev_.of(n.args[0]);
    if (with(IntPoly(slope > 0 ? 0 : divisor - 1))) return true;
    return slope < 0 && nonnegative(whole, depth) && with(whole);
  }
  // r - x / d >= 0 is x <= d * r + d - 1, and r + x / d >= 0 is x >= -d * r; for other factors
  // the quotient is bounded by that of real numbers.
  IntPoly bound = exact_product(divisor, split.rest) + exact_product(slope, scev_.of(n.args[0]));
  if (slope == -1) bound += IntPoly(divisor - 1);
  if (slope > 1) bound -= exact_product(slope, divisor - 1);
  return nonnegative(bound, depth);
}

// poly >= 0 because poly less a positive multiple of something that is at least 0 still is.
bool Facts::combines(const IntPoly& poly, const IntPoly& given, int depth) {
  for (const PolyTerm& g : given.terms())
    for (const PolyTerm& p : poly.terms()) {
      if (g.atoms == kNoAtoms || g.atoms != p.atoms || (g.coefficient > 0) != (p.coefficient > 0))
        continue;
      const bool up = g.coefficient > 0;
      const IntPoly less = exact_product(up ? g.coefficient : -g.coefficient, poly) -
                           exact_product(up ? p.coefficient : -p.coefficient, given);
      if (scev_.is_nonnegative(less) || (depth < 2 && nonnegative(less, depth + 2))) return true;
    }
  return false;
}

bool Facts::proves_at_least_one(const IntPoly& count) {
  return proves_nonnegative(count - IntPoly(1));
}

bool Facts::is_at_most_zero(const IntPoly& count, std::span<const Fact> given) {
  const size_t before = mark();
  for (const Fact& fact : given) assume(fact);
  const bool shown = proves_nonnegative(-count);
  pop(before);
  return shown;
}

Facts::Verdict Facts::decide(NodeId condition) {
  const Node n = function_[condition];
  if (!is_integer_compare(function_, n)) return Verdict::kUnknown;
  const IntPoly a = scev_.of(n.args[0]), b = scev_.of(n.args[1]);
  if (is_unsigned_order(n.predicate) && !(proves_nonnegative(a) && proves_nonnegative(b)))
    return Verdict::kUnknown;
  for (const bool truth : {true, false}) {
    const Fact fact = fact_of(n.predicate, truth, a, b);
    bool shown = false;
    if (fact.kind == FactKind::kNotZero)
      shown =
          proves_nonnegative(fact.poly - IntPoly(1)) || proves_nonnegative(-fact.poly - IntPoly(1));
    else
      shown = proves_nonnegative(fact.poly) &&
              (fact.kind == FactKind::kAtLeastZero || proves_nonnegative(-fact.poly));
    if (shown) return truth ? Verdict::kTrue : Verdict::kFalse;
  }
  return Verdict::kUnknown;
}

}  // namespace nrd::lift
