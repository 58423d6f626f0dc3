// SPDX-License-Identifier: MIT
// src/lift/a64_vector.cpp: what compilers do with whole vector registers in scalar code:
// constants, copies, sign masks, a lane in or out. A register that was written as s or d holds
// one lone lane (the machine clears the rest), so an operation on all lanes is one on that lane.
#include <bit>

#include "lift/a64.h"

namespace nrd::lift {
namespace {

uint64_t replicated(uint64_t lane, unsigned bits) {
  if (bits < 64) lane &= (uint64_t{1} << bits) - 1;
  for (; bits < 64; bits *= 2) lane |= lane << bits;
  return lane;
}

Type float_of(Type lane) { return lane == Type::kI32 ? Type::kF32 : Type::kF64; }

// Sign bits, or all but the sign bits, of numbers of which width?
Type lane_of_mask(uint64_t bits) {
  constexpr uint64_t kSigns32 = 0x8000000080000000, kSign64 = uint64_t{1} << 63;
  if (bits == kSigns32 || bits == ~kSigns32) return Type::kI32;
  return bits == kSign64 || bits == ~kSign64 ? Type::kI64 : Type::kNone;
}

bool is_64(Type type) { return type == Type::kI64 || type == Type::kF64; }
bool is_32(Type type) { return type == Type::kI32 || type == Type::kF32; }

}  // namespace

void A64Translator::write_lane_constant(uint64_t lane) {
  const A64Operand& to = operand(0);
  const uint64_t low = to.lane_bits == 0 ? lane : replicated(lane, to.lane_bits);
  b_.write_vector(to.reg, b_.constant(Type::kV128, low, to.bits == 128 ? low : 0));
}

uint64_t A64Translator::immediate_lane() {
  const A64Operand& from = operand(1);
  if (from.kind == A64Operand::Kind::kFloat) {
    if (operand(0).lane_bits == 64) return std::bit_cast<uint64_t>(from.number);
    return std::bit_cast<uint32_t>(static_cast<float>(from.number));
  }
  if (from.kind != A64Operand::Kind::kImmediate) refuse_packed();
  const uint64_t value = static_cast<uint64_t>(from.value) << from.amount;
  const bool ones_shifted_in = from.shift == ARM64_SFT_MSL;
  return ones_shifted_in ? value | ((uint64_t{1} << from.amount) - 1) : value;
}

void A64Translator::lane_immediate() { write_lane_constant(immediate_lane()); }
void A64Translator::lane_immediate_inverted() { write_lane_constant(~immediate_lane()); }

void A64Translator::vector_move() {
  const A64Operand& to = operand(0);
  const A64Operand& from = operand(1);
  if (from.kind != A64Operand::Kind::kVector) refuse("a move that is not understood");
  if (from.lane >= 0) {  // mov s0, v1.s[0]
    const Type type = float_type(1);
    return b_.write_vector(to.reg, read_float(1, type));
  }
  const NodeId held = b_.read_vector_as_is(from.reg);
  const bool cut = from.bits == 64 && b_.node(held).type == Type::kV128;
  b_.write_vector(to.reg, cut ? b_.read_vector(from.reg, Type::kI64) : held);
}

// A register as it was last written: a lone lane with a type, or 128 bits, which are a constant or
// what comes from several places (a value that lives through a loop).
A64Translator::Whole A64Translator::read_whole(const A64Operand& vector) {
  return {b_.read_vector_as_is(vector.reg), vector.reg};
}

// The width of the lane that logic works on: that of the operands with a type; without any, a
// constant mask of signs tells.
Type A64Translator::common_lane(std::span<const Whole> operands) {
  Type common = Type::kNone;
  Type by_mask = Type::kNone;
  bool all_constant = true;
  for (const Whole& whole : operands) {
    const Node& node = b_.node(whole.node);
    const bool is_constant = node.kind == Kind::kConst;
    all_constant = all_constant && is_constant;
    if (node.type == Type::kV128) {
      if (is_constant) by_mask = lane_of_mask(node.bits);
      continue;
    }
    const Type lane = is_32(node.type) ? Type::kI32 : is_64(node.type) ? Type::kI64 : Type::kNone;
    if (lane == Type::kNone || (common != Type::kNone && common != lane)) refuse_packed();
    common = lane;
  }
  if (common != Type::kNone) return common;
  if (all_constant) return Type::kI64;
  if (by_mask == Type::kNone) refuse_packed();
  return by_mask;
}

NodeId A64Translator::lane_of(const Whole& whole, Type type) {
  const Node& node = b_.node(whole.node);
  if (node.type != Type::kV128) return b_.bitcast(whole.node, type);
  if (node.kind == Kind::kConst) return constant(type, node.bits);
  return b_.read_vector(whole.reg, type);
}

void A64Translator::vector_logic(TraceOp op, bool invert) {
  const bool immediate = operand(1).kind == A64Operand::Kind::kImmediate;  // orr v0.2s, #n
  const Whole a = read_whole(operand(immediate ? 0 : 1));
  Whole b;
  if (immediate) {
    b.node = b_.constant(Type::kV128, replicated(immediate_lane(), operand(0).lane_bits));
  } else {
    b = read_whole(operand(2));
  }
  const Type lane = common_lane(std::array{a, b});
  const NodeId second = invert ? inverted(lane_of(b, lane), lane) : lane_of(b, lane);
  const NodeId result = b_.pure(op, lane, lane_of(a, lane), second);
  b_.write_vector(operand(0).reg, b_.bitcast(result, float_of(lane)));
}

void A64Translator::vector_complement() {
  const Whole from = read_whole(operand(1));
  const Type lane = common_lane(std::array{from});
  b_.write_vector(operand(0).reg, inverted(lane_of(from, lane), lane));
}

// bsl, bit and bif take each bit from one of two; by the sign bit, that is copysign.
void A64Translator::choose(const A64Operand& mask, const A64Operand& yes, const A64Operand& no) {
  const std::array wholes = {read_whole(mask), read_whole(yes), read_whole(no)};
  const Type lane = common_lane(wholes);
  const NodeId by = lane_of(wholes[0], lane);
  const NodeId a = lane_of(wholes[1], lane);
  const NodeId b = lane_of(wholes[2], lane);
  const uint64_t sign = uint64_t{1} << (type_bits(lane) - 1);
  const Node& bits = b_.node(by);
  const auto copy_sign = [&](NodeId magnitude, NodeId signed_by) {
    return b_.pure(TraceOp::kCopySign, float_of(lane), b_.bitcast(magnitude, float_of(lane)),
                   b_.bitcast(signed_by, float_of(lane)));
  };
  NodeId result = kNoNode;
  if (bits.kind == Kind::kConst && bits.bits == sign) {
    result = copy_sign(b, a);
  } else if (bits.kind == Kind::kConst && bits.bits == sign - 1) {
    result = copy_sign(a, b);
  } else {
    const NodeId chosen = b_.pure(TraceOp::kAnd, lane, a, by);
    const NodeId kept = b_.pure(TraceOp::kAnd, lane, b, inverted(by, lane));
    result = b_.bitcast(b_.pure(TraceOp::kOr, lane, chosen, kept), float_of(lane));
  }
  b_.write_vector(operand(0).reg, result);
}

void A64Translator::choose_by_mask_in_target() { choose(operand(0), operand(1), operand(2)); }
void A64Translator::choose_inserted() { choose(operand(2), operand(1), operand(0)); }
void A64Translator::choose_kept() { choose(operand(2), operand(0), operand(1)); }

// fneg v0.2d of all ones is how compilers build the mask of all but the sign.
void A64Translator::vector_negate_constant() {
  const A64Operand& from = operand(1);
  const NodeId held = b_.read_vector_as_is(from.reg);
  const Node& node = b_.node(held);
  if (node.kind != Kind::kConst || node.type != Type::kV128) refuse_packed();
  const uint64_t signs = replicated(uint64_t{1} << (from.lane_bits - 1), from.lane_bits);
  const bool half = from.bits == 64;
  b_.write_vector(operand(0).reg,
                  b_.constant(Type::kV128, node.bits ^ signs, half ? 0 : node.high ^ signs));
}

void A64Translator::lane_to_gpr() {
  const A64Operand& from = operand(1);
  if (from.lane < 0) refuse("a move that is not understood");
  const Type to = integer_type(0);
  const NodeId bits = lane_bits_of(from, from.lane_bits);
  if (from.lane_bits >= 32) return write(0, b_.convert(bits, to, rule().is_signed));
  const Type narrow = from.lane_bits == 8 ? Type::kI8 : Type::kI16;
  write(0, b_.convert(b_.convert(bits, narrow), to, rule().is_signed));
}

// Only into the lone lane of a register, which is then all there is.
void A64Translator::insert_lane() {
  const A64Operand& to = operand(0);
  const A64Operand& from = operand(1);
  const NodeId held = b_.read_vector_as_is(to.reg);
  const bool lone = type_bits(b_.node(held).type) == to.lane_bits;
  if (to.lane != 0 || !lone || to.lane_bits < 32) refuse_packed();
  const NodeId bits = from.kind == A64Operand::Kind::kVector
                          ? lane_bits_of(from, from.lane_bits)
                          : read_gpr(from, to.lane_bits == 64 ? Type::kI64 : Type::kI32);
  b_.write_vector(to.reg, bits);
}

NodeId A64Translator::lone(int i, Type type) {
  const Whole whole = read_whole(operand(i));
  const Node& node = b_.node(whole.node);
  const bool is_constant = node.kind == Kind::kConst && node.type == Type::kV128;
  if (!is_constant && type_bits(node.type) != type_bits(type)) refuse_packed();
  return lane_of(whole, type);
}

void A64Translator::vector_arithmetic(TraceOp op) {
  const A64Operand& to = operand(0);
  const unsigned bits = to.packed() ? to.lane_bits : to.bits;
  if (bits < 32) refuse_packed();
  const Type type = bits == 64 ? Type::kI64 : Type::kI32;
  b_.write_vector(to.reg, b_.pure(op, type, lone(1, type), lone(2, type)));
}

void A64Translator::lane_shift() {
  const A64Operand& to = operand(0);
  const unsigned bits = to.packed() ? to.lane_bits : to.bits;
  if (bits < 32 || operand(2).kind != A64Operand::Kind::kImmediate) refuse_packed();
  const Type type = bits == 64 ? Type::kI64 : Type::kI32;
  const NodeId by = constant(type, static_cast<uint64_t>(operand(2).value));
  b_.write_vector(to.reg, b_.pure(rule().op, type, lone(1, type), by));
}

// sshll v0.2d, v0.2s, #n: an int32 in the lone lane becomes an int64.
void A64Translator::lane_widen() {
  if (operand(0).lane_bits != 64) refuse_packed();
  const NodeId wide = b_.convert(lone(1, Type::kI32), Type::kI64, rule().is_signed);
  const auto by = static_cast<unsigned>(operand(2).value);
  b_.write_vector(operand(0).reg, shifted(wide, ARM64_SFT_LSL, by, Type::kI64));
}

}  // namespace nrd::lift
