// SPDX-License-Identifier: MIT
// src/lift/simplify.cpp: which rules concern a node, and those on floating-point arithmetic.
#include "lift/simplify.h"

#include <bit>

namespace nrd::lift {

uint64_t type_mask(Type type) {
  const int bits = type_bits(type);
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

bool is_float(Type type) { return type == Type::kF32 || type == Type::kF64; }

bool is_integer(Type type) { return type >= Type::kI8 && type <= Type::kI64; }

Type integer_of_bits(int bits) {
  switch (bits) {
    case 8: return Type::kI8;
    case 16: return Type::kI16;
    case 32: return Type::kI32;
    default: return Type::kI64;
  }
}

int64_t sign_extended(uint64_t bits, Type type) {
  const int unused = 64 - type_bits(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

uint32_t bytes_of(Type type) { return static_cast<uint32_t>(type_bits(type) + 7) / 8; }

bool Rewriter::high_bits_zero(NodeId id, int from_bit, int depth) const {
  const Node& node = function[id];
  if (from_bit >= type_bits(node.type)) return true;
  if (node.kind == Kind::kConst) return from_bit >= 64 || node.bits >> from_bit == 0;
  if (node.kind == Kind::kZext) {
    return type_bits(function[node.args[0]].type) <= from_bit ||
           (depth < 8 && high_bits_zero(node.args[0], from_bit, depth + 1));
  }
  if (node.kind != Kind::kPure || depth >= 8) return false;
  const auto zero = [&](int arg) { return high_bits_zero(node.args[arg], from_bit, depth + 1); };
  switch (node.op) {
    case TraceOp::kAnd: return zero(0) || zero(1);
    case TraceOp::kOr:
    case TraceOp::kXor: return zero(0) && zero(1);
    case TraceOp::kSelect: return zero(1) && zero(2);
    case TraceOp::kShr:
      return is_const(node.args[1]) &&
             type_bits(node.type) <= from_bit + static_cast<int>(function[node.args[1]].bits);
    default: return false;
  }
}

namespace {

bool is_one(const Node& constant) {
  if (constant.kind != Kind::kConst) return false;
  if (constant.type == Type::kF32) return constant.bits == std::bit_cast<uint32_t>(1.0f);
  return constant.type == Type::kF64 && constant.bits == std::bit_cast<uint64_t>(1.0);
}

uint64_t negative_zero(Type type) { return uint64_t{1} << (type_bits(type) - 1); }

// x - 0 and x + -0 are x even for x = -0; x + 0 is not.
NodeId simplify_float(const Node& node, const Rewriter& r) {
  const Node a = r.at(node.args[0]);
  const auto inner = [&](TraceOp op) { return a.kind == Kind::kPure && a.op == op; };
  switch (node.op) {
    case TraceOp::kAdd:
      return r.is_const(node.args[1], negative_zero(node.type)) ? node.args[0] : kNoNode;
    case TraceOp::kSub: return r.is_const(node.args[1], 0) ? node.args[0] : kNoNode;
    case TraceOp::kMul:
      if (is_one(a)) return node.args[1];
      return is_one(r.at(node.args[1])) ? node.args[0] : kNoNode;
    case TraceOp::kDiv: return is_one(r.at(node.args[1])) ? node.args[0] : kNoNode;
    case TraceOp::kNeg: return inner(TraceOp::kNeg) ? a.args[0] : kNoNode;
    case TraceOp::kAbs:
      if (inner(TraceOp::kAbs)) return node.args[0];
      if (inner(TraceOp::kNeg)) return r.factory.pure(TraceOp::kAbs, node.type, a.args[0]);
      return kNoNode;
    case TraceOp::kMaxFirst:
    case TraceOp::kMinFirst: return node.args[0] == node.args[1] ? node.args[0] : kNoNode;
    case TraceOp::kToF32:  // a number widened and narrowed again
      if (inner(TraceOp::kToF64) && r.at(a.args[0]).type == Type::kF32) return a.args[0];
      return kNoNode;
    default: return kNoNode;
  }
}

NodeId simplify_pure(const Node& node, const Rewriter& r) {
  switch (node.op) {
    case TraceOp::kCmp: return simplify_compare(node, r);
    case TraceOp::kSelect: return simplify_select(node, r);
    case TraceOp::kBitcast: return simplify_bitcast(node, r);
    default: break;
  }
  if (node.type == Type::kBool) return simplify_bool(node, r);
  if (is_float(node.type)) return simplify_float(node, r);
  if (is_integer(node.type)) return simplify_integer(node, r);
  return kNoNode;
}

}  // namespace

NodeId simplify(const Node& node, NodeFactory& factory, const Function& function) {
  const Rewriter r{factory, function};
  if (const NodeId folded = fold_constants(node, r); folded != kNoNode) return folded;
  switch (node.kind) {
    case Kind::kPure: return simplify_pure(node, r);
    case Kind::kTrunc:
    case Kind::kZext:
    case Kind::kSext: return simplify_width(node, r);
    default: return kNoNode;
  }
}

}  // namespace nrd::lift
