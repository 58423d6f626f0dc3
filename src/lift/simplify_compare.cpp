// SPDX-License-Identifier: MIT
// src/lift/simplify_compare.cpp: comparisons and the boolean operations on them.
#include <utility>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr Predicate kFloatPredicates[16] = {
    // By set of outcomes; the empty set and the full one are no predicates.
    Predicate::kOeq, Predicate::kOlt, Predicate::kOeq, Predicate::kOle,
    Predicate::kOgt, Predicate::kOne, Predicate::kOge, Predicate::kOrd,
    Predicate::kUno, Predicate::kUlt, Predicate::kUeq, Predicate::kUle,
    Predicate::kUgt, Predicate::kUne, Predicate::kUge, Predicate::kUno,
};
constexpr Predicate kSignedPredicates[8] = {
    Predicate::kEq, Predicate::kLt, Predicate::kEq, Predicate::kLe,
    Predicate::kGt, Predicate::kNe, Predicate::kGe, Predicate::kEq,
};
constexpr Predicate kUnsignedPredicates[8] = {
    Predicate::kEq, Predicate::kB,  Predicate::kEq, Predicate::kBe,
    Predicate::kA,  Predicate::kNe, Predicate::kAe, Predicate::kEq,
};

constexpr int kNarrowest = 32;  // bits of what is compared: NodeFactory::compare widens

bool is_equality(Predicate p) { return p == Predicate::kEq || p == Predicate::kNe; }

unsigned all_outcomes(Predicate p) { return is_float_predicate(p) ? 15u : 7u; }

Predicate with_outcomes(Predicate like, unsigned set) {
  if (is_float_predicate(like)) return kFloatPredicates[set];
  return is_unsigned(like) ? kUnsignedPredicates[set] : kSignedPredicates[set];
}

// The comparison whose outcomes are `set`, of operands like those of `like`.
NodeId compare_by_set(const Node& like, unsigned set, const Rewriter& r) {
  if (set == 0 || set == all_outcomes(like.predicate)) return r.boolean(set != 0);
  return r.factory.compare(with_outcomes(like.predicate, set), like.args[0], like.args[1]);
}

bool is_compare(const Node& node) { return node.kind == Kind::kPure && node.op == TraceOp::kCmp; }

// The predicate of b when it compares the same two values as a, in a's order.
bool matches_operands(const Node& a, const Node& b, Predicate* predicate) {
  *predicate = b.predicate;
  if (a.args == b.args) return true;
  *predicate = swapped(b.predicate);
  return a.args[0] == b.args[1] && a.args[1] == b.args[0];
}

// ord and uno of (x, x) speak of x alone: with ord or uno of (x, y) they say no more.
bool is_implied_nan_test(const Node& whole, const Node& part, Predicate predicate) {
  return whole.predicate == predicate && part.predicate == predicate &&
         part.args[0] == part.args[1] &&
         (part.args[0] == whole.args[0] || part.args[0] == whole.args[1]);
}

// p(a, b) op q(a, b) is one comparison.
NodeId join_compares(const Node& a, const Node& b, bool is_and, const Rewriter& r) {
  Predicate second;
  if (matches_operands(a, b, &second)) {
    const bool mixed_signs = (is_signed(a.predicate) && is_unsigned(second)) ||
                             (is_unsigned(a.predicate) && is_signed(second));
    if (mixed_signs) return kNoNode;
    const unsigned x = outcomes(a.predicate), y = outcomes(second);
    Node like = a;
    if (is_equality(a.predicate)) like.predicate = second;
    return compare_by_set(like, is_and ? x & y : x | y, r);
  }
  const Predicate test = is_and ? Predicate::kOrd : Predicate::kUno;
  if (is_implied_nan_test(a, b, test)) return r.factory.compare(test, a.args[0], a.args[1]);
  if (is_implied_nan_test(b, a, test)) return r.factory.compare(test, b.args[0], b.args[1]);
  return kNoNode;
}

// Ordered comparisons already say that neither side is a NaN.
NodeId absorb_nan_test(const Node& a, const Node& b, NodeId a_id, bool is_and) {
  const bool self = b.args[0] == b.args[1] && (b.args[0] == a.args[0] || b.args[0] == a.args[1]);
  if (!self || !is_float_predicate(a.predicate)) return kNoNode;
  const bool has_unordered = outcomes(a.predicate) & kUnordered;
  if (is_and && b.predicate == Predicate::kOrd && !has_unordered) return a_id;
  if (!is_and && b.predicate == Predicate::kUno && has_unordered) return a_id;
  return kNoNode;
}

