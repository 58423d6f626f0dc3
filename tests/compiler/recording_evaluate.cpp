// SPDX-License-Identifier: MIT
// tests/compiler/recording_evaluate.cpp: the meaning of nodes, written as plainly as possible.
#include <bit>
#include <cmath>

#include "integer_compare.h"
#include "recording_builder.h"

namespace nrd::lift {
namespace {

uint64_t mask_of(Type type) {
  const int bits = type_bits(type);
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

int64_t sign_extended(uint64_t bits, Type type) {
  const int shift = 64 - type_bits(type);
  return static_cast<int64_t>(bits << shift) >> shift;
}

template <class T>
T as(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}

template <class T>
uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

template <class T>
uint64_t float_op(TraceOp op, T a, T b, T c) {
  switch (op) {
    case TraceOp::kAdd: return bits_of(a + b);
    case TraceOp::kSub: return bits_of(a - b);
    case TraceOp::kMul: return bits_of(a * b);
    case TraceOp::kDiv: return bits_of(a / b);
    case TraceOp::kNeg: return bits_of(-a);
    case TraceOp::kFma: return bits_of(std::fma(a, b, c));
    case TraceOp::kSqrt: return bits_of(std::sqrt(a));
    case TraceOp::kFloor: return bits_of(std::floor(a));
    case TraceOp::kCeil: return bits_of(std::ceil(a));
    case TraceOp::kTrunc: return bits_of(std::trunc(a));
    case TraceOp::kRint: return bits_of(std::nearbyint(a));
    case TraceOp::kMaxFirst: return bits_of(a > b ? a : b);
    case TraceOp::kMinFirst: return bits_of(a < b ? a : b);
    default: throw Refused("evaluate: float operation");
  }
}

uint64_t integer_op(TraceOp op, uint64_t a, uint64_t b, Type type) {
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kNeg: return 0 - a;
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kShl: return a << b;
    case TraceOp::kShr: return a >> b;
    case TraceOp::kSar: return static_cast<uint64_t>(sign_extended(a, type) >> b);
    default: throw Refused("evaluate: integer operation");
  }
}

template <class T>
bool float_compare(Predicate p, T a, T b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (p) {
    case Predicate::kOeq: return a == b;
    case Predicate::kOne: return a < b || a > b;
    case Predicate::kOlt: return a < b;
    case Predicate::kOle: return a <= b;
    case Predicate::kOgt: return a > b;
    case Predicate::kOge: return a >= b;
    case Predicate::kOrd: return !unordered;
    case Predicate::kUeq: return unordered || a == b;
    case Predicate::kUne: return !(a == b);
    case Predicate::kUlt: return unordered || a < b;
    case Predicate::kUle: return unordered || a <= b;
    case Predicate::kUgt: return unordered || a > b;
    case Predicate::kUge: return unordered || a >= b;
    case Predicate::kUno: return unordered;
    default: throw Refused("evaluate: float predicate");
  }
}

bool integer_compare(Predicate p, uint64_t a, uint64_t b, Type type) {
  if (p < Predicate::kEq || p > Predicate::kAe) throw Refused("evaluate: integer predicate");
  return nrd::integer_compare(p, a, b, sign_extended(a, type), sign_extended(b, type));
}

double number(uint64_t bits, Type type) {
  return type == Type::kF32 ? static_cast<double>(as<float>(bits)) : as<double>(bits);
}

uint64_t to_float(TraceOp op, uint64_t bits, Type from) {
  const bool single = op == TraceOp::kToF32;
  if (from == Type::kF32 || from == Type::kF64)
    return single ? bits_of(static_cast<float>(number(bits, from))) : bits_of(number(bits, from));
  const int64_t value = sign_extended(bits, from);
  return single ? bits_of(static_cast<float>(value)) : bits_of(static_cast<double>(value));
}

uint64_t truncated(double value, Type to) {
  const double limit = to == Type::kI32 ? 0x1p31 : 0x1p63;
  const uint64_t out_of_range = to == Type::kI32 ? 0x80000000u : uint64_t{1} << 63;
  const double whole = std::trunc(value);
  if (!(whole >= -limit && whole < limit)) return out_of_range;
  return static_cast<uint64_t>(static_cast<int64_t>(whole));
}

class Evaluator {
 public:
  Evaluator(const RecordingBuilder& builder, const std::vector<Bits>& entry)
      : builder_(builder), entry_(entry) {}

