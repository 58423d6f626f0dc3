// SPDX-License-Identifier: MIT
// src/lift/x86_operand.cpp: how an instruction reads and writes its operands and the flags.
#include <fmt/format.h>

#include "lift/x86.h"

namespace nrd::lift {
namespace {

// fs:0x28 holds the stack protector's canary. It is some constant for the life of a thread; a
// made-up one lets the check at the function's end fold to "equal". No other thread-local data
// is read.
constexpr int64_t kCanaryOffset = 0x28;
constexpr uint64_t kCanary = 0x5ca1ab1e0ddba11ull;

Type integer_type(uint16_t bits) {
  switch (bits) {
    case 8: return Type::kI8;
    case 16: return Type::kI16;
    case 32: return Type::kI32;
    case 64: return Type::kI64;
    default: return Type::kNone;
  }
}

uint32_t bit(Cond cond) { return 1u << static_cast<int>(cond); }

uint32_t valid_conditions(X86Flags flags) {
  using enum Cond;
  const uint32_t carry = bit(kB) | bit(kAE);
  const uint32_t zero_sign = bit(kE) | bit(kNE) | bit(kS) | bit(kNS);
  const uint32_t parity = bit(kP) | bit(kNP);
  switch (flags) {
    case X86Flags::kInteger: return 0xffffu & ~parity;
    case X86Flags::kNoCarry: return 0xffffu & ~(parity | carry | bit(kBE) | bit(kA));
    case X86Flags::kZeroSign: return zero_sign;
    case X86Flags::kCarry: return carry;
    case X86Flags::kFloat: return carry | bit(kE) | bit(kNE) | bit(kBE) | bit(kA) | parity;
    default: return 0;
  }
}

bool is_fall_through(const X86Record& record) {
  return record.flow == Flow::kNext || record.flow == Flow::kBranch;
}

}  // namespace

void X86Translator::refuse(std::string_view what) {
  b_.refuse(fmt::format("{} ({}) at {:#x} is not lifted", what,
                        zydis().MnemonicGetString(in_.mnemonic), in_.address));
  __builtin_unreachable();  // GCC does not see the attribute of a virtual function
}

void X86Translator::refuse_vectorised() {
  b_.refuse(fmt::format("packed arithmetic ({}) at {:#x}: vectorised code is not lifted",
                        zydis().MnemonicGetString(in_.mnemonic), in_.address));
  __builtin_unreachable();  // GCC does not see the attribute of a virtual function
}

const X86Operand& X86Translator::operand(int i) {
  if (i < 0 || i >= in_.operand_count) refuse("an unexpected form of an instruction");
  return in_.operands[static_cast<size_t>(i)];
}

Type X86Translator::operand_type(int i) {
  const Type type = integer_type(operand(i).bits);
  if (type == Type::kNone) refuse("an operand of unusual width");
  return type;
}

NodeId X86Translator::constant(Type type, int64_t value) {
  const int bits = type_bits(type);
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return b_.constant(type, static_cast<uint64_t>(value) & mask);
}

NodeId X86Translator::address(const X86Operand& memory) {
  NodeId sum = kNoNode;
  const auto add = [&](NodeId term) {
    sum = sum == kNoNode ? term : b_.pure(TraceOp::kAdd, Type::kI64, sum, term);
  };
  if (memory.base != X86Operand::kNoRegister) add(b_.read_gpr(memory.base, Type::kI64));
  if (memory.index != X86Operand::kNoRegister) {
    const NodeId index = b_.read_gpr(memory.index, Type::kI64);
    const NodeId scale = constant(Type::kI64, memory.scale);
    add(memory.scale == 1 ? index : b_.pure(TraceOp::kMul, Type::kI64, index, scale));
  }
  if (memory.value != 0 || sum == kNoNode) add(constant(Type::kI64, memory.value));
  return in_.address32 ? b_.convert(b_.convert(sum, Type::kI32), Type::kI64) : sum;
}

NodeId X86Translator::read(int i) {
  const X86Operand& from = operand(i);
  switch (from.kind) {
    case X86Operand::Kind::kImmediate: return constant(operand_type(0), from.value);
    case X86Operand::Kind::kGpr: return b_.read_gpr(from.reg, operand_type(i), from.high_byte);
    case X86Operand::Kind::kMemory: break;
    default: refuse("an operand that is no integer");
  }
  if (!from.segment) return b_.load(operand_type(i), address(from));
  const bool plain = from.base == X86Operand::kNoRegister && from.index == X86Operand::kNoRegister;
  if (!plain || from.value != kCanaryOffset || from.bits != 64) refuse("thread-local data");
  return b_.constant(Type::kI64, kCanary);
}

void X86Translator::write(int i, NodeId value) {
  const X86Operand& to = operand(i);
  if (to.kind == X86Operand::Kind::kGpr) return b_.write_gpr(to.reg, value, to.high_byte);
  if (to.kind != X86Operand::Kind::kMemory) refuse("a result that is no integer");
  if (to.segment) refuse("thread-local data");
  if (in_.mask != X86Operand::kNoRegister) refuse("a masked store");
  b_.store(address(to), value);
}

NodeId X86Translator::mask_bit(uint32_t mask) {
  const NodeId bits = b_.read_gpr(kMaskBase + mask, Type::kI32);
  const NodeId bit = b_.pure(TraceOp::kAnd, Type::kI32, bits, constant(Type::kI32, 1));
  return b_.compare(Predicate::kNe, bit, constant(Type::kI32, 0));
}

// A masked load must not touch memory where the mask is 0: only constants are read.
NodeId X86Translator::read_lane(int i, Type type) {
  const X86Operand& from = operand(i);
  if (from.kind == X86Operand::Kind::kVector) return b_.read_vector(from.reg, type);
  if (from.bits > 128) refuse("a vector wider than 128 bits");
  if (from.kind != X86Operand::Kind::kMemory) refuse("an operand that is no vector register");
  if (from.segment) refuse("thread-local data");
  const bool absolute =
      from.base == X86Operand::kNoRegister && from.index == X86Operand::kNoRegister;
  if (in_.mask != X86Operand::kNoRegister && !absolute) refuse("a masked load");
  return b_.load(type, address(from));
}

void X86Translator::write_lane(NodeId value) {
  const X86Operand& to = operand(0);
  if (to.kind != X86Operand::Kind::kVector) refuse("a vector wider than 128 bits");
  if (in_.mask != X86Operand::kNoRegister) {
    const Type type = b_.node(value).type;
    if (type == Type::kV128) refuse_vectorised();
    const NodeId otherwise = in_.mask_zeroes ? constant(type, 0) : b_.read_vector(to.reg, type);
    value = b_.select(mask_bit(in_.mask), value, otherwise);
  }
  b_.write_vector(to.reg, value);
}

NodeId X86Translator::condition(Cond cond) {
  for (uint32_t i = current_; i > 0; i--) {
    const X86Record& writer = records_[i - 1];
    const bool precedes = writer.address + writer.length == records_[i].address;
    if (!precedes || !is_fall_through(writer)) break;
    if (writer.rule == nullptr || writer.rule->flags == X86Flags::kKept) continue;
    if (!(valid_conditions(writer.rule->flags) & bit(cond)))
      refuse("a condition on flags that are not modelled");
    break;
  }
  return b_.condition(cond);
}

NodeId X86Translator::stack_read() { return b_.read_gpr(kRsp, Type::kI64); }

void X86Translator::stack_write(NodeId address) { b_.write_gpr(kRsp, address); }

}  // namespace nrd::lift
