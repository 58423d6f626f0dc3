// SPDX-License-Identifier: MIT
// src/lift/tidy.cpp: see tidy.h.
#include "lift/tidy.h"

#include <bit>

#include "lift/ifconvert.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

bool is_pure(const Node& n, TraceOp op) { return n.kind == Kind::kPure && n.op == op; }

bool is_nan(const Node& constant) {
  if (constant.type == Type::kF32) return (constant.bits & 0x7fffffff) > 0x7f800000;
  return constant.bits << 1 > uint64_t{0x7ff} << 53;
}

// A select, or an extremum as the select that it stands for.
struct Choice {
  NodeId condition = kNoNode, yes = kNoNode, no = kNoNode;
};

bool as_choice(NodeId id, NodeFactory& factory, Choice& out) {
  Node n = factory[id];
  if (is_pure(n, TraceOp::kBitcast)) n = factory[n.args[0]];
  if (is_pure(n, TraceOp::kSelect)) {
    out = {n.args[0], n.args[1], n.args[2]};
    return true;
  }
  if (n.kind != Kind::kPure) return false;
  const NodeId a = n.args[0], b = n.args[1];
  switch (n.op) {
    case TraceOp::kMaxFirst: out = {factory.compare(Predicate::kOgt, a, b), a, b}; return true;
    case TraceOp::kMinFirst: out = {factory.compare(Predicate::kOlt, a, b), a, b}; return true;
    case TraceOp::kMaxNan: out = {factory.compare(Predicate::kOle, a, b), b, a}; break;
    case TraceOp::kMinNan: out = {factory.compare(Predicate::kOge, a, b), b, a}; break;
    default: return false;
  }
  return factory[b].kind == Kind::kConst && !is_nan(factory[b]);  // as select_limit makes them
}

bool is_zero(NodeId id, const NodeFactory& factory) {
  return factory[id].kind == Kind::kConst && factory[id].bits == 0;
}

// x & mask | y & ~mask, once the masks have become choices of x or 0 and of 0 or y.
NodeId joined_choices(const Node& node, NodeFactory& factory) {
  Choice a, b;
  if (!as_choice(node.args[0], factory, a) || !as_choice(node.args[1], factory, b)) return kNoNode;
  if (factory.invert(a.condition) == b.condition) {
    b.condition = a.condition;
    std::swap(b.yes, b.no);
  }
  if (a.condition != b.condition) return kNoNode;
  const bool zero_yes = is_zero(a.yes, factory) || is_zero(b.yes, factory);
  const bool zero_no = is_zero(a.no, factory) || is_zero(b.no, factory);
  if (!zero_yes || !zero_no) return kNoNode;
  const NodeId yes = is_zero(a.yes, factory) ? b.yes : a.yes;
  const NodeId no = is_zero(a.no, factory) ? b.no : a.no;
  if (factory[yes].type != factory[no].type) return kNoNode;
  return factory.low(choose(factory, a.condition, yes, no), node.type);
}

// Whether any bit of the mask is set, as a truth value, or kNoNode where that takes more than
// tests of what set the bits.
NodeId any_bit(NodeId id, uint64_t mask, NodeFactory& factory, int depth) {
  const Node n = factory[id];
  const auto part = [&](int i, uint64_t m) { return any_bit(n.args[i], m, factory, depth - 1); };
  if (n.kind == Kind::kConst) return factory.constant(Type::kBool, (n.bits & mask) != 0);
  if (depth == 0) return kNoNode;
  if (n.kind == Kind::kTrunc) return part(0, mask & type_mask(n.type));
  if (n.kind == Kind::kZext) return part(0, mask & type_mask(factory[n.args[0]].type));
  if (n.kind != Kind::kPure) return kNoNode;
  if (n.op == TraceOp::kAnd && factory[n.args[1]].kind == Kind::kConst)
    return part(0, mask & factory[n.args[1]].bits);
  const bool one_bit = std::has_single_bit(mask);
  const bool splits = n.op == TraceOp::kOr || n.op == TraceOp::kSelect ||
                      ((n.op == TraceOp::kAnd || n.op == TraceOp::kXor) && one_bit);
  if (!splits) return kNoNode;
  const int first = n.op == TraceOp::kSelect ? 1 : 0;
  const NodeId a = part(first, mask);
  if (a == kNoNode) return kNoNode;
  const NodeId b = part(first + 1, mask);
  if (b == kNoNode) return kNoNode;
  return n.op == TraceOp::kSelect ? choose(factory, n.args[0], a, b)
                                  : factory.pure(n.op, Type::kBool, a, b);
}

NodeId tidied_compare(const Node& node, NodeFactory& factory) {
  const Node b = factory[node.args[1]];
  if (b.kind != Kind::kConst) return kNoNode;
  const bool nan_test = node.predicate == Predicate::kOrd || node.predicate == Predicate::kUno;
  if (nan_test)
    return is_nan(b) ? kNoNode : factory.compare(node.predicate, node.args[0], node.args[0]);
  const bool is_zero_test = node.predicate == Predicate::kEq || node.predicate == Predicate::kNe;
  if (!is_zero_test || b.bits != 0) return kNoNode;
  const NodeId set = any_bit(node.args[0], type_mask(b.type), factory, 8);
  if (set == kNoNode) return kNoNode;
  return node.predicate == Predicate::kNe ? set : factory.invert(set);
}

// a <= c ? c : a, for a number c: a NaN stays.
NodeId select_limit(const Node& node, NodeFactory& factory) {
  const Node condition = factory[node.args[0]], limit = factory[node.args[1]];
  const NodeId a = node.args[2];
  if (!is_pure(condition, TraceOp::kCmp) || !is_float(node.type) || limit.kind != Kind::kConst ||
      is_nan(limit) || condition.args[0] != a || condition.args[1] != node.args[1])
    return kNoNode;
  if (condition.predicate == Predicate::kOle)
    return factory.pure(TraceOp::kMaxNan, node.type, a, node.args[1]);
  if (condition.predicate == Predicate::kOge)
    return factory.pure(TraceOp::kMinNan, node.type, a, node.args[1]);
  return kNoNode;
}

// c ? a : (a > b ? a : b) is one choice: an index chosen beside it then has the same condition.
NodeId tidied_select(const Node& node, NodeFactory& factory) {
  if (const NodeId limited = select_limit(node, factory); limited != kNoNode) return limited;
  const Node no = factory[node.args[2]];
  const bool is_max = is_pure(no, TraceOp::kMaxFirst);
  if ((!is_max && !is_pure(no, TraceOp::kMinFirst)) || no.args[0] != node.args[1]) return kNoNode;
  const Predicate order = is_max ? Predicate::kOgt : Predicate::kOlt;
  const NodeId wins = factory.compare(order, no.args[0], no.args[1]);
  const NodeId either = factory.pure(TraceOp::kOr, Type::kBool, node.args[0], wins);
  return choose(factory, either, no.args[0], no.args[1]);
}

}  // namespace

NodeId tidied(const Node& node, NodeFactory& factory) {
  if (node.kind != Kind::kPure) return kNoNode;
  switch (node.op) {
    case TraceOp::kOr: return is_integer(node.type) ? joined_choices(node, factory) : kNoNode;
    case TraceOp::kCmp: return tidied_compare(node, factory);
    case TraceOp::kSelect: return tidied_select(node, factory);
    default: return kNoNode;
  }
}

}  // namespace nrd::lift
