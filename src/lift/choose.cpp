// SPDX-License-Identifier: MIT
// src/lift/choose.cpp: selects and guards where control flow was.
#include "lift/ifconvert.h"

namespace nrd::lift {
namespace {

NodeId conjunction(NodeFactory& factory, NodeId a, NodeId b) {
  return factory.pure(TraceOp::kAnd, Type::kBool, a, b);
}

NodeId disjunction(NodeFactory& factory, NodeId a, NodeId b) {
  return factory.pure(TraceOp::kOr, Type::kBool, a, b);
}

// A truth value, or a choice, where a condition is known: what depends on the same condition once
// more is decided.
NodeId given(NodeFactory& factory, NodeId id, NodeId c, NodeId inverse, bool truth, int depth) {
  if (id == c || id == inverse) return factory.constant(Type::kBool, (id == c) == truth);
  const Node n = factory[id];
  const bool is_choice = n.kind == Kind::kPure && n.op == TraceOp::kSelect;
  const bool is_connective =
      n.kind == Kind::kPure && n.type == Type::kBool &&
      (n.op == TraceOp::kAnd || n.op == TraceOp::kOr || n.op == TraceOp::kNot);
  if (depth == 0 || (!is_choice && !is_connective)) return id;
  Node made = n;
  for (NodeId& arg : made.args)
    if (arg != kNoNode) arg = given(factory, arg, c, inverse, truth, depth - 1);
  if (made.args == n.args) return id;
  return is_choice ? choose(factory, made.args[0], made.args[1], made.args[2]) : factory.add(made);
}

NodeId choose_bool(NodeFactory& factory, NodeId c, NodeId a, NodeId b) {
  const auto is_constant = [&](NodeId id) { return factory[id].kind == Kind::kConst; };
  if (is_constant(a))
    return factory[a].bits != 0 ? disjunction(factory, c, b)
                                : conjunction(factory, factory.invert(c), b);
  if (is_constant(b))
    return factory[b].bits != 0 ? disjunction(factory, factory.invert(c), a)
                                : conjunction(factory, c, a);
  return disjunction(factory, conjunction(factory, c, a),
                     conjunction(factory, factory.invert(c), b));
}

}  // namespace

NodeId choose(NodeFactory& factory, NodeId c, NodeId a, NodeId b) {
  if (a == b || factory[b].kind == Kind::kUndef) return a;
  if (factory[a].kind == Kind::kUndef) return b;
  if (factory[c].kind == Kind::kConst) return factory[c].bits != 0 ? a : b;
  constexpr int kDepth = 6;
  const NodeId inverse = factory.invert(c);
  a = given(factory, a, c, inverse, true, kDepth);
  b = given(factory, b, c, inverse, false, kDepth);
  if (a == b) return a;
  if (factory[a].type == Type::kBool) return choose_bool(factory, c, a, b);
  return factory.select(c, a, b);
}

NodeId both(NodeFactory& factory, NodeId a, NodeId b) {
  if (a == kNoNode) return b;
  return b == kNoNode ? a : conjunction(factory, a, b);
}

}  // namespace nrd::lift
