// SPDX-License-Identifier: MIT
// src/lift/simplify_integer.cpp: integer arithmetic, shifts, and masks made by comparisons.
//
// Constants move to the right and outwards, so that an address is base + constant, whatever the
// way it was computed.
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

bool is_commutative(TraceOp op) {
  return op == TraceOp::kAdd || op == TraceOp::kMul || op == TraceOp::kAnd || op == TraceOp::kOr ||
         op == TraceOp::kXor || op == TraceOp::kMin || op == TraceOp::kMax;
}

bool is_bitwise(TraceOp op) {
  return op == TraceOp::kAnd || op == TraceOp::kOr || op == TraceOp::kXor;
}

// x op c, where c is an operand's constant part.
struct WithConstant {
  NodeId rest = kNoNode;
  uint64_t constant = 0;
};
WithConstant split(NodeId id, TraceOp op, const Rewriter& r) {
  if (!r.is_pure(id, op)) return {id, 0};
  const Node node = r.at(id);
  if (!r.is_const(node.args[1])) return {id, 0};
  return {node.args[0], r.at(node.args[1]).bits};
}

NodeId simplify_add(const Node& node, const Rewriter& r) {
  NodeFactory& f = r.factory;
  const NodeId a = node.args[0], b = node.args[1];
  if (r.is_const(b, 0)) return a;
  const WithConstant x = split(a, TraceOp::kAdd, r);
  if (r.is_const(b)) {
    if (x.rest == a) return kNoNode;
    const uint64_t sum = x.constant + r.at(b).bits;
    return f.pure(TraceOp::kAdd, node.type, x.rest, r.constant(node.type, sum));
  }
  const WithConstant y = split(b, TraceOp::kAdd, r);
  if (x.rest != a || y.rest != b) {
    const NodeId sum = f.pure(TraceOp::kAdd, node.type, x.rest, y.rest);
    return f.pure(TraceOp::kAdd, node.type, sum, r.constant(node.type, x.constant + y.constant));
  }
  if (r.is_pure(a, TraceOp::kSub) && r.at(a).args[1] == b) return r.at(a).args[0];
  if (r.is_pure(b, TraceOp::kSub) && r.at(b).args[1] == a) return r.at(b).args[0];
  return kNoNode;
}

NodeId simplify_sub(const Node& node, const Rewriter& r) {
  NodeFactory& f = r.factory;
  const NodeId a = node.args[0], b = node.args[1];
  if (a == b) return r.constant(node.type, 0);
  if (r.is_const(b))
    return f.pure(TraceOp::kAdd, node.type, a, r.constant(node.type, 0 - r.at(b).bits));
  if (r.is_const(a, 0)) return f.pure(TraceOp::kNeg, node.type, b);
  const WithConstant x = split(a, TraceOp::kAdd, r), y = split(b, TraceOp::kAdd, r);
  if (x.rest != a || y.rest != b) {
    const NodeId rest = f.pure(TraceOp::kSub, node.type, x.rest, y.rest);
    return f.pure(TraceOp::kAdd, node.type, rest, r.constant(node.type, x.constant - y.constant));
  }
  if (!r.is_pure(a, TraceOp::kAdd)) return kNoNode;
  const Node sum = r.at(a);
  if (sum.args[0] == b) return sum.args[1];
  return sum.args[1] == b ? sum.args[0] : kNoNode;
}

NodeId simplify_mul(const Node& node, const Rewriter& r) {
  if (!r.is_const(node.args[1])) return kNoNode;
  const uint64_t factor = r.at(node.args[1]).bits;
  if (factor == 0) return node.args[1];
  if (factor == 1) return node.args[0];
  const WithConstant x = split(node.args[0], TraceOp::kMul, r);
  if (x.rest == node.args[0]) return kNoNode;
  return r.factory.pure(TraceOp::kMul, node.type, x.rest,
                        r.constant(node.type, x.constant * factor));
}

