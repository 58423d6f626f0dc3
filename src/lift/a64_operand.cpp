// SPDX-License-Identifier: MIT
// src/lift/a64_operand.cpp: operands of an aarch64 instruction as nodes, and refusals.
#include <fmt/format.h>

#include <bit>

#include "lift/a64.h"

namespace nrd::lift {

void A64Translator::refuse(std::string_view what) {
  b_.refuse(fmt::format("{} ({}) at {:#x} is not lifted", what,
                        decoder_.text(in_.word, in_.address), in_.address));
  __builtin_unreachable();  // GCC does not see the attribute of a virtual function
}

void A64Translator::refuse_packed() {
  b_.refuse(fmt::format("packed arithmetic ({}) at {:#x}: vectorised code is not lifted",
                        decoder_.text(in_.word, in_.address), in_.address));
  __builtin_unreachable();  // GCC does not see the attribute of a virtual function
}

void A64Translator::translate() {
  rule_ = find_a64_rule(in_.id);
  if (rule_ != nullptr) {
    (this->*rule_->translate)();
    return;
  }
  for (int i = 0; i < in_.operand_count; i++) {
    if (in_.operands[i].packed()) refuse_packed();
  }
  refuse("this instruction");
}

const A64Operand& A64Translator::operand(int i) {
  if (i >= in_.operand_count) refuse("an operand that is not understood");
  return in_.operands[i];
}

Type A64Translator::integer_type(int i) {
  const A64Operand& reg = operand(i);
  if (reg.kind == A64Operand::Kind::kVector) refuse("an integer operation on a vector register");
  return reg.bits == 64 ? Type::kI64 : Type::kI32;
}

Type A64Translator::float_type(int i) {
  const A64Operand& reg = operand(i);
  if (reg.packed()) refuse_packed();
  const unsigned bits = reg.lane >= 0 ? reg.lane_bits : reg.bits;
  if (bits == 32) return Type::kF32;
  if (bits == 64) return Type::kF64;
  refuse("a half-precision operation");
}

NodeId A64Translator::constant(Type type, uint64_t value) {
  return b_.constant(type, type == Type::kI32 ? value & 0xffffffff : value);
}

NodeId A64Translator::float_constant(Type type, double value) {
  if (type == Type::kF64) return b_.constant(type, std::bit_cast<uint64_t>(value));
  return b_.constant(type, std::bit_cast<uint32_t>(static_cast<float>(value)));
}

NodeId A64Translator::read_gpr(const A64Operand& reg, Type type) {
  if (reg.kind == A64Operand::Kind::kZero) return constant(type, 0);
  if (reg.kind != A64Operand::Kind::kGpr) refuse("an operand that is not understood");
  return b_.read_gpr(reg.reg, type);
}

NodeId A64Translator::extended(NodeId value, arm64_extender extend, Type type) {
  const auto narrow_then_widen = [&](Type narrow, bool is_signed) {
    return b_.convert(b_.convert(value, narrow), type, is_signed);
  };
  switch (extend) {
    case ARM64_EXT_UXTB: return narrow_then_widen(Type::kI8, false);
    case ARM64_EXT_UXTH: return narrow_then_widen(Type::kI16, false);
    case ARM64_EXT_UXTW: return narrow_then_widen(Type::kI32, false);
    case ARM64_EXT_SXTB: return narrow_then_widen(Type::kI8, true);
    case ARM64_EXT_SXTH: return narrow_then_widen(Type::kI16, true);
    case ARM64_EXT_SXTW: return narrow_then_widen(Type::kI32, true);
    default: return b_.convert(value, type);
  }
}

NodeId A64Translator::rotated(NodeId value, unsigned amount, Type type) {
  if (amount == 0) return value;
  const NodeId low = b_.pure(TraceOp::kShr, type, value, constant(type, amount));
  const NodeId high = b_.pure(TraceOp::kShl, type, value, constant(type, type_bits(type) - amount));
  return b_.pure(TraceOp::kOr, type, low, high);
}

NodeId A64Translator::shifted(NodeId value, arm64_shifter shift, unsigned amount, Type type) {
  if (amount == 0) return value;
  const NodeId by = constant(type, amount);
  switch (shift) {
    case ARM64_SFT_LSL: return b_.pure(TraceOp::kShl, type, value, by);
    case ARM64_SFT_LSR: return b_.pure(TraceOp::kShr, type, value, by);
    case ARM64_SFT_ASR: return b_.pure(TraceOp::kSar, type, value, by);
    case ARM64_SFT_ROR: return rotated(value, amount, type);
    default: refuse("a shift that is not understood");
  }
}

NodeId A64Translator::read(int i, Type type) {
  const A64Operand& from = operand(i);
  if (from.kind == A64Operand::Kind::kImmediate) {
    return constant(type, static_cast<uint64_t>(from.value) << from.amount);
  }
  NodeId value = read_gpr(from, from.bits == 64 ? Type::kI64 : Type::kI32);
  value = extended(value, from.extend, type);
  return shifted(value, from.shift, from.amount, type);
}

void A64Translator::write(int i, NodeId value) {
  const A64Operand& to = operand(i);
  if (to.kind == A64Operand::Kind::kZero) return;
  if (to.kind != A64Operand::Kind::kGpr) refuse("a target that is not understood");
  b_.write_gpr(to.reg, value);
}

// The low 64 bits. Above a lane of 32 that was written alone the machine has cleared the rest.
// Where the register comes from several places it may hold either: then the two halves are put
// together, and whoever reads 32 of the bits back (a callee that saved the register) finds the
// number as it was.
NodeId A64Translator::double_bits_of(uint32_t vector) {
  const Node& held = b_.node(b_.read_vector_as_is(vector));
  const bool lone_32 = held.type == Type::kF32 || held.type == Type::kI32;
  const bool unknown = held.type == Type::kV128 && held.kind == Kind::kPhi;
  if (!lone_32 && !unknown) return b_.read_vector(vector, Type::kI64);
  const NodeId bits = b_.bitcast(b_.read_vector(vector, Type::kF32), Type::kI32);
  const NodeId low = b_.convert(bits, Type::kI64);
  if (lone_32) return low;
  const NodeId upper = b_.pure(TraceOp::kAnd, Type::kI64, b_.read_vector(vector, Type::kI64),
                               constant(Type::kI64, 0xffffffff00000000));
  return b_.pure(TraceOp::kOr, Type::kI64, low, upper);
}

NodeId A64Translator::lane_bits_of(const A64Operand& vector, unsigned bits) {
  const unsigned skipped = vector.lane > 0 ? vector.lane * bits : 0;
  if (skipped + bits > 64) refuse("a lane beyond the first 64 bits");
  const Type whole = skipped + bits > 32 ? Type::kI64 : Type::kI32;
  NodeId value =
      whole == Type::kI64 ? double_bits_of(vector.reg) : b_.read_vector(vector.reg, Type::kI32);
  if (skipped != 0) value = b_.pure(TraceOp::kShr, whole, value, constant(whole, skipped));
  return b_.convert(value, bits == 64 ? Type::kI64 : Type::kI32);
}

NodeId A64Translator::read_float(int i, Type type) {
  const A64Operand& from = operand(i);
  if (from.kind == A64Operand::Kind::kFloat) return float_constant(type, from.number);
  if (from.kind != A64Operand::Kind::kVector) refuse("an operand that is not understood");
  if (from.packed()) refuse_packed();
  if (from.lane > 0) return b_.bitcast(lane_bits_of(from, type_bits(type)), type);
  return b_.read_vector(from.reg, type);
}

void A64Translator::write_float(NodeId value) {
  const A64Operand& to = operand(0);
  if (to.kind != A64Operand::Kind::kVector || to.lane >= 0) refuse("a target not understood");
  if (to.packed()) refuse_packed();
  b_.write_vector(to.reg, value);
}

NodeId A64Translator::condition(arm64_cc condition) {
  check_carry(condition);
  switch (condition) {
    case ARM64_CC_EQ: return b_.condition(Cond::kE);
    case ARM64_CC_NE: return b_.condition(Cond::kNE);
    case ARM64_CC_HS: return b_.condition(Cond::kAE);
    case ARM64_CC_LO: return b_.condition(Cond::kB);
    case ARM64_CC_MI: return b_.condition(Cond::kS);
    case ARM64_CC_PL: return b_.condition(Cond::kNS);
    case ARM64_CC_VS: return b_.condition(Cond::kO);
    case ARM64_CC_VC: return b_.condition(Cond::kNO);
    case ARM64_CC_HI: return b_.condition(Cond::kA);
    case ARM64_CC_LS: return b_.condition(Cond::kBE);
    case ARM64_CC_GE: return b_.condition(Cond::kGE);
    case ARM64_CC_LT: return b_.condition(Cond::kL);
    case ARM64_CC_GT: return b_.condition(Cond::kG);
    case ARM64_CC_LE: return b_.condition(Cond::kLE);
    default: refuse("a condition that always holds");
  }
}

}  // namespace nrd::lift
