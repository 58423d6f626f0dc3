// SPDX-License-Identifier: MIT
// src/lift/a64_memory.cpp: loads and stores in all addressing modes.
#include "lift/a64.h"

namespace nrd::lift {
namespace {

Type integer_of_bytes(unsigned bytes) {
  switch (bytes) {
    case 1: return Type::kI8;
    case 2: return Type::kI16;
    case 4: return Type::kI32;
    default: return Type::kI64;
  }
}

bool is_pair(arm64_insn id) { return id == ARM64_INS_STP || id == ARM64_INS_STNP; }

}  // namespace

// [base, index, extend #n], [base, #n], [base, #n]!, [base], #n, and a label.
A64Translator::Address A64Translator::address(int memory) {
  const A64Operand& from = operand(memory);
  if (from.kind == A64Operand::Kind::kImmediate) {
    return {constant(Type::kI64, static_cast<uint64_t>(from.value)), kNoNode};
  }
  if (from.kind != A64Operand::Kind::kMemory || from.base == A64Operand::kNoRegister) {
    refuse("an address that is not understood");
  }
  const NodeId base = b_.read_gpr(from.base, Type::kI64);
  NodeId value = base;
  if (from.index != A64Operand::kNoRegister) {
    NodeId index = b_.read_gpr(from.index, from.bits == 64 ? Type::kI64 : Type::kI32);
    index = extended(index, from.extend, Type::kI64);
    index = shifted(index, ARM64_SFT_LSL, from.amount, Type::kI64);
    value = b_.pure(TraceOp::kAdd, Type::kI64, base, index);
  }
  const auto moved_by = [&](int64_t bytes) {
    if (bytes == 0) return value;
    const NodeId distance = constant(Type::kI64, static_cast<uint64_t>(bytes));
    return b_.pure(TraceOp::kAdd, Type::kI64, value, distance);
  };
  if (!in_.writeback) return {moved_by(from.value), kNoNode};
  if (in_.operand_count == memory + 2) {
    return {value, moved_by(operand(memory + 1).value), from.base};
  }
  const NodeId moved = moved_by(from.value);
  return {moved, moved, from.base};
}

void A64Translator::write_back(const Address& address) {
  if (address.written != kNoNode) b_.write_gpr(address.base, address.written);
}

unsigned A64Translator::access_bytes(const A64Operand& reg) {
  return (rule().bits != 0 ? rule().bits : reg.bits) / 8;
}

NodeId A64Translator::load_register(const A64Operand& reg, NodeId address) {
  const unsigned bytes = access_bytes(reg);
  if (reg.kind == A64Operand::Kind::kVector) {
    switch (bytes) {
      case 1:
      case 2: return b_.convert(b_.load(integer_of_bytes(bytes), address), Type::kI32);
      case 4: return b_.load(Type::kF32, address);
      case 8: return b_.load(Type::kF64, address);
      default: return b_.load(Type::kV128, address);
    }
  }
  const NodeId value = b_.load(integer_of_bytes(bytes), address);
  return b_.convert(value, reg.bits == 64 ? Type::kI64 : Type::kI32, rule().is_signed);
}

void A64Translator::write_register(int i, NodeId value) {
  if (operand(i).kind == A64Operand::Kind::kVector) {
    b_.write_vector(operand(i).reg, value);
  } else {
    write(i, value);
  }
}

void A64Translator::store_register(const A64Operand& reg, NodeId address) {
  if (reg.kind == A64Operand::Kind::kVector) return store_vector(reg.reg, reg.bits / 8, address);
  const unsigned bytes = access_bytes(reg);
  const NodeId value = read_gpr(reg, bytes == 8 ? Type::kI64 : Type::kI32);
  b_.store(address, b_.convert(value, integer_of_bytes(bytes)));
}

// On the stack a function saves d or q registers of which its caller may use a part only; elsewhere
// the width says what is stored. The lane may be an integer: fcvtzs s0, s0; str s0, [x1].
void A64Translator::store_vector(uint32_t reg, unsigned bytes, NodeId address) {
  const A64Operand& memory = in_.operands[is_pair(in_.id) ? 2 : 1];
  const bool on_stack = memory.base == kA64Sp || memory.base == kA64Frame;
  const Node& held = b_.node(b_.read_vector_as_is(reg));
  const Type held_type = held.type;
  const bool unknown = held_type == Type::kV128 && held.kind == Kind::kPhi;
  if (bytes == 16) {
    if (held_type != Type::kV128 && !on_stack) refuse("a store of several lanes");
    return b_.store(address, b_.read_vector(reg, Type::kV128));
  }
  const Type integer = integer_of_bytes(bytes);
  if (bytes < 4) return b_.store(address, b_.convert(b_.read_vector(reg, Type::kI32), integer));
  const bool is_narrower = held_type == Type::kF32 || held_type == Type::kI32;
  if (bytes == 8 && (is_narrower || (unknown && on_stack))) {
    return b_.store(address, double_bits_of(reg));
  }
  const Type floating = bytes == 4 ? Type::kF32 : Type::kF64;
  b_.store(address, b_.read_vector(reg, held_type == integer ? integer : floating));
}

void A64Translator::load() {
  const Address from = address(1);
  const NodeId value = load_register(operand(0), from.value);
  write_back(from);
  write_register(0, value);
}

void A64Translator::store() {
  const Address to = address(1);
  store_register(operand(0), to.value);
  write_back(to);
}

void A64Translator::load_pair() {
  const Address from = address(2);
  const unsigned bytes = access_bytes(operand(0));
  const NodeId second = b_.pure(TraceOp::kAdd, Type::kI64, from.value, constant(Type::kI64, bytes));
  const NodeId a = load_register(operand(0), from.value);
  const NodeId b = load_register(operand(1), second);
  write_back(from);
  write_register(0, a);
  write_register(1, b);
}

void A64Translator::store_pair() {
  const Address to = address(2);
  const unsigned bytes = access_bytes(operand(0));
  const NodeId second = b_.pure(TraceOp::kAdd, Type::kI64, to.value, constant(Type::kI64, bytes));
  store_register(operand(0), to.value);
  store_register(operand(1), second);
  write_back(to);
}

}  // namespace nrd::lift