// Two halves of one number put together again: zext(trunc(x)) | x >> 32 << 32.
NodeId rejoin_halves(NodeId low, NodeId high, const Rewriter& r) {
  const Node wide_low = r.at(low), shifted = r.at(high);
  if (wide_low.kind != Kind::kZext || !r.is_pure(high, TraceOp::kShl)) return kNoNode;
  const Node half = r.at(wide_low.args[0]), upper = r.at(shifted.args[0]);
  if (half.kind != Kind::kTrunc || !r.is_pure(shifted.args[0], TraceOp::kShr)) return kNoNode;
  const bool by_half = r.is_const(shifted.args[1], 32) && r.is_const(upper.args[1], 32);
  return by_half && upper.args[0] == half.args[0] ? half.args[0] : kNoNode;
}

// Bits that may be set, seen through extensions and shifts: how halves are put together.
uint64_t possible_bits(NodeId id, const Rewriter& r) {
  const Node node = r.at(id);
  const uint64_t all = type_mask(node.type);
  if (node.kind == Kind::kConst) return node.bits;
  if (node.kind == Kind::kZext) return type_mask(r.at(node.args[0]).type);
  const bool shifted = r.is_pure(id, TraceOp::kShl) && r.is_const(node.args[1]);
  const uint64_t count = shifted ? r.at(node.args[1]).bits : 0;
  if (!shifted || count >= 64) return all;
  const Node inner = r.at(node.args[0]);
  const uint64_t below = inner.kind == Kind::kZext ? type_mask(r.at(inner.args[0]).type) : all;
  return below << count & all;
}

// One half of two that were put together; the other may be undefined.
NodeId masked_half(const Node& node, uint64_t c, const Rewriter& r) {
  if (!r.is_pure(node.args[0], TraceOp::kOr)) return kNoNode;
  const Node both = r.at(node.args[0]);
  for (const int gone : {0, 1})
    if ((possible_bits(both.args[gone], r) & c) == 0)
      return r.factory.pure(TraceOp::kAnd, node.type, both.args[1 - gone], node.args[1]);
  return kNoNode;
}

NodeId bitwise_with_constant(const Node& node, uint64_t c, const Rewriter& r) {
  const NodeId a = node.args[0];
  const uint64_t all = type_mask(node.type);
  if (node.op == TraceOp::kAnd) {
    if (c == 0) return node.args[1];
    if (c == all) return a;
    const bool low_mask = (c & (c + 1)) == 0;
    int bits = 0;
    while (bits < 64 && (c >> bits & 1)) bits++;
    if (low_mask && r.high_bits_zero(a, bits)) return a;
    if ((possible_bits(a, r) & ~c) == 0) return a;
    if (const NodeId half = masked_half(node, c, r); half != kNoNode) return half;
    if (c == 0xffffffff && node.type == Type::kI64)
      return r.factory.convert(r.factory.convert(a, Type::kI32), Type::kI64);
  } else {
    if (c == 0) return a;
    if (node.op == TraceOp::kOr && c == all) return node.args[1];
  }
  const WithConstant x = split(a, node.op, r);
  if (x.rest == a) return kNoNode;
  uint64_t joined = x.constant & c;
  if (node.op == TraceOp::kOr) joined = x.constant | c;
  if (node.op == TraceOp::kXor) joined = x.constant ^ c;
  return r.factory.pure(node.op, node.type, x.rest, r.constant(node.type, joined));
}

bool is_zero_or_ones(NodeId id, const Rewriter& r) {
  return r.is_const(id, 0) || r.is_const(id, type_mask(r.at(id).type));
}

bool is_select(NodeId id, const Rewriter& r) { return r.is_pure(id, TraceOp::kSelect); }

// A mask made by a comparison: c ? ~0 : 0, or its complement.
bool is_mask(NodeId id, const Rewriter& r) {
  return is_select(id, r) && is_zero_or_ones(r.at(id).args[1], r) &&
         is_zero_or_ones(r.at(id).args[2], r);
}

