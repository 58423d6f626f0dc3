// SPDX-License-Identifier: MIT
// src/lift/x86_integer.cpp: integer instructions, the stack and conditional moves.
#include "lift/x86.h"

namespace nrd::lift {
namespace {

bool is_narrow(Type type) { return type == Type::kI8 || type == Type::kI16; }

bool is_constant(const Builder& builder, NodeId id, uint64_t bits) {
  const Node& node = builder.node(id);
  return node.kind == Kind::kConst && node.bits == bits;
}

}  // namespace

// OpTrace knows 32 and 64 bits: narrower arithmetic is done in 32 and cut.
NodeId X86Translator::integer(TraceOp op, NodeId a, NodeId b) {
  const Type type = b_.node(a).type;
  if (!is_narrow(type)) return b_.pure(op, type, a, b);
  const bool sign = op == TraceOp::kSar;
  const NodeId wide =
      b_.pure(op, Type::kI32, b_.convert(a, Type::kI32, sign), b_.convert(b, Type::kI32, sign));
  return b_.convert(wide, type);
}

void X86Translator::set_result_flags(NodeId result) {
  b_.set_flags(FlagsKind::kAnd, result, result);
}

void X86Translator::move() { write(0, read(1)); }

void X86Translator::extend_zero() { write(0, b_.convert(read(1), operand_type(0), false)); }

void X86Translator::extend_sign() { write(0, b_.convert(read(1), operand_type(0), true)); }

// cbw, cwde, cdqe: to rule.type from the width below.
void X86Translator::extend_accumulator() {
  const Type to = in_.rule->type;
  const Type from = to == Type::kI64 ? Type::kI32 : to == Type::kI32 ? Type::kI16 : Type::kI8;
  b_.write_gpr(kRax, b_.convert(b_.read_gpr(kRax, from), to, true));
}

// cdq, cqo
void X86Translator::sign_of_accumulator() {
  const Type type = in_.rule->type;
  const NodeId count = constant(type, type_bits(type) - 1);
  b_.write_gpr(kRdx, b_.pure(TraceOp::kSar, type, b_.read_gpr(kRax, type), count));
}

void X86Translator::load_address() {
  const X86Operand& memory = operand(1);
  if (memory.kind != X86Operand::Kind::kMemory) refuse("an unexpected form of an instruction");
  const NodeId value = address(memory);
  write(0, operand_type(0) == Type::kI64 ? value : b_.convert(value, operand_type(0)));
}

void X86Translator::add() {
  const NodeId a = read(0), b = read(1);
  const NodeId sum = integer(TraceOp::kAdd, a, b);
  b_.set_flags(FlagsKind::kAdd, a, b);
  write(0, sum);
}

void X86Translator::subtract() {
  const NodeId a = read(0), b = read(1);
  const NodeId difference = integer(TraceOp::kSub, a, b);
  b_.set_flags(FlagsKind::kCompare, a, b);
  write(0, difference);
}

void X86Translator::compare() { b_.set_flags(FlagsKind::kCompare, read(0), read(1)); }

void X86Translator::test() { b_.set_flags(FlagsKind::kAnd, read(0), read(1)); }

void X86Translator::logic() {
  const NodeId a = read(0), b = read(1);
  const NodeId result = integer(in_.rule->op, a, b);
  if (in_.rule->op == TraceOp::kAnd)
    b_.set_flags(FlagsKind::kAnd, a, b);
  else
    set_result_flags(result);
  write(0, result);
}

// andn: ~a & b
void X86Translator::and_not() {
  const NodeId a = read(1), b = read(2);
  const NodeId inverse = integer(TraceOp::kXor, a, constant(operand_type(0), -1));
  const NodeId result = integer(TraceOp::kAnd, inverse, b);
  set_result_flags(result);
  write(0, result);
}

void X86Translator::negate() {
  const NodeId a = read(0);
  const NodeId zero = constant(operand_type(0), 0);
  b_.set_flags(FlagsKind::kCompare, zero, a);
  write(0, integer(TraceOp::kSub, zero, a));
}

void X86Translator::complement() {
  write(0, integer(TraceOp::kXor, read(0), constant(operand_type(0), -1)));
}

void X86Translator::increment() {
  const NodeId a = read(0), one = constant(operand_type(0), 1);
  b_.set_flags(FlagsKind::kAdd, a, one);
  write(0, integer(TraceOp::kAdd, a, one));
}

void X86Translator::decrement() {
  const NodeId a = read(0), one = constant(operand_type(0), 1);
  b_.set_flags(FlagsKind::kCompare, a, one);
  write(0, integer(TraceOp::kSub, a, one));
}

NodeId X86Translator::carry(Type type) {
  return b_.select(condition(Cond::kB), constant(type, 1), constant(type, 0));
}

void X86Translator::add_carry() {
  const NodeId a = read(0), b = read(1);
  const NodeId sum = integer(TraceOp::kAdd, integer(TraceOp::kAdd, a, b), carry(operand_type(0)));
  b_.clobber_flags();
  write(0, sum);
}

// `sbb r, r` spreads the carry over a register.
void X86Translator::subtract_borrow() {
  const Type type = operand_type(0);
  const X86Operand &to = operand(0), &from = operand(1);
  const bool same = to.kind == X86Operand::Kind::kGpr && from.kind == X86Operand::Kind::kGpr &&
                    to.reg == from.reg && to.high_byte == from.high_byte;
  const NodeId difference =
      same ? b_.select(condition(Cond::kB), constant(type, -1), constant(type, 0))
           : integer(TraceOp::kSub, integer(TraceOp::kSub, read(0), read(1)), carry(type));
  b_.clobber_flags();
  write(0, difference);
}

void X86Translator::multiply() {
  if (in_.operand_count == 1) return widening_multiply(true);
  const bool three = in_.operand_count == 3;
  const NodeId product = integer(TraceOp::kMul, read(three ? 1 : 0), read(three ? 2 : 1));
  b_.clobber_flags();
  write(0, product);
}

void X86Translator::multiply_unsigned() { widening_multiply(false); }

// rdx:rax = rax * operand. Those of 16 bits nobody emits.
void X86Translator::widening_multiply(bool sign) {
  if (operand_type(0) == Type::kI64) {
    const NodeId x = b_.read_gpr(kRax, Type::kI64), y = read(0);
    const NodeId upper = b_.special(sign ? Kind::kSMulHigh : Kind::kUMulHigh, Type::kI64, x, y);
    const NodeId lower = b_.pure(TraceOp::kMul, Type::kI64, x, y);
    b_.clobber_flags();
    b_.write_gpr(kRax, lower);
    b_.write_gpr(kRdx, upper);
    return;
  }
  if (operand_type(0) == Type::kI8) {  // ax = al * operand
    const NodeId x = b_.convert(b_.read_gpr(kRax, Type::kI8), Type::kI16, sign);
    const NodeId y = b_.convert(read(0), Type::kI16, sign);
    const NodeId product = b_.pure(TraceOp::kMul, Type::kI16, x, y);
    b_.clobber_flags();
    return b_.write_gpr(kRax, product);
  }
  if (operand_type(0) != Type::kI32) refuse("a multiplication that keeps both halves");
  const NodeId a = b_.convert(b_.read_gpr(kRax, Type::kI32), Type::kI64, sign);
  const NodeId b = b_.convert(read(0), Type::kI64, sign);
  const NodeId product = b_.pure(TraceOp::kMul, Type::kI64, a, b);
  const NodeId high = b_.pure(TraceOp::kShr, Type::kI64, product, constant(Type::kI64, 32));
  b_.clobber_flags();
  b_.write_gpr(kRax, b_.convert(product, Type::kI32));
  b_.write_gpr(kRdx, b_.convert(high, Type::kI32));
}

void X86Translator::divide() { divide_as(true); }

void X86Translator::divide_unsigned() { divide_as(false); }

// The dividend has twice the width; it is an ordinary division where the upper half is only the
// extension of the lower one, as cdq, cqo and xor edx, edx make it.
void X86Translator::divide_as(bool sign) {
  const Type type = operand_type(0);
  if (is_narrow(type)) refuse("a division of 8 or 16 bits");
  const NodeId a = b_.read_gpr(kRax, type), upper = b_.read_gpr(kRdx, type), b = read(0);
  const NodeId extension =
      sign ? b_.pure(TraceOp::kSar, type, a, constant(type, type_bits(type) - 1)) : upper;
  if (sign ? extension != upper : !is_constant(b_, upper, 0))
    refuse("a division of a number of double width");
  const NodeId quotient = b_.special(sign ? Kind::kSDiv : Kind::kUDiv, type, a, b);
  const NodeId remainder = b_.special(sign ? Kind::kSRem : Kind::kURem, type, a, b);
  b_.clobber_flags();
  b_.write_gpr(kRax, quotient);
  b_.write_gpr(kRdx, remainder);
}

// Counts are taken modulo 32, or 64 for 64-bit operands.
NodeId X86Translator::shift_count(int i, Type type) {
  const int64_t mask = type == Type::kI64 ? 63 : 31;
  const X86Operand& from = operand(i);
  if (from.kind == X86Operand::Kind::kImmediate) return constant(type, from.value & mask);
  const NodeId count = b_.convert(read(i), type);
  return integer(TraceOp::kAnd, count, constant(type, mask));
}

void X86Translator::shift() {
  const NodeId count = shift_count(1, operand_type(0));
  const NodeId value = read(0);
  if (is_constant(b_, count, 0)) return write(0, value);  // the flags stay
  const NodeId result = integer(in_.rule->op, value, count);
  if (b_.node(count).kind == Kind::kConst)
    set_result_flags(result);
  else
    b_.clobber_flags();
  write(0, result);
}

// shlx, shrx, sarx
void X86Translator::shift_without_flags() {
  write(0, integer(in_.rule->op, read(1), shift_count(2, operand_type(0))));
}

// rol, ror by a constant, and rorx
void X86Translator::rotate() {
  const Type type = operand_type(0);
  const int count_at = in_.operand_count - 1;
  if (is_narrow(type) || operand(count_at).kind != X86Operand::Kind::kImmediate)
    refuse("a rotation");
  const int bits = type_bits(type);
  const bool left = in_.rule->op == TraceOp::kShl;
  const int64_t count = operand(count_at).value & (bits - 1);
  const NodeId value = read(count_at - 1);
  if (!in_.vex && count != 0) b_.clobber_flags();
  if (count == 0) return write(0, value);
  const NodeId up = constant(type, left ? count : bits - count);
  const NodeId down = constant(type, left ? bits - count : count);
  write(0, b_.pure(TraceOp::kOr, type, b_.pure(TraceOp::kShl, type, value, up),
                   b_.pure(TraceOp::kShr, type, value, down)));
}

// The carry becomes the bit: 0 < bit, unsigned.
void X86Translator::bit_test() {
  const Type type = operand_type(0);
  const bool by_register = operand(1).kind == X86Operand::Kind::kGpr;
  if (is_narrow(type) || (by_register && operand(0).kind == X86Operand::Kind::kMemory))
    refuse("a bit test in a bit string");
  const NodeId shifted = b_.pure(TraceOp::kShr, type, read(0), shift_count(1, type));
  const NodeId bit = b_.pure(TraceOp::kAnd, type, shifted, constant(type, 1));
  b_.set_flags(FlagsKind::kCompare, constant(type, 0), bit);
}

void X86Translator::set_byte() {
  write(0, b_.select(condition(in_.cond), constant(Type::kI8, 1), constant(Type::kI8, 0)));
}

void X86Translator::conditional_move() {
  const NodeId otherwise = read(0), value = read(1);
  write(0, b_.select(condition(in_.cond), value, otherwise));
}

void X86Translator::exchange() {
  if (operand(0).kind != X86Operand::Kind::kGpr || operand(1).kind != X86Operand::Kind::kGpr)
    refuse("an atomic operation");
  const NodeId a = read(0), b = read(1);
  write(0, b);
  write(1, a);
}

void X86Translator::push() {
  const X86Operand& from = operand(0);
  const bool immediate = from.kind == X86Operand::Kind::kImmediate;
  if (!immediate && operand_type(0) != Type::kI64) refuse("a push of 16 bits");
  const NodeId value = immediate ? constant(Type::kI64, from.value) : read(0);
  const NodeId top = b_.pure(TraceOp::kSub, Type::kI64, stack_read(), constant(Type::kI64, 8));
  stack_write(top);
  b_.store(top, value);
}

void X86Translator::pop() {
  if (operand(0).kind != X86Operand::Kind::kGpr || operand_type(0) != Type::kI64)
    refuse("a pop to memory");
  const NodeId top = stack_read();
  const NodeId value = b_.load(Type::kI64, top);
  stack_write(b_.pure(TraceOp::kAdd, Type::kI64, top, constant(Type::kI64, 8)));
  write(0, value);
}

void X86Translator::leave() {
  const NodeId frame = b_.read_gpr(kRbp, Type::kI64);
  b_.write_gpr(kRbp, b_.load(Type::kI64, frame));
  stack_write(b_.pure(TraceOp::kAdd, Type::kI64, frame, constant(Type::kI64, 8)));
}

// Pops the return address (call_pushes), and what the callee was asked to drop.
void X86Translator::return_() {
  const int64_t drop = in_.operand_count > 0 ? operand(0).value : 0;
  stack_write(b_.pure(TraceOp::kAdd, Type::kI64, stack_read(), constant(Type::kI64, 8 + drop)));
}

}  // namespace nrd::lift
