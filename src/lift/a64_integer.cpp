// SPDX-License-Identifier: MIT
// src/lift/a64_integer.cpp: moves, sums, logic, products of general registers.
#include "lift/a64.h"

namespace nrd::lift {

void A64Translator::move() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_move();
  if (operand(1).kind == A64Operand::Kind::kVector) return lane_to_gpr();
  write(0, read(1, integer_type(0)));
}

void A64Translator::move_wide() { write(0, read(1, integer_type(0))); }

void A64Translator::move_wide_inverted() {
  const Type type = integer_type(0);
  const A64Operand& from = operand(1);
  write(0, constant(type, ~(static_cast<uint64_t>(from.value) << from.amount)));
}

void A64Translator::move_keep() {
  const Type type = integer_type(0);
  const A64Operand& from = operand(1);
  const uint64_t hole = ~(uint64_t{0xffff} << from.amount);
  const NodeId kept =
      b_.pure(TraceOp::kAnd, type, read_gpr(operand(0), type), constant(type, hole));
  write(0, b_.pure(TraceOp::kOr, type, kept, read(1, type)));
}

void A64Translator::load_address() {
  write(0, constant(Type::kI64, static_cast<uint64_t>(operand(1).value)));
}

// Adding c is subtracting -c, carry and overflow included, but for c = 0 (which never carries,
// but never borrows either). So flags of a constant sum are those of a compare, which everyone
// understands.
void A64Translator::add_flags(NodeId a, int addend) {
  const Type type = integer_type(0);
  const A64Operand& from = operand(addend);
  if (from.kind == A64Operand::Kind::kImmediate && from.value != 0) {
    const uint64_t value = static_cast<uint64_t>(from.value) << from.amount;
    b_.set_flags(FlagsKind::kCompare, a, constant(type, -value));
  } else {
    b_.set_flags(FlagsKind::kAdd, a, read(addend, type));
  }
}

void A64Translator::add() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_arithmetic(TraceOp::kAdd);
  const Type type = integer_type(0);
  const NodeId a = read(1, type);
  const NodeId b = read(2, type);
  if (in_.sets_flags) add_flags(a, 2);
  write(0, b_.pure(TraceOp::kAdd, type, a, b));
}

void A64Translator::subtract() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_arithmetic(TraceOp::kSub);
  const Type type = integer_type(0);
  const NodeId a = read(1, type);
  const NodeId b = read(2, type);
  if (in_.sets_flags) b_.set_flags(FlagsKind::kCompare, a, b);
  write(0, b_.pure(TraceOp::kSub, type, a, b));
}

void A64Translator::negate() {
  if (operand(0).kind == A64Operand::Kind::kVector) refuse("an integer negation in a vector");
  const Type type = integer_type(0);
  const NodeId value = read(1, type);
  if (in_.sets_flags) b_.set_flags(FlagsKind::kCompare, constant(type, 0), value);
  write(0, b_.pure(TraceOp::kNeg, type, value));
}

void A64Translator::compare() {
  const Type type = integer_type(0);
  b_.set_flags(FlagsKind::kCompare, read(0, type), read(1, type));
}

void A64Translator::compare_negative() {
  const Type type = integer_type(0);
  add_flags(read(0, type), 1);
}

void A64Translator::logic() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_logic(rule().op, false);
  const Type type = integer_type(0);
  const NodeId a = read(1, type);
  const NodeId b = read(2, type);
  if (in_.sets_flags) b_.set_flags(FlagsKind::kAnd, a, b);
  write(0, b_.pure(rule().op, type, a, b));
}

NodeId A64Translator::inverted(NodeId value, Type type) {
  return b_.pure(TraceOp::kXor, type, value, constant(type, ~uint64_t{0}));
}

void A64Translator::logic_inverted() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_logic(rule().op, true);
  const Type type = integer_type(0);
  const NodeId a = read(1, type);
  const NodeId b = inverted(read(2, type), type);
  if (in_.sets_flags) b_.set_flags(FlagsKind::kAnd, a, b);
  write(0, b_.pure(rule().op, type, a, b));
}

void A64Translator::complement() {
  if (operand(0).kind == A64Operand::Kind::kVector) return vector_complement();
  const Type type = integer_type(0);
  write(0, inverted(read(1, type), type));
}

void A64Translator::test() {
  const Type type = integer_type(0);
  b_.set_flags(FlagsKind::kAnd, read(0, type), read(1, type));
}

void A64Translator::multiply() {
  const Type type = integer_type(0);
  write(0, b_.pure(TraceOp::kMul, type, read(1, type), read(2, type)));
}

void A64Translator::multiply_negated() {
  const Type type = integer_type(0);
  const NodeId product = b_.pure(TraceOp::kMul, type, read(1, type), read(2, type));
  write(0, b_.pure(TraceOp::kNeg, type, product));
}

void A64Translator::multiply_add() {
  const Type type = integer_type(0);
  const NodeId product = b_.pure(TraceOp::kMul, type, read(1, type), read(2, type));
  write(0, b_.pure(rule().op, type, read(3, type), product));
}

NodeId A64Translator::long_product() {
  const NodeId a = b_.convert(read(1, Type::kI32), Type::kI64, rule().is_signed);
  const NodeId b = b_.convert(read(2, Type::kI32), Type::kI64, rule().is_signed);
  return b_.pure(TraceOp::kMul, Type::kI64, a, b);
}

void A64Translator::multiply_long() {
  if (operand(0).kind == A64Operand::Kind::kVector) refuse_packed();
  write(0, long_product());
}

void A64Translator::multiply_long_add() {
  write(0, b_.pure(rule().op, Type::kI64, read(3, Type::kI64), long_product()));
}

void A64Translator::multiply_long_negated() {
  write(0, b_.pure(TraceOp::kNeg, Type::kI64, long_product()));
}

void A64Translator::multiply_high() {
  const Kind kind = rule().is_signed ? Kind::kSMulHigh : Kind::kUMulHigh;
  write(0, b_.special(kind, Type::kI64, read(1, Type::kI64), read(2, Type::kI64)));
}

void A64Translator::divide() {
  const Type type = integer_type(0);
  const Kind kind = rule().is_signed ? Kind::kSDiv : Kind::kUDiv;
  write(0, b_.special(kind, type, read(1, type), read(2, type)));
}

}  // namespace nrd::lift