// A choice of integers, or of floats whose bits are meant.
struct Choice {
  NodeId condition = kNoNode, yes = kNoNode, no = kNoNode;
};
Choice as_choice(NodeId id, const Rewriter& r) {
  const Type type = r.at(id).type;
  const Node node = r.at(r.is_pure(id, TraceOp::kBitcast) ? r.at(id).args[0] : id);
  if (node.kind != Kind::kPure || node.op != TraceOp::kSelect) return {};
  const NodeId yes = r.factory.low(node.args[1], type);
  return {node.args[0], yes, r.factory.low(node.args[2], type)};
}

NodeId bitwise_arms(const Node& node, const Choice& choice, NodeId yes, NodeId no,
                    const Rewriter& r) {
  NodeFactory& f = r.factory;
  const NodeId first = f.pure(node.op, node.type, choice.yes, yes);
  return f.select(choice.condition, first, f.pure(node.op, node.type, choice.no, no));
}

bool has_constant_arm(const Choice& choice, const Rewriter& r) {
  return choice.condition != kNoNode &&
         (is_zero_or_ones(choice.yes, r) || is_zero_or_ones(choice.no, r));
}

// How code without blends chooses: x & mask | y & ~mask.
NodeId bitwise_with_choice(const Node& node, const Rewriter& r) {
  NodeId a = node.args[0], b = node.args[1];
  const Choice x = as_choice(a, r), y = as_choice(b, r);
  if (has_constant_arm(x, r) && has_constant_arm(y, r)) {
    if (x.condition == y.condition) return bitwise_arms(node, x, y.yes, y.no, r);
    if (r.factory.invert(x.condition) == y.condition) return bitwise_arms(node, x, y.no, y.yes, r);
  }
  if (node.op != TraceOp::kAnd) return kNoNode;
  if (is_mask(a, r)) std::swap(a, b);
  return is_mask(b, r) ? bitwise_arms(node, as_choice(b, r), a, a, r) : kNoNode;
}

// 0 or 1 made by setcc, combined: stays a choice of 0 and 1.
bool is_zero_or_one(NodeId id, const Rewriter& r) {
  if (!is_select(id, r)) return false;
  const Node node = r.at(id);
  return r.is_const(node.args[1], 1) && r.is_const(node.args[2], 0);
}

bool is_signless_choice(NodeId id, const Rewriter& r) {
  return is_zero_or_one(id, r) || is_mask(id, r);
}

NodeId bitwise_of_booleans(const Node& node, const Rewriter& r) {
  const NodeId a = node.args[0], b = node.args[1];
  if (!is_signless_choice(a, r) || !is_signless_choice(b, r)) return kNoNode;
  const Node x = r.at(a), y = r.at(b);
  const bool same_arms = x.args[1] == y.args[1] && x.args[2] == y.args[2];
  if (!same_arms || !r.is_const(x.args[2], 0)) return kNoNode;
  const NodeId condition = r.factory.pure(node.op, Type::kBool, x.args[0], y.args[0]);
  return r.factory.select(condition, x.args[1], x.args[2]);
}

NodeId simplify_bitwise(const Node& node, const Rewriter& r) {
  const NodeId a = node.args[0], b = node.args[1];
  if (a == b) return node.op == TraceOp::kXor ? r.constant(node.type, 0) : a;
  if (r.is_const(b)) return bitwise_with_constant(node, r.at(b).bits, r);
  if (const NodeId one = bitwise_of_booleans(node, r); one != kNoNode) return one;
  if (const NodeId one = bitwise_with_choice(node, r); one != kNoNode) return one;
  if (node.op != TraceOp::kOr) return kNoNode;
  if (const NodeId whole = rejoin_halves(a, b, r); whole != kNoNode) return whole;
  return rejoin_halves(b, a, r);
}

