// SPDX-License-Identifier: MIT
// src/lift/node_factory.cpp: nodes, each made once.
#include <fmt/format.h>

#include <algorithm>

#include "lift/function.h"
#include "lift/simplify.h"

namespace nrd::lift {

int type_bits(Type t) {
  switch (t) {
    case Type::kBool: return 1;
    case Type::kI8: return 8;
    case Type::kI16: return 16;
    case Type::kI32:
    case Type::kF32: return 32;
    case Type::kI64:
    case Type::kF64: return 64;
    case Type::kV128: return 128;
    case Type::kFlags:
    case Type::kNone: return 0;
  }
  return 0;
}

bool is_division(Kind kind) { return kind >= Kind::kUDiv && kind <= Kind::kSRem; }

namespace {

// Rules make nodes that rules apply to. They are meant to end by themselves; this bounds them.
constexpr int kMaxRules = 200;

// Loads and stores happen in an order, and a phi belongs to its block: equal ones stay apart.
bool is_shared(Kind kind) {
  return kind != Kind::kLoad && kind != Kind::kStore && kind != Kind::kPhi;
}

bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.op == b.op && a.type == b.type && a.predicate == b.predicate &&
         a.flags == b.flags && a.index == b.index && a.args == b.args && a.bits == b.bits &&
         a.high == b.high;
}

uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

}  // namespace

NodeFactory::NodeFactory(Function& function) : function_(function) {
  size_t size = 256;
  while (size < function.nodes.size() * 2) size *= 2;
  table_.assign(size, kNoNode);
  for (NodeId id = 0; id < function.nodes.size(); id++) {
    depths_.push_back(depth_of(function.nodes[id]));
    if (is_shared(function.nodes[id].kind)) insert(id);
  }
}

// A phi or a leaf begins anew.
uint32_t NodeFactory::depth_of(const Node& node) const {
  if (node.kind == Kind::kPhi) return 0;
  uint32_t deepest = 0;
  for (const NodeId arg : node.args)
    if (arg < depths_.size()) deepest = std::max(deepest, depths_[arg] + 1);
  return deepest;
}

size_t NodeFactory::home(const Node& node) const {
  uint64_t h = static_cast<uint64_t>(node.kind) | static_cast<uint64_t>(node.op) << 8 |
               static_cast<uint64_t>(node.type) << 16 |
               static_cast<uint64_t>(node.predicate) << 24 |
               static_cast<uint64_t>(node.flags) << 32;
  h = mix(h, node.bits ^ node.high * 31 ^ node.index);
  h = mix(h, static_cast<uint64_t>(node.args[0]) << 32 | node.args[1]);
  return mix(h, node.args[2]) & (table_.size() - 1);
}

void NodeFactory::insert(NodeId id) {
  if ((used_ + 1) * 2 > table_.size()) grow();
  size_t at = home(function_.nodes[id]);
  while (table_[at] != kNoNode) at = (at + 1) & (table_.size() - 1);
  table_[at] = id;
  used_++;
}

void NodeFactory::grow() {
  std::vector<NodeId> old(table_.size() * 2, kNoNode);
  old.swap(table_);
  used_ = 0;
  for (const NodeId id : old)
    if (id != kNoNode) insert(id);
}

NodeId NodeFactory::find_or_append(const Node& node) {
  size_t at = home(node);
  for (; table_[at] != kNoNode; at = (at + 1) & (table_.size() - 1))
    if (same(function_.nodes[table_[at]], node)) return table_[at];
  const NodeId id = append(node);
  insert(id);
  return id;
}

NodeId NodeFactory::append(const Node& node) {
  if (function_.nodes.size() >= kMaxNodes)
    throw Refusal{fmt::format("the function has more than {} operations", kMaxNodes)};
  depths_.push_back(depth_of(node));
  if (depths_.back() > kMaxExpressionDepth)
    throw Refusal{
        fmt::format("an expression is more than {} operations deep", kMaxExpressionDepth)};
  function_.nodes.push_back(node);
  if (node.address == 0) function_.nodes.back().address = address_;
  return static_cast<NodeId>(function_.nodes.size() - 1);
}

NodeId NodeFactory::add(Node node) {
  if (!is_shared(node.kind)) return append(node);
  if (rules_ >= kMaxRules) return find_or_append(node);
  rules_++;
  const NodeId simpler = simplify(node, *this, function_);
  rules_--;
  return simpler != kNoNode ? simpler : find_or_append(node);
}

NodeId NodeFactory::constant(Type type, uint64_t bits, uint64_t high) {
  Node node{.kind = Kind::kConst, .type = type};
  node.bits = bits & type_mask(type);
  if (type == Type::kV128) node.high = high;
  return find_or_append(node);
}

NodeId NodeFactory::undefined(Type type) {
  return find_or_append({.kind = Kind::kUndef, .type = type});
}

NodeId NodeFactory::pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) {
  return add({.kind = Kind::kPure, .op = op, .type = type, .args = {a, b, c}});
}

NodeId NodeFactory::compare(Predicate predicate, NodeId a, NodeId b) {
  const Type type = (*this)[a].type;
  if (type == Type::kI8 || type == Type::kI16) {  // traces compare i32 and i64
    const bool sign = is_signed(predicate);
    a = convert(a, Type::kI32, sign);
    b = convert(b, Type::kI32, sign);
  }
  return add({.kind = Kind::kPure,
              .op = TraceOp::kCmp,
              .type = Type::kBool,
              .predicate = predicate,
              .args = {a, b, kNoNode}});
}

NodeId NodeFactory::select(NodeId condition, NodeId a, NodeId b) {
  return pure(TraceOp::kSelect, (*this)[a].type, condition, a, b);
}

NodeId NodeFactory::convert(NodeId a, Type to, bool sign_extend) {
  const Type from = (*this)[a].type;
  if (from == to) return a;
  if (from == Type::kBool) return select(a, constant(to, sign_extend ? ~0ull : 1), constant(to, 0));
  Kind kind = Kind::kTrunc;
  if (type_bits(to) > type_bits(from)) kind = sign_extend ? Kind::kSext : Kind::kZext;
  return add({.kind = kind, .type = to, .args = {a, kNoNode, kNoNode}});
}

NodeId NodeFactory::low(NodeId a, Type to) {
  const Node from = (*this)[a];
  if (from.type == to) return a;
  const bool doubles = type_bits(from.type) == 32 && type_bits(to) == 64;
  if (from.kind != Kind::kUndef && doubles) {  // only the upper half is undefined
    const NodeId lower = convert(low(a, Type::kI32), Type::kI64);
    const NodeId upper = pure(TraceOp::kShl, Type::kI64, convert(undefined(Type::kI32), Type::kI64),
                              constant(Type::kI64, 32));
    return low(pure(TraceOp::kOr, Type::kI64, lower, upper), to);
  }
  if (from.kind == Kind::kUndef || type_bits(from.type) < type_bits(to)) return undefined(to);
  if (type_bits(from.type) == type_bits(to) || from.type == Type::kV128)
    return pure(TraceOp::kBitcast, to, a);
  const NodeId whole = low(a, integer_of_bits(type_bits(from.type)));
  return low(convert(whole, integer_of_bits(type_bits(to))), to);
}

NodeId NodeFactory::invert(NodeId condition) { return pure(TraceOp::kNot, Type::kBool, condition); }

}  // namespace nrd::lift
