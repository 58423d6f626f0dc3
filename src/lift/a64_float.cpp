// SPDX-License-Identifier: MIT
// src/lift/a64_float.cpp: scalar floating point: arithmetic, rounding, conversions.
#include <cmath>

#include "lift/a64.h"

namespace nrd::lift {

void A64Translator::float_binary() {
  const Type type = float_type(0);
  write_float(b_.pure(rule().op, type, read_float(1, type), read_float(2, type)));
}

void A64Translator::float_multiply_negated() {
  const Type type = float_type(0);
  const NodeId product = b_.pure(TraceOp::kMul, type, read_float(1, type), read_float(2, type));
  write_float(b_.pure(TraceOp::kNeg, type, product));
}

void A64Translator::float_unary() {
  const Type type = float_type(0);
  write_float(b_.pure(rule().op, type, read_float(1, type)));
}

void A64Translator::float_negate() {
  if (operand(0).packed()) return vector_negate_constant();
  float_unary();
}

// fmax and fmin return NaN if either is one and order -0 below +0, where kMaxNan and kMinNan
// return the second of equals. Equals that differ in bits are zeros: their sign bits decide.
NodeId A64Translator::negative_zero_aware(TraceOp op, Type type, NodeId a, NodeId b) {
  const NodeId plain = b_.pure(op, type, a, b);
  const auto is_nonzero = [&](NodeId value) {
    const Node& node = b_.node(value);
    return node.kind == Kind::kConst && (node.bits << (64 - type_bits(type) + 1)) != 0;
  };
  if (is_nonzero(a) || is_nonzero(b)) return plain;
  const Type bits = type == Type::kF32 ? Type::kI32 : Type::kI64;
  const TraceOp signs = op == TraceOp::kMaxNan ? TraceOp::kAnd : TraceOp::kOr;
  const NodeId merged = b_.pure(signs, bits, b_.bitcast(a, bits), b_.bitcast(b, bits));
  return b_.select(b_.compare(Predicate::kOeq, a, b), b_.bitcast(merged, type), plain);
}

void A64Translator::float_extremum() {
  const Type type = float_type(0);
  const NodeId a = read_float(1, type);
  const NodeId b = read_float(2, type);
  write_float(negative_zero_aware(rule().op, type, a, b));
}

void A64Translator::float_difference() {
  const Type type = float_type(0);
  const NodeId difference = b_.pure(TraceOp::kSub, type, read_float(1, type), read_float(2, type));
  write_float(b_.pure(TraceOp::kAbs, type, difference));
}

// The machine negates operands, not the result, so nothing is rounded twice.
void A64Translator::fuse(bool negate_product, bool negate_addend) {
  const Type type = float_type(0);
  NodeId a = read_float(1, type);
  const NodeId b = read_float(2, type);
  NodeId addend = read_float(3, type);
  if (negate_product) a = b_.pure(TraceOp::kNeg, type, a);
  if (negate_addend) addend = b_.pure(TraceOp::kNeg, type, addend);
  write_float(b_.pure(TraceOp::kFma, type, a, b, addend));
}

void A64Translator::fused() { fuse(false, false); }
void A64Translator::fused_negated_product() { fuse(true, false); }
void A64Translator::fused_negated() { fuse(true, true); }
void A64Translator::fused_negated_addend() { fuse(false, true); }

void A64Translator::float_move() {
  const A64Operand& to = operand(0);
  const A64Operand& from = operand(1);
  if (to.packed()) return lane_immediate();
  if (to.kind == A64Operand::Kind::kVector &&
      (from.kind == A64Operand::Kind::kVector || from.kind == A64Operand::Kind::kFloat)) {
    return write_float(read_float(1, float_type(0)));
  }
  if (to.kind == A64Operand::Kind::kVector) {
    const Type type = float_type(0);
    const Type bits = type == Type::kF32 ? Type::kI32 : Type::kI64;
    return write_float(b_.bitcast(read_gpr(from, bits), type));
  }
  write(0, lane_bits_of(from, to.bits));
}

void A64Translator::convert_float() {
  const Type to = float_type(0);
  const Type from = float_type(1);
  const TraceOp op = to == Type::kF32 ? TraceOp::kToF32 : TraceOp::kToF64;
  write_float(b_.pure(op, to, read_float(1, from)));
}

// From a general register, or from the integer that a vector register holds (scvtf s0, s0). A
// third operand n divides by 2^n, which is exact.
void A64Translator::integer_to_float() {
  const Type to = float_type(0);
  const A64Operand& from = operand(1);
  if (from.packed()) refuse_packed();
  const Type width = from.bits == 64 ? Type::kI64 : Type::kI32;
  const NodeId integer = from.kind == A64Operand::Kind::kVector ? lane_bits_of(from, from.bits)
                                                                : read_gpr(from, width);
  const TraceOp op = to == Type::kF32 ? TraceOp::kToF32 : TraceOp::kToF64;
  NodeId value = kNoNode;
  if (rule().is_signed) {
    value = b_.pure(op, to, integer);
  } else if (width == Type::kI32) {
    value = b_.pure(op, to, b_.convert(integer, Type::kI64));
  } else {
    value = b_.special(to == Type::kF32 ? Kind::kU64ToF32 : Kind::kU64ToF64, to, integer);
  }
  if (in_.operand_count == 3) {
    const double scale = std::ldexp(1.0, -static_cast<int>(operand(2).value));
    value = b_.pure(TraceOp::kMul, to, value, float_constant(to, scale));
  }
  write_float(value);
}

// Out of range the machine saturates, and NaN becomes 0; kToI32 and kToI64 give the smallest
// integer in both cases. A C program that gets there has no meaning, but the lifted function must
// still be what it was.
NodeId A64Translator::saturated(NodeId value, Type from, Type to) {
  const int bits = type_bits(to);
  const TraceOp op = to == Type::kI64 ? TraceOp::kToI64 : TraceOp::kToI32;
  const NodeId top = float_constant(from, std::ldexp(1.0, bits - 1));
  const NodeId largest = constant(to, (uint64_t{1} << (bits - 1)) - 1);
  const NodeId number =
      b_.select(b_.compare(Predicate::kOge, value, top), largest, b_.pure(op, to, value));
  return b_.select(b_.compare(Predicate::kUno, value, value), constant(to, 0), number);
}

NodeId A64Translator::saturated_unsigned(NodeId value, Type from, Type to) {
  const unsigned bits = type_bits(to);
  const NodeId top = float_constant(from, std::ldexp(1.0, static_cast<int>(bits)));
  NodeId integer = b_.pure(TraceOp::kToI64, Type::kI64, value);
  if (to == Type::kI64) {
    const NodeId middle = float_constant(from, std::ldexp(1.0, 63));
    const NodeId above =
        b_.pure(TraceOp::kToI64, Type::kI64, b_.pure(TraceOp::kSub, from, value, middle));
    const NodeId upper =
        b_.pure(TraceOp::kXor, Type::kI64, above, constant(Type::kI64, uint64_t{1} << 63));
    integer = b_.select(b_.compare(Predicate::kOge, value, middle), upper, integer);
  }
  integer = b_.select(b_.compare(Predicate::kOge, value, top), constant(to, ~uint64_t{0}),
                      b_.convert(integer, to));
  const NodeId positive = b_.compare(Predicate::kOgt, value, float_constant(from, 0.0));
  return b_.select(positive, integer, constant(to, 0));
}

// The rule's operation rounds first (fcvtms: down); a third operand n multiplies by 2^n.
void A64Translator::float_to_integer() {
  const Type from = float_type(1);
  const A64Operand& target = operand(0);
  if (target.packed()) refuse_packed();
  const Type to = target.bits == 64 ? Type::kI64 : Type::kI32;
  NodeId value = read_float(1, from);
  if (in_.operand_count == 3) {
    const double scale = std::ldexp(1.0, static_cast<int>(operand(2).value));
    value = b_.pure(TraceOp::kMul, from, value, float_constant(from, scale));
  }
  if (rule().op != TraceOp::kConst) value = b_.pure(rule().op, from, value);
  const NodeId integer =
      rule().is_signed ? saturated(value, from, to) : saturated_unsigned(value, from, to);
  if (target.kind == A64Operand::Kind::kVector) {
    b_.write_vector(target.reg, integer);
  } else {
    write(0, integer);
  }
}

}  // namespace nrd::lift
