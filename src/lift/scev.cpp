// SPDX-License-Identifier: MIT
// src/lift/scev.cpp: polynomials of nodes. See scev.h; quotients are in scev_divide.cpp.
#include "lift/scev.h"

#include <algorithm>
#include <bit>

#include "lift/facts.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

bool has_no_minus(const IntPoly& poly) {
  return std::none_of(poly.terms().begin(), poly.terms().end(),
                      [](const PolyTerm& term) { return term.coefficient < 0; });
}

}  // namespace

const IntPoly& Scev::of(NodeId node) {
  if (memo_.size() <= node) memo_.resize(function_.nodes.size() + 64, 0);
  if (memo_[node] == 0) {
    IntPoly poly = compute(node);
    if (poly.is_too_large()) poly = atom(node);
    if (memo_.size() <= node) memo_.resize(function_.nodes.size() + 64, 0);
    polys_.push_back(std::move(poly));
    memo_[node] = static_cast<int>(polys_.size());
  }
  return polys_[static_cast<size_t>(memo_[node]) - 1];
}

IntPoly Scev::atom(NodeId node) {
  if (function_[node].type == Type::kI64) return IntPoly::atom(node);
  return IntPoly::atom(factory_.convert(node, Type::kI64, true));
}

IntPoly Scev::compute(NodeId id) {
  const Node n = function_[id];
  switch (n.kind) {
    case Kind::kConst: return IntPoly(sign_extended(n.bits, n.type));
    case Kind::kPhi: return is_leaf(n) ? of_leaf(id, n) : atom(id);
    case Kind::kPure: return of_pure(id, n);
    case Kind::kTrunc:
    case Kind::kZext:
    case Kind::kSext: return of_width(id, n);
    case Kind::kUDiv:
    case Kind::kSDiv:
    case Kind::kURem:
    case Kind::kSRem: return of_quotient(id, n);
    default: return atom(id);
  }
}

// Data keeps its number only where no bit is lost.
IntPoly Scev::of_width(NodeId id, const Node& n) {
  const Type from = function_[n.args[0]].type;
  if (!is_index_type(from) || !is_index_type(n.type)) return atom(id);
  const IntPoly inner = of(n.args[0]);
  // Widening something that is an atom only because it was widened: stop here.
  if (n.type == Type::kI64 && inner.single_atom() == id) return IntPoly::atom(id);
  if (is_data(n.args[0])) {
    const Range range = range_of(inner);
    if (n.kind == Kind::kZext ? range.low < 0 : !range.fits(n.type)) return atom(id);
  }
  return inner;
}

// C rounds quotients towards zero, which is down where nothing is negative.
IntPoly Scev::of_quotient(NodeId id, const Node& n) {
  for (const size_t i : {0, 1})
    if (may_be_negative(n.args[i])) return atom(id);
  const IntPoly a = of(n.args[0]), b = of(n.args[1]);
  const bool is_quotient = n.kind == Kind::kUDiv || n.kind == Kind::kSDiv;
  return is_quotient ? divide_floor(a, b) : modulo_floor(a, b);
}

IntPoly Scev::of_pure(NodeId id, const Node& n) {
  if (!is_index_type(n.type)) return atom(id);
  const IntPoly poly = without_wrapping(id, n);
  return holds(poly, n.type, is_data(id)) ? poly : atom(id);
}

IntPoly Scev::without_wrapping(NodeId id, const Node& n) {
  const auto arg = [&](int i) { return of(n.args[static_cast<size_t>(i)]); };
  const bool by_constant = n.args[1] != kNoNode && function_[n.args[1]].kind == Kind::kConst;
  const uint64_t count = by_constant ? function_[n.args[1]].bits : 0;
  switch (n.op) {
    case TraceOp::kAdd: return arg(0) + arg(1);
    case TraceOp::kSub: return arg(0) - arg(1);
    case TraceOp::kNeg: return -arg(0);
    case TraceOp::kMul: return arg(0) * arg(1);
    case TraceOp::kShl:
      return by_constant && count < 62 ? arg(0) * IntPoly(int64_t{1} << count) : atom(id);
    case TraceOp::kShr:
    case TraceOp::kSar: return by_constant && count <= 62 ? of_shift_right(id, n) : atom(id);
    case TraceOp::kAnd: return of_and(id, n);
    case TraceOp::kOr: return of_or(id, n);
    case TraceOp::kXor:
      return by_constant && count == type_mask(n.type) ? IntPoly(-1) - arg(0) : atom(id);
    case TraceOp::kDivFloor: return divide_floor(arg(0), arg(1));
    case TraceOp::kModFloor: return modulo_floor(arg(0), arg(1));
    case TraceOp::kMin:
    case TraceOp::kMax: return extreme(n.op, arg(0), arg(1));
    case TraceOp::kSelect: return of_select(id, n);
    default: return atom(id);
  }
}

IntPoly Scev::of_shift_right(NodeId id, const Node& n) {
  const uint64_t count = function_[n.args[1]].bits;
  const IntPoly whole = of(n.args[0]);
  if (may_be_negative(n.args[0])) {
    if (n.op == TraceOp::kShr) return atom(id);
  } else if (static_cast<int>(count) == type_bits(n.type) - 1 && has_no_minus(whole)) {
    return IntPoly(0);  // the sign, as division by a power of two corrects its rounding with it
  }
  return divide_floor(whole, IntPoly(int64_t{1} << count));
}