  Bits value(NodeId id) const {
    const Node& node = builder_.node(id);
    if (node.kind == Kind::kArg) return entry_[node.index];
    if (node.kind == Kind::kConst) return {node.bits, node.high};
    if (node.kind == Kind::kLoad) return loaded(node);
    const uint64_t bits = node.kind == Kind::kPure ? pure(node) : special(node);
    return {bits & mask_of(node.type), 0};
  }

 private:
  uint64_t arg(const Node& node, size_t i) const {
    return node.args[i] == kNoNode ? 0 : value(node.args[i]).low & mask_of(arg_type(node, i));
  }
  Type arg_type(const Node& node, size_t i) const { return builder_.node(node.args[i]).type; }

  Bits loaded(const Node& node) const {
    Bits bits;
    std::memcpy(&bits, reinterpret_cast<const void*>(arg(node, 0)),
                static_cast<size_t>(type_bits(node.type)) / 8);
    return bits;
  }

  uint64_t special(const Node& node) const {
    const uint64_t a = arg(node, 0), b = arg(node, 1);
    const int64_t x = sign_extended(a, arg_type(node, 0));
    switch (node.kind) {
      case Kind::kTrunc:
      case Kind::kZext: return a;
      case Kind::kSext: return static_cast<uint64_t>(x);
      case Kind::kUMulHigh:
        return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
      case Kind::kSMulHigh:
        return static_cast<uint64_t>(static_cast<__int128>(x) * static_cast<int64_t>(b) >> 64);
      case Kind::kUDiv: return a / b;
      case Kind::kURem: return a % b;
      case Kind::kSDiv: return static_cast<uint64_t>(x / sign_extended(b, node.type));
      case Kind::kSRem: return static_cast<uint64_t>(x % sign_extended(b, node.type));
      case Kind::kU64ToF32: return bits_of(static_cast<float>(a));
      case Kind::kU64ToF64: return bits_of(static_cast<double>(a));
      default: throw Refused("evaluate: kind");
    }
  }

  uint64_t pure(const Node& node) const {
    const uint64_t a = arg(node, 0), b = arg(node, 1), c = arg(node, 2);
    const Type from = arg_type(node, 0);
    switch (node.op) {
      case TraceOp::kBitcast: return a;
      case TraceOp::kSelect: return a ? b : c;
      case TraceOp::kToF32:
      case TraceOp::kToF64: return to_float(node.op, a, from);
      case TraceOp::kToI32:
      case TraceOp::kToI64: return truncated(number(a, from), node.type);
      case TraceOp::kCmp:
        if (from == Type::kF32) return float_compare(node.predicate, as<float>(a), as<float>(b));
        if (from == Type::kF64) return float_compare(node.predicate, as<double>(a), as<double>(b));
        return integer_compare(node.predicate, a, b, from);
      default: break;
    }
    if (node.type == Type::kF32) return float_op(node.op, as<float>(a), as<float>(b), as<float>(c));
    if (node.type == Type::kF64)
      return float_op(node.op, as<double>(a), as<double>(b), as<double>(c));
    return integer_op(node.op, a, b, node.type);
  }

  const RecordingBuilder& builder_;
  const std::vector<Bits>& entry_;
};

}  // namespace

Bits evaluate(const RecordingBuilder& builder, NodeId id, const std::vector<Bits>& entry) {
  return Evaluator(builder, entry).value(id);
}

}  // namespace nrd::lift
