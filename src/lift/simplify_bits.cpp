// SPDX-License-Identifier: MIT
// src/lift/simplify_bits.cpp: widths of integers, and bits seen as another type.
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

bool is_extension(Kind kind) { return kind == Kind::kZext || kind == Kind::kSext; }

NodeId make_width(Kind kind, Type type, NodeId a, const Rewriter& r) {
  return r.factory.add({.kind = kind, .type = type, .args = {a, kNoNode, kNoNode}});
}

NodeId truncate(NodeId a, Type type, const Rewriter& r) { return r.factory.convert(a, type); }

bool is_constant_choice(const Node& node, const Rewriter& r) {
  return node.kind == Kind::kPure && node.op == TraceOp::kSelect && r.is_const(node.args[1]) &&
         r.is_const(node.args[2]);
}

bool narrows_for_free(NodeId id, const Rewriter& r) {
  const Node node = r.at(id);
  return node.kind == Kind::kConst || is_extension(node.kind) || is_constant_choice(node, r);
}

// The low bits of a sum need only the low bits of its terms.
NodeId truncate_operation(const Node& node, const Node& a, const Rewriter& r) {
  const bool low_bits_only = a.op == TraceOp::kAdd || a.op == TraceOp::kSub ||
                             a.op == TraceOp::kMul || a.op == TraceOp::kAnd ||
                             a.op == TraceOp::kOr || a.op == TraceOp::kXor;
  NodeFactory& f = r.factory;
  if (low_bits_only && (narrows_for_free(a.args[0], r) || narrows_for_free(a.args[1], r)))
    return f.pure(a.op, node.type, truncate(a.args[0], node.type, r),
                  truncate(a.args[1], node.type, r));
  if (a.op == TraceOp::kSelect) {
    if (!narrows_for_free(a.args[1], r) && !narrows_for_free(a.args[2], r)) return kNoNode;
    return f.select(a.args[0], truncate(a.args[1], node.type, r),
                    truncate(a.args[2], node.type, r));
  }
  if (a.op != TraceOp::kShl || !r.is_const(a.args[1])) return kNoNode;
  const uint64_t count = r.at(a.args[1]).bits;
  if (count >= static_cast<uint64_t>(type_bits(node.type))) return r.constant(node.type, 0);
  return f.pure(TraceOp::kShl, node.type, truncate(a.args[0], node.type, r),
                r.constant(node.type, count));
}

NodeId simplify_trunc(const Node& node, const Node& a, const Rewriter& r) {
  if (a.kind == Kind::kTrunc) return truncate(a.args[0], node.type, r);
  if (is_extension(a.kind)) {
    const Type inner = r.at(a.args[0]).type;
    if (inner == node.type) return a.args[0];
    if (type_bits(inner) > type_bits(node.type)) return truncate(a.args[0], node.type, r);
    return make_width(a.kind, node.type, a.args[0], r);
  }
  return a.kind == Kind::kPure ? truncate_operation(node, a, r) : kNoNode;
}

NodeId simplify_extension(const Node& node, const Node& a, const Rewriter& r) {
  const bool sign = node.kind == Kind::kSext;
  if (a.kind == Kind::kZext || (sign && a.kind == Kind::kSext))
    return make_width(a.kind, node.type, a.args[0], r);
  if (!sign && a.kind == Kind::kTrunc && r.at(a.args[0]).type == node.type &&
      r.high_bits_zero(a.args[0], type_bits(a.type)))
    return a.args[0];
  if (!is_constant_choice(a, r)) return kNoNode;
  return r.factory.select(a.args[0], r.factory.convert(a.args[1], node.type, sign),
                          r.factory.convert(a.args[2], node.type, sign));
}

uint64_t sign_bit(Type type) { return uint64_t{1} << (type_bits(type) - 1); }