NodeId simplify_connective(const Node& node, const Rewriter& r) {
  const bool is_and = node.op == TraceOp::kAnd;
  const NodeId a = node.args[0], b = node.args[1];
  if (a == b) return a;
  if (r.is_const(a)) return r.is_const(a, is_and) ? b : a;
  if (r.is_const(b)) return r.is_const(b, is_and) ? a : b;
  if (a > b) return r.factory.pure(node.op, Type::kBool, b, a);
  const Node x = r.at(a), y = r.at(b);
  if (!is_compare(x) || !is_compare(y)) return kNoNode;
  if (const NodeId one = join_compares(x, y, is_and, r); one != kNoNode) return one;
  if (const NodeId one = absorb_nan_test(x, y, a, is_and); one != kNoNode) return one;
  return absorb_nan_test(y, x, b, is_and);
}

NodeId simplify_not(const Node& node, const Rewriter& r) {
  const Node a = r.at(node.args[0]);
  if (a.kind != Kind::kPure) return kNoNode;
  if (a.op == TraceOp::kNot) return a.args[0];
  if (a.op == TraceOp::kCmp) return r.factory.compare(inverse(a.predicate), a.args[0], a.args[1]);
  if (a.op != TraceOp::kAnd && a.op != TraceOp::kOr) return kNoNode;
  const TraceOp other = a.op == TraceOp::kAnd ? TraceOp::kOr : TraceOp::kAnd;
  return r.factory.pure(other, Type::kBool, r.factory.invert(a.args[0]),
                        r.factory.invert(a.args[1]));
}

// x compared with itself: only "equal" and "unordered" can happen.
NodeId compare_with_itself(const Node& node, const Rewriter& r) {
  const unsigned set = outcomes(node.predicate) & (kEqual | kUnordered);
  if (!is_float_predicate(node.predicate)) return r.boolean(set & kEqual);
  if (set == 0 || set == (kEqual | kUnordered)) return r.boolean(set != 0);
  const Predicate p = set == kEqual ? Predicate::kOrd : Predicate::kUno;
  return p == node.predicate ? kNoNode : r.factory.compare(p, node.args[0], node.args[1]);
}

// A boolean against a constant, or a choice of two constants against a third.
NodeId compare_choice(const Node& node, const Node& a, const Node& b, const Rewriter& r) {
  if (a.type == Type::kBool) {
    const bool wanted = (node.predicate == Predicate::kEq) == (b.bits == 1);
    return wanted ? node.args[0] : r.factory.invert(node.args[0]);
  }
  if (a.kind != Kind::kPure || a.op != TraceOp::kSelect) return kNoNode;
  if (!r.is_const(a.args[1]) || !r.is_const(a.args[2])) return kNoNode;
  const NodeId yes = r.factory.compare(node.predicate, a.args[1], node.args[1]);
  const NodeId no = r.factory.compare(node.predicate, a.args[2], node.args[1]);
  return r.factory.select(a.args[0], yes, no);
}

// Equality with a constant, through what is invertible.
NodeId compare_equal(const Node& node, const Node& a, const Node& b, const Rewriter& r) {
  NodeFactory& f = r.factory;
  if (a.kind == Kind::kZext || a.kind == Kind::kSext) {
    const Type inner = r.at(a.args[0]).type;
    const uint64_t narrow = b.bits & type_mask(inner);
    const uint64_t back =
        a.kind == Kind::kZext
            ? narrow
            : static_cast<uint64_t>(sign_extended(narrow, inner)) & type_mask(a.type);
    if (back != b.bits) return r.boolean(node.predicate == Predicate::kNe);
    if (type_bits(inner) < kNarrowest) return kNoNode;
    return f.compare(node.predicate, a.args[0], r.constant(inner, narrow));
  }
  if (a.kind != Kind::kPure) return kNoNode;
  if (a.op == TraceOp::kAdd && r.is_const(a.args[1]))
    return f.compare(node.predicate, a.args[0], r.constant(a.type, b.bits - r.at(a.args[1]).bits));
  if ((a.op == TraceOp::kSub || a.op == TraceOp::kXor) && b.bits == 0)
    return f.compare(node.predicate, a.args[0], a.args[1]);
  return kNoNode;
}