// Masks of low bits are remainders, masks without them round down.
IntPoly Scev::of_and(NodeId id, const Node& n) {
  const Node mask = function_[n.args[1]];
  if (mask.kind != Kind::kConst) return atom(id);
  const auto bits = static_cast<uint64_t>(sign_extended(mask.bits, mask.type));
  const IntPoly whole = of(n.args[0]);
  const bool keeps_low_bits = bits != 0 && bits >> 62 == 0 && (bits & (bits + 1)) == 0;
  if (keeps_low_bits) return modulo_floor(whole, IntPoly(static_cast<int64_t>(bits + 1)));
  // Bits that are never set may be left out of the mask, the sign first of all.
  const uint64_t lowest = bits & (0 - bits);
  const uint64_t above = bits + lowest;
  const bool clears_low_bits = bits != 0 && lowest >> 62 == 0 &&
                               (above == 0 || (std::has_single_bit(above) && is_below(id, above)));
  if (!clears_low_bits || may_be_negative(n.args[0])) return atom(id);
  const IntPoly unit(static_cast<int64_t>(lowest));
  return divide_floor(whole, unit) * unit;
}

// Whether what the node masks is less than a power of two: sizes and counters are less than 2^24.
bool Scev::is_below(NodeId id, uint64_t end) {
  const NodeId masked = function_[id].args[0];
  return is_data(masked) ? range_of(of(masked)).high < Wide{end} : end >= uint64_t{1} << 24;
}

// 2 * i | 1 is 2 * i + 1.
IntPoly Scev::of_or(NodeId id, const Node& n) {
  const Node low = function_[n.args[1]];
  if (low.kind != Kind::kConst) return atom(id);
  if (low.bits == 0 || low.bits >> 31 != 0) return atom(id);
  const IntPoly high = of(n.args[0]);
  const uint64_t free_below = std::bit_ceil(low.bits + 1);
  if (!high.divided_by(static_cast<int64_t>(free_below))) return atom(id);
  return high + IntPoly(static_cast<int64_t>(low.bits));
}

// A choice that a comparison of the two makes is an extremum. One whose arms are equal where the
// condition fails is no choice.
IntPoly Scev::of_select(NodeId id, const Node& n) {
  const IntPoly a = of(n.args[1]), b = of(n.args[2]);
  const IntPoly difference = a - b;
  if (difference.is_zero()) return a;
  for (const bool truth : {true, false}) {
    std::vector<Fact> facts;
    collect_facts(function_, *this, n.args[0], truth, facts);
    const IntPoly &chosen = truth ? a : b, &other = truth ? b : a;
    const IntPoly gain = chosen - other;
    for (const Fact& fact : facts) {
      const bool pinned = fact.kind == FactKind::kAtLeastZero && is_nonnegative(-fact.poly);
      if ((fact.kind == FactKind::kZero || pinned) && gain.divided_by(fact.poly)) return other;
      if (fact.kind != FactKind::kAtLeastZero || facts.size() != 1) continue;
      if (gain == fact.poly || gain == fact.poly + IntPoly(1)) return larger(a, b);
      if (-gain == fact.poly || -gain == fact.poly + IntPoly(1)) return smaller(a, b);
    }
  }
  return atom(id);
}

NodeId Scev::node_of(const IntPoly& poly) {
  if (poly.is_too_large()) give_up("an index has too many factors");
  NodeId sum = kNoNode;
  for (const PolyTerm& term : poly.terms()) {
    NodeId product = kNoNode;
    for (NodeId atom : term.atoms) {
      if (atom == kNoNode) break;
      product = product == kNoNode ? atom : factory_.pure(TraceOp::kMul, Type::kI64, product, atom);
    }
    const NodeId factor = factory_.constant(Type::kI64, static_cast<uint64_t>(term.coefficient));
    if (product == kNoNode)
      product = factor;
    else if (term.coefficient != 1)
      product = factory_.pure(TraceOp::kMul, Type::kI64, product, factor);
    sum = sum == kNoNode ? product : factory_.pure(TraceOp::kAdd, Type::kI64, sum, product);
  }
  return sum == kNoNode ? factory_.constant(Type::kI64, 0) : sum;
}

bool Scev::is_nonnegative(const IntPoly& poly) {
  for (const PolyTerm& term : poly.terms()) {
    if (term.coefficient < 0) return false;
    for (NodeId atom : term.atoms)
      if (atom != kNoNode && !is_nonnegative_atom(atom)) return false;
  }
  return !poly.is_too_large();
}

bool Scev::is_nonnegative_atom(NodeId atom) {
  const Node n = function_[atom];
  const auto arg = [&](int i) { return is_nonnegative(of(n.args[static_cast<size_t>(i)])); };
  switch (n.kind) {
    case Kind::kArg: {
      if (n.index >= params_.list.size()) return false;
      const CKind kind = params_.list[n.index].kind;
      return kind == CKind::kUInt64 || kind == CKind::kInt64 || kind == CKind::kPointer ||
             kind == CKind::kUInt32;
    }
    case Kind::kSext:
      return function_[n.args[0]].kind == Kind::kArg && is_nonnegative_atom(n.args[0]);
    case Kind::kZext: return true;
    case Kind::kPhi: return is_leaf(n) && leaf_role(n) == LeafRole::kIv;
    case Kind::kPure:
      if (n.op == TraceOp::kDivFloor) return arg(0);
      if (n.op == TraceOp::kModFloor || n.op == TraceOp::kUToI64) return true;
      if (n.op == TraceOp::kMin) return arg(0) && arg(1);
      return n.op == TraceOp::kMax && (arg(0) || arg(1));
    default: return false;
  }
}

bool Scev::varies_in(const IntPoly& poly, int region) {
  for (const PolyTerm& term : poly.terms())
    for (NodeId atom : term.atoms)
      if (atom != kNoNode && scopes_.varies_in(atom, region)) return true;
  return false;
}

}  // namespace nrd::lift