// or(x & sign, magnitude): the magnitude has no sign of its own.
NodeId match_copysign(const Node& node, NodeId sign, NodeId magnitude, const Rewriter& r) {
  if (!r.is_pure(sign, TraceOp::kAnd)) return kNoNode;
  const Node source = r.at(sign);
  const Type integer = source.type;
  if (!r.is_const(source.args[1], sign_bit(integer))) return kNoNode;
  if (!r.high_bits_zero(magnitude, type_bits(integer) - 1)) {
    const Node cast = r.at(magnitude);  // the bits of an abs
    const bool is_abs = cast.kind == Kind::kPure && cast.op == TraceOp::kBitcast &&
                        r.is_pure(cast.args[0], TraceOp::kAbs);
    if (!is_abs) return kNoNode;
  }
  NodeFactory& f = r.factory;
  NodeId size = f.low(magnitude, node.type);
  if (r.is_pure(size, TraceOp::kAbs)) size = r.at(size).args[0];
  return f.pure(TraceOp::kCopySign, node.type, size, f.low(source.args[0], node.type));
}

// Bit operations on floats that are arithmetic: sign masks.
NodeId float_of_bits(const Node& node, const Node& a, const Rewriter& r) {
  NodeFactory& f = r.factory;
  const uint64_t sign = sign_bit(node.type);
  const auto operand = [&] { return f.low(a.args[0], node.type); };
  switch (a.op) {
    case TraceOp::kXor:
      if (!r.is_const(a.args[1], sign)) return kNoNode;
      return f.pure(TraceOp::kNeg, node.type, operand());
    case TraceOp::kAnd:
      if (!r.is_const(a.args[1], sign - 1)) return kNoNode;
      return f.pure(TraceOp::kAbs, node.type, operand());
    case TraceOp::kOr: {
      if (r.is_const(a.args[1], sign))
        return f.pure(TraceOp::kNeg, node.type, f.pure(TraceOp::kAbs, node.type, operand()));
      const NodeId one = match_copysign(node, a.args[0], a.args[1], r);
      return one != kNoNode ? one : match_copysign(node, a.args[1], a.args[0], r);
    }
    case TraceOp::kSelect:
      return f.select(a.args[0], f.low(a.args[1], node.type), f.low(a.args[2], node.type));
    default: return kNoNode;
  }
}

// The low lane of a whole register: logic works on lanes one by one.
NodeId low_lane(const Node& node, const Node& a, const Rewriter& r) {
  NodeFactory& f = r.factory;
  if (a.kind == Kind::kConst) return f.constant(node.type, a.bits);
  if (a.kind != Kind::kPure) return kNoNode;
  if (a.op == TraceOp::kSelect)
    return f.select(a.args[0], f.low(a.args[1], node.type), f.low(a.args[2], node.type));
  if (a.op != TraceOp::kAnd && a.op != TraceOp::kOr && a.op != TraceOp::kXor) return kNoNode;
  const Type integer = integer_of_bits(type_bits(node.type));
  const NodeId lane = f.pure(a.op, integer, f.low(a.args[0], integer), f.low(a.args[1], integer));
  return f.low(lane, node.type);
}

}  // namespace

NodeId simplify_width(const Node& node, const Rewriter& r) {
  const Node a = r.at(node.args[0]);
  if (a.type == node.type) return node.args[0];
  // An undefined number that is zero extended still has zeros above.
  if (a.kind == Kind::kUndef)
    return node.kind == Kind::kZext ? kNoNode : r.factory.undefined(node.type);
  return node.kind == Kind::kTrunc ? simplify_trunc(node, a, r) : simplify_extension(node, a, r);
}

NodeId simplify_bitcast(const Node& node, const Rewriter& r) {
  const Node a = r.at(node.args[0]);
  if (a.type == node.type) return node.args[0];
  if (a.kind == Kind::kUndef) return r.factory.undefined(node.type);
  if (a.type == Type::kV128) return low_lane(node, a, r);
  if (a.kind == Kind::kConst) return r.constant(node.type, a.bits);
  if (a.kind != Kind::kPure) return kNoNode;
  if (a.op == TraceOp::kBitcast) return r.factory.low(a.args[0], node.type);
  return is_float(node.type) && is_integer(a.type) ? float_of_bits(node, a, r) : kNoNode;
}

}  // namespace nrd::lift