NodeId compare_unsigned(const Node& node, const Node& b, const Rewriter& r) {
  const auto zero_test = [&](Predicate p) {
    return r.factory.compare(p, node.args[0], r.constant(b.type, 0));
  };
  switch (node.predicate) {
    case Predicate::kB:
      if (b.bits == 0) return r.boolean(false);
      return b.bits == 1 ? zero_test(Predicate::kEq) : kNoNode;
    case Predicate::kAe:
      if (b.bits == 0) return r.boolean(true);
      return b.bits == 1 ? zero_test(Predicate::kNe) : kNoNode;
    case Predicate::kBe: return b.bits == 0 ? zero_test(Predicate::kEq) : kNoNode;
    case Predicate::kA: return b.bits == 0 ? zero_test(Predicate::kNe) : kNoNode;
    default: return kNoNode;
  }
}

// 0.0 < abs(x) and the like stay; an integer tested for its sign after extension does not.
NodeId compare_sign(const Node& node, const Node& a, const Node& b, const Rewriter& r) {
  if (a.kind != Kind::kSext || !is_signed(node.predicate)) return kNoNode;
  const Type inner = r.at(a.args[0]).type;
  const uint64_t narrow = b.bits & type_mask(inner);
  if (type_bits(inner) < kNarrowest) return kNoNode;
  if (sign_extended(narrow, inner) != sign_extended(b.bits, b.type)) return kNoNode;
  return r.factory.compare(node.predicate, a.args[0], r.constant(inner, narrow));
}

}  // namespace

unsigned outcomes(Predicate predicate) {
  using enum Predicate;
  switch (predicate) {
    case kOeq:
    case kEq: return kEqual;
    case kOne:
    case kNe: return kLess | kGreater;
    case kOlt:
    case kLt:
    case kB: return kLess;
    case kOle:
    case kLe:
    case kBe: return kLess | kEqual;
    case kOgt:
    case kGt:
    case kA: return kGreater;
    case kOge:
    case kGe:
    case kAe: return kGreater | kEqual;
    case kOrd: return kLess | kEqual | kGreater;
    case kUeq: return kEqual | kUnordered;
    case kUne: return kLess | kGreater | kUnordered;
    case kUlt: return kLess | kUnordered;
    case kUle: return kLess | kEqual | kUnordered;
    case kUgt: return kGreater | kUnordered;
    case kUge: return kGreater | kEqual | kUnordered;
    case kUno: return kUnordered;
  }
  return 0;
}

bool is_float_predicate(Predicate p) { return p <= Predicate::kUno; }

bool is_signed(Predicate p) { return p >= Predicate::kLt && p <= Predicate::kGe; }

bool is_unsigned(Predicate p) { return p >= Predicate::kB; }

Predicate swapped(Predicate p) {
  const unsigned set = outcomes(p);
  unsigned other = set & (kEqual | kUnordered);
  if (set & kLess) other |= kGreater;
  if (set & kGreater) other |= kLess;
  return with_outcomes(p, other);
}

Predicate inverse(Predicate p) { return with_outcomes(p, outcomes(p) ^ all_outcomes(p)); }

NodeId simplify_compare(const Node& node, const Rewriter& r) {
  if (node.args[0] == node.args[1]) return compare_with_itself(node, r);
  if (r.is_const(node.args[0]))
    return r.factory.compare(swapped(node.predicate), node.args[1], node.args[0]);
  if (is_float_predicate(node.predicate) || !r.is_const(node.args[1])) return kNoNode;
  const Node a = r.at(node.args[0]), b = r.at(node.args[1]);
  if (const NodeId one = compare_choice(node, a, b, r); one != kNoNode) return one;
  if (is_equality(node.predicate)) return compare_equal(node, a, b, r);
  if (const NodeId one = compare_unsigned(node, b, r); one != kNoNode) return one;
  return compare_sign(node, a, b, r);
}

NodeId simplify_bool(const Node& node, const Rewriter& r) {
  switch (node.op) {
    case TraceOp::kNot: return simplify_not(node, r);
    case TraceOp::kAnd:
    case TraceOp::kOr: return simplify_connective(node, r);
    case TraceOp::kXor:
      if (node.args[0] == node.args[1]) return r.boolean(false);
      if (r.is_const(node.args[0], 0)) return node.args[1];
      if (r.is_const(node.args[1], 0)) return node.args[0];
      if (r.is_const(node.args[0])) return r.factory.invert(node.args[1]);
      if (r.is_const(node.args[1])) return r.factory.invert(node.args[0]);
      return kNoNode;
    default: return kNoNode;
  }
}

}  // namespace nrd::lift
