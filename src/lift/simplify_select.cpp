// SPDX-License-Identifier: MIT
// src/lift/simplify_select.cpp: choices: boolean ones, nested ones, extrema.
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

bool is_select(const Node& node) { return node.kind == Kind::kPure && node.op == TraceOp::kSelect; }

NodeId select_boolean(NodeId c, NodeId a, NodeId b, const Rewriter& r) {
  NodeFactory& f = r.factory;
  if (r.is_const(a, 1)) return r.is_const(b, 0) ? c : f.pure(TraceOp::kOr, Type::kBool, c, b);
  if (r.is_const(b, 0)) return f.pure(TraceOp::kAnd, Type::kBool, c, a);
  if (r.is_const(a, 0)) return f.pure(TraceOp::kAnd, Type::kBool, f.invert(c), b);
  if (r.is_const(b, 1)) return f.pure(TraceOp::kOr, Type::kBool, f.invert(c), a);
  return kNoNode;
}

// c1 ? a : (c2 ? a : b) and its kin are one choice.
NodeId select_nested(NodeId c, NodeId a, NodeId b, const Rewriter& r) {
  NodeFactory& f = r.factory;
  const Node x = r.at(a), y = r.at(b);
  if (is_select(y)) {
    if (y.args[0] == c) return f.select(c, a, y.args[2]);
    if (y.args[1] == a)
      return f.select(f.pure(TraceOp::kOr, Type::kBool, c, y.args[0]), a, y.args[2]);
    if (y.args[2] == a) {
      const NodeId either = f.pure(TraceOp::kOr, Type::kBool, c, f.invert(y.args[0]));
      return f.select(either, a, y.args[1]);
    }
  }
  if (is_select(x)) {
    if (x.args[0] == c) return f.select(c, x.args[1], b);
    if (x.args[2] == b)
      return f.select(f.pure(TraceOp::kAnd, Type::kBool, c, x.args[0]), x.args[1], b);
    if (x.args[1] == b) {
      const NodeId both = f.pure(TraceOp::kAnd, Type::kBool, c, f.invert(x.args[0]));
      return f.select(both, x.args[2], b);
    }
  }
  return kNoNode;
}

bool is_self_test(const Node& node, Predicate predicate, NodeId x) {
  return node.kind == Kind::kPure && node.op == TraceOp::kCmp && node.predicate == predicate &&
         node.args[0] == x && node.args[1] == x;
}

// x > y, written in either order.
bool compares(const Node& node, Predicate predicate, NodeId x, NodeId y) {
  if (node.kind != Kind::kPure || node.op != TraceOp::kCmp) return false;
  if (node.predicate == predicate && node.args[0] == x && node.args[1] == y) return true;
  return node.predicate == swapped(predicate) && node.args[0] == y && node.args[1] == x;
}

// (a > b || a != a) ? a : b, or !(a > b) && a == a ? b : a
NodeId select_nan_extremum(const Node& node, const Rewriter& r) {
  Node condition = r.at(node.args[0]);
  if (condition.kind != Kind::kPure) return kNoNode;
  const bool inverted = condition.op == TraceOp::kAnd;
  if (inverted) condition = r.at(r.factory.invert(node.args[0]));
  if (condition.op != TraceOp::kOr) return kNoNode;
  const NodeId a = node.args[inverted ? 2 : 1], b = node.args[inverted ? 1 : 2];
  for (const int test : {0, 1}) {
    const Node nan = r.at(condition.args[test]), order = r.at(condition.args[1 - test]);
    if (!is_self_test(nan, Predicate::kUno, a)) continue;
    if (compares(order, Predicate::kOgt, a, b))
      return r.factory.pure(TraceOp::kMaxNan, node.type, a, b);
    if (compares(order, Predicate::kOlt, a, b))
      return r.factory.pure(TraceOp::kMinNan, node.type, a, b);
  }
  return kNoNode;
}