// (x << 32) >> k, how 32-bit indices are extended and scaled at once.
NodeId extend_by_shifts(const Node& node, const Node& inner, uint64_t count, const Rewriter& r) {
  if (inner.op != TraceOp::kShl || !r.is_const(inner.args[1])) return kNoNode;
  const uint64_t up = r.at(inner.args[1]).bits;
  const int kept = type_bits(node.type) - static_cast<int>(up);
  if ((kept != 8 && kept != 16 && kept != 32) || kept == type_bits(node.type)) return kNoNode;
  if (count > up) return kNoNode;
  NodeFactory& f = r.factory;
  const NodeId part = f.convert(inner.args[0], integer_of_bits(kept));
  const NodeId whole = f.convert(part, node.type, node.op == TraceOp::kSar);
  return f.pure(TraceOp::kShl, node.type, whole, r.constant(node.type, up - count));
}

NodeId simplify_shift(const Node& node, const Rewriter& r) {
  if (r.is_const(node.args[1], 0)) return node.args[0];
  if (r.is_const(node.args[0], 0)) return node.args[0];
  if (!r.is_const(node.args[1])) return kNoNode;
  const uint64_t count = r.at(node.args[1]).bits;
  const Node a = r.at(node.args[0]);
  if (node.op == TraceOp::kShr && r.high_bits_zero(node.args[0], static_cast<int>(count)))
    return r.constant(node.type, 0);
  if (a.kind != Kind::kPure) return kNoNode;
  NodeFactory& f = r.factory;
  if (a.op == node.op && r.is_const(a.args[1])) {
    const uint64_t total = r.at(a.args[1]).bits + count;
    if (total < static_cast<uint64_t>(type_bits(node.type)))
      return f.pure(node.op, node.type, a.args[0], r.constant(node.type, total));
  }
  if (node.op == TraceOp::kShl) return kNoNode;
  if (const NodeId one = extend_by_shifts(node, a, count, r); one != kNoNode) return one;
  const bool takes_upper_half =
      node.op == TraceOp::kShr && count == 32 && node.type == Type::kI64 && a.op == TraceOp::kOr;
  if (!takes_upper_half) return kNoNode;
  return f.pure(TraceOp::kOr, node.type, f.pure(TraceOp::kShr, node.type, a.args[0], node.args[1]),
                f.pure(TraceOp::kShr, node.type, a.args[1], node.args[1]));
}

// op(c ? k1 : k2, k3) is a choice of two other constants.
NodeId constants_through_choice(const Node& node, const Rewriter& r) {
  if (node.args[1] == kNoNode || !r.is_const(node.args[1]) || !is_select(node.args[0], r))
    return kNoNode;
  const Node choice = r.at(node.args[0]);
  if (!r.is_const(choice.args[1]) || !r.is_const(choice.args[2])) return kNoNode;
  NodeFactory& f = r.factory;
  return f.select(choice.args[0], f.pure(node.op, node.type, choice.args[1], node.args[1]),
                  f.pure(node.op, node.type, choice.args[2], node.args[1]));
}

}  // namespace

NodeId simplify_integer(const Node& node, const Rewriter& r) {
  const NodeId a = node.args[0], b = node.args[1];
  if (is_commutative(node.op)) {
    const bool out_of_order = r.is_const(a) ? !r.is_const(b) : !r.is_const(b) && a > b;
    if (out_of_order) return r.factory.pure(node.op, node.type, b, a);
  }
  const bool is_binary = is_commutative(node.op) || node.op == TraceOp::kSub ||
                         node.op == TraceOp::kShl || node.op == TraceOp::kShr ||
                         node.op == TraceOp::kSar;
  if (!is_binary) {
    const bool twice = node.op == TraceOp::kNeg && r.is_pure(a, TraceOp::kNeg);
    return twice ? r.at(a).args[0] : kNoNode;
  }
  if (const NodeId one = constants_through_choice(node, r); one != kNoNode) return one;
  if (is_bitwise(node.op)) return simplify_bitwise(node, r);
  switch (node.op) {
    case TraceOp::kAdd: return simplify_add(node, r);
    case TraceOp::kSub: return simplify_sub(node, r);
    case TraceOp::kMul: return simplify_mul(node, r);
    case TraceOp::kMin:
    case TraceOp::kMax: return a == b ? a : kNoNode;
    default: return simplify_shift(node, r);
  }
}

}  // namespace nrd::lift
