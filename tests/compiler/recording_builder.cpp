// SPDX-License-Identifier: MIT
// tests/compiler/recording_builder.cpp: nodes are appended, the same one twice is the same.
#include "recording_builder.h"

namespace nrd::lift {
namespace {

bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.op == b.op && a.type == b.type && a.predicate == b.predicate &&
         a.index == b.index && a.args == b.args && a.bits == b.bits && a.high == b.high;
}

}  // namespace

RecordingBuilder::RecordingBuilder() {
  for (uint32_t i = 0; i < kVariables; i++) {
    const bool vector = i >= kVectorBase && i < kFlagsVariable;
    variables_.push_back(
        add({.kind = Kind::kArg, .type = vector ? Type::kV128 : Type::kI64, .index = i}));
  }
}

NodeId RecordingBuilder::add(const Node& node) {
  for (NodeId i = 0; i < nodes_.size(); i++)
    if (same(nodes_[i], node)) return i;
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId RecordingBuilder::constant(Type type, uint64_t bits, uint64_t high) {
  return add({.kind = Kind::kConst, .type = type, .bits = bits, .high = high});
}

NodeId RecordingBuilder::pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) {
  if (op == TraceOp::kXor && a == b) return constant(type, 0, 0);
  return add({.kind = Kind::kPure, .op = op, .type = type, .args = {a, b, c}});
}

NodeId RecordingBuilder::special(Kind kind, Type type, NodeId a, NodeId b) {
  return add({.kind = kind, .type = type, .args = {a, b, kNoNode}});
}

NodeId RecordingBuilder::compare(Predicate predicate, NodeId a, NodeId b) {
  return add({.kind = Kind::kPure,
              .op = TraceOp::kCmp,
              .type = Type::kBool,
              .predicate = predicate,
              .args = {a, b, kNoNode}});
}

NodeId RecordingBuilder::select(NodeId condition, NodeId a, NodeId b) {
  return pure(TraceOp::kSelect, nodes_[a].type, condition, a, b);
}

// Folds what a division looks at: cdq and xor edx, edx before it.
NodeId RecordingBuilder::convert(NodeId a, Type to, bool sign_extend) {
  const int from_bits = type_bits(nodes_[a].type), to_bits = type_bits(to);
  if (from_bits == to_bits) return a;
  if (nodes_[a].kind == Kind::kConst && to_bits < from_bits)
    return constant(to, nodes_[a].bits & ((uint64_t{1} << to_bits) - 1), 0);
  const bool widened = nodes_[a].kind == Kind::kZext || nodes_[a].kind == Kind::kSext;
  if (widened && nodes_[nodes_[a].args[0]].type == to) return nodes_[a].args[0];
  const Kind kind = to_bits < from_bits ? Kind::kTrunc : sign_extend ? Kind::kSext : Kind::kZext;
  if (kind == Kind::kZext && nodes_[a].kind == Kind::kConst) return constant(to, nodes_[a].bits, 0);
  return special(kind, to, a, kNoNode);
}

NodeId RecordingBuilder::bitcast(NodeId a, Type to) {
  if (nodes_[a].type == to) return a;
  return pure(TraceOp::kBitcast, to, a, kNoNode, kNoNode);
}

NodeId RecordingBuilder::read_gpr(uint32_t reg, Type type, bool high_byte) {
  NodeId whole = variables_[reg];
  if (high_byte)
    whole = pure(TraceOp::kShr, Type::kI64, whole, constant(Type::kI64, 8, 0), kNoNode);
  return convert(whole, type, false);
}

void RecordingBuilder::write_gpr(uint32_t reg, NodeId value, bool high_byte) {
  const int bits = type_bits(nodes_[value].type);
  const NodeId wide = convert(value, Type::kI64, false);
  if (bits >= 32) {
    variables_[reg] = wide;
    return;
  }
  const int shift = high_byte ? 8 : 0;
  const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift;
  const NodeId kept =
      pure(TraceOp::kAnd, Type::kI64, variables_[reg], constant(Type::kI64, ~mask, 0), kNoNode);
  const NodeId placed = pure(TraceOp::kShl, Type::kI64, wide,
                             constant(Type::kI64, static_cast<uint64_t>(shift), 0), kNoNode);
  variables_[reg] = pure(TraceOp::kOr, Type::kI64, kept, placed, kNoNode);
}

NodeId RecordingBuilder::read_vector(uint32_t reg, Type type) {
  const NodeId value = variables_[kVectorBase + reg];
  if (type_bits(nodes_[value].type) < type_bits(type)) refuse("more bits than were written");
  return bitcast(value, type);
}

NodeId RecordingBuilder::load(Type type, NodeId address) {
  return special(Kind::kLoad, type, address, kNoNode);
}

// The flags of `a` against `b` as conditions; sums and ands are compared through their result.
NodeId RecordingBuilder::integer_condition(Cond cond) {
  using enum Predicate;
  const auto [kind, a, b] = flags_;
  const Type type = nodes_[a].type;
  const NodeId zero = constant(type, 0, 0);
  const bool subtracts = kind == FlagsKind::kCompare;
  const TraceOp op = subtracts                 ? TraceOp::kSub
                     : kind == FlagsKind::kAdd ? TraceOp::kAdd
                                               : TraceOp::kAnd;
  const NodeId result = pure(op, type, a, b, kNoNode);
  switch (cond) {
    case Cond::kE: return compare(kEq, result, zero);
    case Cond::kNE: return compare(kNe, result, zero);
    case Cond::kS: return compare(kLt, result, zero);
    case Cond::kNS: return compare(kGe, result, zero);
    default: break;
  }
  if (kind == FlagsKind::kAdd) {
    if (cond == Cond::kB) return compare(kB, result, a);
    if (cond == Cond::kAE) return compare(kAe, result, a);
    refuse("condition");
  }
  const NodeId x = subtracts ? a : result, y = subtracts ? b : zero;
  switch (cond) {
    case Cond::kB: return compare(kB, x, y);
    case Cond::kAE: return compare(kAe, x, y);
    case Cond::kBE: return compare(kBe, x, y);
    case Cond::kA: return compare(kA, x, y);
    case Cond::kL: return compare(kLt, x, y);
    case Cond::kGE: return compare(kGe, x, y);
    case Cond::kLE: return compare(kLe, x, y);
    case Cond::kG: return compare(kGt, x, y);
    default: refuse("condition");
  }
}

NodeId RecordingBuilder::float_condition(Cond cond) {
  using enum Predicate;
  const auto [kind, a, b] = flags_;
  switch (cond) {
    case Cond::kE: return compare(kUeq, a, b);
    case Cond::kNE: return compare(kOne, a, b);
    case Cond::kB: return compare(kUlt, a, b);
    case Cond::kAE: return compare(kOge, a, b);
    case Cond::kBE: return compare(kUle, a, b);
    case Cond::kA: return compare(kOgt, a, b);
    case Cond::kP: return compare(kUno, a, b);
    case Cond::kNP: return compare(kOrd, a, b);
    default: refuse("condition");
  }
}

NodeId RecordingBuilder::condition(Cond cond) {
  switch (flags_.kind) {
    case FlagsKind::kCompare:
    case FlagsKind::kAnd:
    case FlagsKind::kAdd: return integer_condition(cond);
    case FlagsKind::kFloatX86: return float_condition(cond);
    default: refuse("no flags");
  }
}

}  // namespace nrd::lift