// A NaN test around maxss: x != x ? x : max(x, y) keeps a NaN; x != x ? y : max(y, x) drops it, and
// of two zeros it returns x, as max_num(y, x) does.
NodeId select_guarded_extremum(const Node& node, const Node& condition, const Rewriter& r) {
  if (condition.kind != Kind::kPure || condition.op != TraceOp::kCmp) return kNoNode;
  const bool is_nan = condition.predicate == Predicate::kUno;
  if ((!is_nan && condition.predicate != Predicate::kOrd) || condition.args[0] != condition.args[1])
    return kNoNode;
  const NodeId x = condition.args[0];
  const NodeId for_nan = node.args[is_nan ? 1 : 2];
  const Node extremum = r.at(node.args[is_nan ? 2 : 1]);
  const bool is_max = extremum.op == TraceOp::kMaxFirst;
  if (extremum.kind != Kind::kPure || (!is_max && extremum.op != TraceOp::kMinFirst))
    return kNoNode;
  if (for_nan == x && extremum.args[0] == x)
    return r.factory.pure(is_max ? TraceOp::kMaxNan : TraceOp::kMinNan, node.type, x,
                          extremum.args[1]);
  if (for_nan == extremum.args[0] && extremum.args[1] == x)
    return r.factory.pure(is_max ? TraceOp::kMaxNum : TraceOp::kMinNum, node.type, for_nan, x);
  return kNoNode;
}

NodeId select_by_compare(const Node& node, const Node& condition, const Rewriter& r) {
  const NodeId a = node.args[1], b = node.args[2];
  NodeFactory& f = r.factory;
  const auto either = [&](Predicate p) { return compares(condition, p, a, b); };
  if (is_float(node.type)) {
    if (either(Predicate::kOgt)) return f.pure(TraceOp::kMaxFirst, node.type, a, b);
    if (either(Predicate::kOlt)) return f.pure(TraceOp::kMinFirst, node.type, a, b);
    return kNoNode;
  }
  if (!is_integer(node.type)) return kNoNode;
  if (either(Predicate::kGt) || either(Predicate::kGe))
    return f.pure(TraceOp::kMax, node.type, a, b);
  if (either(Predicate::kLt) || either(Predicate::kLe))
    return f.pure(TraceOp::kMin, node.type, a, b);
  if (either(Predicate::kEq)) return b;
  return either(Predicate::kNe) ? a : kNoNode;
}

// What holds with a NaN is said the other way round, so that each choice has one form.
bool reads_better_inverted(Predicate p) {
  return p == Predicate::kUlt || p == Predicate::kUle || p == Predicate::kUgt ||
         p == Predicate::kUge || p == Predicate::kUne;
}

// Choices between the bits of floats, or between extended numbers, are made before the cast.
NodeId select_before_cast(const Node& node, const Rewriter& r) {
  NodeFactory& f = r.factory;
  const Node x = r.at(node.args[1]), y = r.at(node.args[2]);
  const Node& cast = x.kind == Kind::kConst ? y : x;
  const bool is_bits = cast.kind == Kind::kPure && cast.op == TraceOp::kBitcast;
  if (!is_bits && cast.kind != Kind::kZext) return kNoNode;
  const Type inner = r.at(cast.args[0]).type;
  if (inner == Type::kV128) return kNoNode;
  const auto fits = [&](const Node& arm) {
    if (arm.kind == Kind::kConst) return is_bits || (arm.bits & ~type_mask(inner)) == 0;
    return arm.kind == cast.kind && arm.op == cast.op && r.at(arm.args[0]).type == inner;
  };
  if (!fits(x) || !fits(y)) return kNoNode;
  const auto bare = [&](const Node& arm) {
    return arm.kind == Kind::kConst ? r.constant(inner, arm.bits) : arm.args[0];
  };
  const NodeId yes = bare(x);
  const NodeId chosen = f.select(node.args[0], yes, bare(y));
  return f.add(
      {.kind = cast.kind, .op = cast.op, .type = node.type, .args = {chosen, kNoNode, kNoNode}});
}

}  // namespace

NodeId simplify_select(const Node& node, const Rewriter& r) {
  const NodeId c = node.args[0], a = node.args[1], b = node.args[2];
  if (a == b) return a;
  if (r.is_const(c)) return r.is_const(c, 1) ? a : b;
  const Node condition = r.at(c);
  if (condition.kind == Kind::kPure) {
    if (condition.op == TraceOp::kNot) return r.factory.select(condition.args[0], b, a);
    if (condition.op == TraceOp::kCmp && reads_better_inverted(condition.predicate))
      return r.factory.select(r.factory.invert(c), b, a);
  }
  if (node.type == Type::kBool) return select_boolean(c, a, b, r);
  NodeId one = select_by_compare(node, condition, r);
  if (one == kNoNode) one = select_nan_extremum(node, r);
  if (one == kNoNode) one = select_guarded_extremum(node, condition, r);
  if (one == kNoNode) one = select_nested(c, a, b, r);
  if (one == kNoNode && is_integer(node.type)) one = select_before_cast(node, r);
  return one;
}

}  // namespace nrd::lift
