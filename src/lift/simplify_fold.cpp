// SPDX-License-Identifier: MIT
// src/lift/simplify_fold.cpp: operations on constants, computed as the machine does: rounded to
// nearest even. A result that is a NaN stays an operation, since machines differ in its bits.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

using Bits = std::optional<uint64_t>;

template <class F>
F to_float(uint64_t bits) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}

template <class F>
Bits from_float(F value) {
  if (std::isnan(value)) return std::nullopt;
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

template <class F>
Bits fold_float(TraceOp op, uint64_t x, uint64_t y) {
  const F a = to_float<F>(x), b = to_float<F>(y);
  constexpr uint64_t kSign = uint64_t{1} << (sizeof(F) * 8 - 1);
  switch (op) {
    case TraceOp::kAdd: return from_float<F>(a + b);
    case TraceOp::kSub: return from_float<F>(a - b);
    case TraceOp::kMul: return from_float<F>(a * b);
    case TraceOp::kDiv: return from_float<F>(a / b);
    case TraceOp::kSqrt: return from_float<F>(std::sqrt(a));
    case TraceOp::kNeg: return x ^ kSign;
    case TraceOp::kAbs: return x & ~kSign;
    case TraceOp::kCopySign: return (x & ~kSign) | (y & kSign);
    case TraceOp::kMaxFirst: return a > b ? x : y;
    case TraceOp::kMinFirst: return a < b ? x : y;
    default: return std::nullopt;
  }
}

Bits fold_shift(TraceOp op, Type type, uint64_t a, uint64_t count) {
  if (count >= static_cast<uint64_t>(type_bits(type))) return std::nullopt;
  if (op == TraceOp::kShl) return a << count;
  if (op == TraceOp::kShr) return a >> count;
  return static_cast<uint64_t>(sign_extended(a, type) >> count);
}

Bits fold_integer(TraceOp op, Type type, uint64_t a, uint64_t b) {
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kNeg: return 0 - a;
    case TraceOp::kAbs: return sign_extended(a, type) < 0 ? 0 - a : a;
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kShl:
    case TraceOp::kShr:
    case TraceOp::kSar: return fold_shift(op, type, a, b);
    case TraceOp::kMin: return sign_extended(a, type) < sign_extended(b, type) ? a : b;
    case TraceOp::kMax: return sign_extended(a, type) > sign_extended(b, type) ? a : b;
    default: return std::nullopt;
  }
}

template <class F>
unsigned float_outcome(uint64_t x, uint64_t y) {
  const F a = to_float<F>(x), b = to_float<F>(y);
  if (a < b) return kLess;
  if (a > b) return kGreater;
  return a == b ? kEqual : kUnordered;
}

unsigned integer_outcome(Predicate predicate, Type type, uint64_t a, uint64_t b) {
  if (a == b) return kEqual;
  const bool less = is_signed(predicate) ? sign_extended(a, type) < sign_extended(b, type) : a < b;
  return less ? kLess : kGreater;
}

Bits fold_compare(Predicate predicate, const Node& a, const Node& b) {
  unsigned outcome = 0;
  if (a.type == Type::kF32)
    outcome = float_outcome<float>(a.bits, b.bits);
  else if (a.type == Type::kF64)
    outcome = float_outcome<double>(a.bits, b.bits);
  else
    outcome = integer_outcome(predicate, a.type, a.bits, b.bits);
  return (outcomes(predicate) & outcome) != 0;
}

// Only values that every machine converts alike: in range.
template <class I>
Bits truncated(double value) {
  const double limit = -static_cast<double>(std::numeric_limits<I>::min());
  if (!(value > -limit && value < limit)) return std::nullopt;
  return static_cast<uint64_t>(static_cast<I>(value));
}

Bits fold_conversion(const Node& node, const Node& a) {
  const bool from_float_type = is_float(a.type);
  const double value = a.type == Type::kF32 ? to_float<float>(a.bits) : to_float<double>(a.bits);
  const int64_t integer = sign_extended(a.bits, a.type);
  switch (node.op) {
    case TraceOp::kToF32:
      return from_float_type ? from_float(static_cast<float>(value))
                             : from_float(static_cast<float>(integer));
    case TraceOp::kToF64:
      return from_float_type ? from_float(value) : from_float(static_cast<double>(integer));
    case TraceOp::kToI32:
      return from_float_type ? truncated<int32_t>(value) : static_cast<uint64_t>(integer);
    case TraceOp::kToI64:
      return from_float_type ? truncated<int64_t>(value) : static_cast<uint64_t>(integer);
    case TraceOp::kUToI64: return a.bits;
    default: return std::nullopt;
  }
}

bool is_conversion(TraceOp op) { return op >= TraceOp::kToF32 && op <= TraceOp::kUToI64; }

Bits fold_division(Kind kind, Type type, uint64_t a, uint64_t b) {
  if (b == 0) return std::nullopt;
  if (kind == Kind::kUDiv) return a / b;
  if (kind == Kind::kURem) return a % b;
  const int64_t x = sign_extended(a, type), y = sign_extended(b, type);
  if (y == -1) return std::nullopt;  // may trap
  return static_cast<uint64_t>(kind == Kind::kSDiv ? x / y : x % y);
}

Bits fold_pure(const Node& node, const Node& a, const Node& b) {
  if (node.op == TraceOp::kCmp) return fold_compare(node.predicate, a, b);
  if (is_conversion(node.op)) return fold_conversion(node, a);
  if (node.op == TraceOp::kNot) return a.bits ^ 1;
  if (node.type == Type::kF32) return fold_float<float>(node.op, a.bits, b.bits);
  if (node.type == Type::kF64) return fold_float<double>(node.op, a.bits, b.bits);
  if (node.type == Type::kBool || is_integer(node.type))
    return fold_integer(node.op, node.type, a.bits, b.bits);
  return std::nullopt;
}

Bits fold(const Node& node, const Node& a, const Node& b) {
  switch (node.kind) {
    case Kind::kPure: return fold_pure(node, a, b);
    case Kind::kTrunc:
    case Kind::kZext: return a.bits;
    case Kind::kSext: return static_cast<uint64_t>(sign_extended(a.bits, a.type));
    case Kind::kUDiv:
    case Kind::kURem:
    case Kind::kSDiv:
    case Kind::kSRem: return fold_division(node.kind, node.type, a.bits, b.bits);
    case Kind::kU64ToF32: return from_float(static_cast<float>(a.bits));
    case Kind::kU64ToF64: return from_float(static_cast<double>(a.bits));
    default: return std::nullopt;
  }
}

}  // namespace

NodeId fold_constants(const Node& node, const Rewriter& r) {
  if (node.args[0] == kNoNode || !r.is_const(node.args[0])) return kNoNode;
  if (node.args[2] != kNoNode || node.op == TraceOp::kBitcast) return kNoNode;
  if (node.args[1] != kNoNode && !r.is_const(node.args[1])) return kNoNode;
  const Node a = r.at(node.args[0]);
  if (a.type == Type::kV128) return kNoNode;
  const Node b = node.args[1] != kNoNode ? r.at(node.args[1]) : a;
  const Bits bits = fold(node, a, b);
  return bits ? r.constant(node.type, *bits) : kNoNode;
}

}  // namespace nrd::lift
