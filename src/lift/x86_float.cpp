// SPDX-License-Identifier: MIT
// src/lift/x86_float.cpp: scalar floating-point arithmetic, comparisons and conversions. They
// concern the lowest lane; what is above it is not modelled and cannot be read (x86_vector.cpp).
#include "lift/x86.h"

namespace nrd::lift {
namespace {

// Predicates of cmpss in the order of their number; 8 and up need VEX. Bit 4 only says whether a
// quiet NaN signals.
struct MaskPredicate {
  Predicate predicate;
  bool is_constant = false;  // FALSE and TRUE
};
constexpr MaskPredicate kMaskPredicates[16] = {
    {Predicate::kOeq}, {Predicate::kOlt}, {Predicate::kOle}, {Predicate::kUno},
    {Predicate::kUne}, {Predicate::kUge}, {Predicate::kUgt}, {Predicate::kOrd},
    {Predicate::kUeq}, {Predicate::kUlt}, {Predicate::kUle}, {Predicate::kOne, true},
    {Predicate::kOne}, {Predicate::kOge}, {Predicate::kOgt}, {Predicate::kUeq, true},
};

}  // namespace

void X86Translator::scalar_binary() {
  const Type type = in_.rule->type;
  const NodeId a = read_lane(source(), type), b = read_lane(source() + 1, type);
  write_lane(b_.pure(in_.rule->op, type, a, b));
}

void X86Translator::scalar_unary() {
  const Type type = in_.rule->type;
  write_lane(b_.pure(in_.rule->op, type, read_lane(source() + 1, type)));
}

void X86Translator::scalar_round() {
  static constexpr TraceOp kModes[4] = {TraceOp::kRint, TraceOp::kFloor, TraceOp::kCeil,
                                        TraceOp::kTrunc};
  const Type type = in_.rule->type;
  const int64_t mode = operand(source() + 2).value;
  if (mode & 0xf0) refuse("a rounding to a fraction");
  const bool current = mode & 4;  // the mode in MXCSR: nearest even, as everywhere else
  const NodeId a = read_lane(source() + 1, type);
  write_lane(b_.pure(current ? TraceOp::kRint : kModes[mode & 3], type, a));
}

// The result is all ones or zeros in a vector register, or a bit in a mask register.
void X86Translator::scalar_compare_mask() {
  const Type type = in_.rule->type, width = type == Type::kF32 ? Type::kI32 : Type::kI64;
  const int64_t number = operand(source() + 2).value & (in_.vex ? 15 : 7);
  const MaskPredicate& row = kMaskPredicates[number];
  const NodeId never = b_.constant(Type::kBool, 0), always = b_.constant(Type::kBool, 1);
  const NodeId met = !row.is_constant ? b_.compare(row.predicate, read_lane(source(), type),
                                                   read_lane(source() + 1, type))
                     : row.predicate == Predicate::kUeq ? always
                                                        : never;
  const X86Operand& to = operand(0);
  if (to.kind != X86Operand::Kind::kMask)
    return write_lane(b_.select(met, constant(width, -1), constant(width, 0)));
  const NodeId zero = constant(Type::kI32, 0);
  NodeId bit = b_.select(met, constant(Type::kI32, 1), zero);
  if (in_.mask != X86Operand::kNoRegister) bit = b_.select(mask_bit(in_.mask), bit, zero);
  b_.write_gpr(kMaskBase + to.reg, bit);
}

// cmpps: clang compares scalars so, in order to combine masks. Other lanes are not read later.
void X86Translator::low_compare_mask() {
  const bool in_registers = operand(0).kind == X86Operand::Kind::kVector &&
                            operand(source() + 1).kind == X86Operand::Kind::kVector;
  if (!in_registers) refuse_vectorised();
  scalar_compare_mask();
}

void X86Translator::scalar_compare_flags() {
  const Type type = in_.rule->type;
  b_.set_flags(FlagsKind::kFloatX86, read_lane(0, type), read_lane(1, type));
}

void X86Translator::fused() {
  // Which operands are multiplied, then which is added: 132, 213, 231 counted from 0.
  static constexpr size_t kOrder[3][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}};
  const Type type = in_.rule->type;
  const uint8_t variant = in_.rule->variant;
  const NodeId operands[3] = {read_lane(0, type), read_lane(1, type), read_lane(2, type)};
  const auto& order = kOrder[variant / kForm213];
  NodeId a = operands[order[0]], c = operands[order[2]];
  if (variant & kNegateProduct) a = b_.pure(TraceOp::kNeg, type, a);
  if (variant & kNegateAddend) c = b_.pure(TraceOp::kNeg, type, c);
  write_lane(b_.pure(TraceOp::kFma, type, a, operands[order[1]], c));
}

void X86Translator::integer_to_float() {
  const int from = source() + 1;
  const Type width = operand_type(from);
  if (width != Type::kI32 && width != Type::kI64) refuse("an operand of unusual width");
  write_lane(b_.pure(in_.rule->op, in_.rule->type, read(from)));
}

void X86Translator::unsigned_to_float() {
  const Type type = in_.rule->type;
  const NodeId value = read(2);
  if (operand_type(2) == Type::kI32)
    return write_lane(b_.pure(in_.rule->op, type, b_.convert(value, Type::kI64)));
  write_lane(b_.special(type == Type::kF32 ? Kind::kU64ToF32 : Kind::kU64ToF64, type, value));
}

void X86Translator::float_to_integer() {
  const Type to = operand_type(0);
  const TraceOp op = to == Type::kI64 ? TraceOp::kToI64 : TraceOp::kToI32;
  write(0, b_.pure(op, to, read_lane(1, in_.rule->type)));
}

void X86Translator::float_to_integer_rounded() {
  const Type to = operand_type(0), from = in_.rule->type;
  const TraceOp op = to == Type::kI64 ? TraceOp::kToI64 : TraceOp::kToI32;
  write(0, b_.pure(op, to, b_.pure(TraceOp::kRint, from, read_lane(1, from))));
}

// cvtss2sd, cvtsd2ss.
void X86Translator::convert_float() {
  const bool widens = in_.rule->op == TraceOp::kToF64;
  const NodeId a = read_lane(in_.operand_count - 1, in_.rule->type);
  write_lane(b_.pure(in_.rule->op, widens ? Type::kF64 : Type::kF32, a));
}

// cvtps2pd, cvtpd2ps: scalar code uses them between registers, after clearing or doubling the
// lane; from memory they convert two numbers.
void X86Translator::convert_low_lane() {
  if (operand(1).kind != X86Operand::Kind::kVector) refuse_vectorised();
  convert_float();
}

}  // namespace nrd::lift
