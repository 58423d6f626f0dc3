// SPDX-License-Identifier: MIT
// src/lift/x86_vector.cpp: moves between vector registers and memory, masks and bit operations.
//
// A register holds the value of its lowest lane, with a type, or 128 bits (a mask constant, a
// spilled register). What would read another lane, or store lanes that are not known, is refused:
// that is vectorised code.
#include "lift/simplify.h"
#include "lift/x86.h"

namespace nrd::lift {
namespace {

bool is_32(Type type) { return type == Type::kF32 || type == Type::kI32; }
bool is_64(Type type) { return type == Type::kF64 || type == Type::kI64; }

Type integer_of(Type type) { return is_32(type) ? Type::kI32 : is_64(type) ? Type::kI64 : type; }
Type float_of(Type type) { return is_32(type) ? Type::kF32 : is_64(type) ? Type::kF64 : type; }

uint64_t apply(TraceOp op, uint64_t a, uint64_t b) {
  return op == TraceOp::kAnd ? a & b : op == TraceOp::kOr ? a | b : a ^ b;
}

// Shifts each lane of `width` bits in a half of a constant.
uint64_t shift_half(TraceOp op, uint64_t half, int width, uint64_t count) {
  uint64_t result = 0;
  for (int at = 0; at < 64; at += width) {
    const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    const uint64_t lane = (half >> at) & mask;
    result |= ((op == TraceOp::kShl ? lane << count : lane >> count) & mask) << at;
  }
  return result;
}

// Sign and magnitude masks tell how wide the numbers are that they are made for.
bool is_f64_mask(uint64_t bits) {
  return bits == uint64_t{1} << 63 || bits == ~(uint64_t{1} << 63);
}

}  // namespace

// movss, movsd
void X86Translator::move_scalar() {
  const Type type = in_.rule->type;
  const NodeId value = read_lane(in_.operand_count - 1, type);
  if (operand(0).kind == X86Operand::Kind::kMemory) return write(0, value);
  write_lane(value);
}

// movd, movq between any two places
void X86Translator::move_integer() {
  const Type type = in_.rule->type;
  const X86Operand &to = operand(0), &from = operand(1);
  if (to.kind != X86Operand::Kind::kVector) return write(0, read_lane(1, type));
  if (from.kind == X86Operand::Kind::kGpr) return write_lane(read(1));
  if (from.kind == X86Operand::Kind::kMemory) return write_lane(read_lane(1, float_of(type)));
  const NodeId value = read_whole(1);
  write_lane(b_.node(value).type == Type::kV128 ? b_.read_vector(from.reg, type) : value);
}

// The register as it was last written, or 128 bits of memory.
NodeId X86Translator::read_whole(int i) {
  const X86Operand& from = operand(i);
  if (from.kind == X86Operand::Kind::kVector) return b_.read_vector_as_is(from.reg);
  if (!in_.broadcast) return read_lane(i, Type::kV128);
  return read_lane(i, in_.rule->type);  // {1to4}, {1to2}
}

// movaps, movups, movdqa ...
void X86Translator::move_vector() {
  if (operand(0).kind == X86Operand::Kind::kMemory) return store_vector();
  write_lane(read_whole(1));
}

// Spills store a whole register though only a lane of it is known; elsewhere that would leave
// the other lanes out.
void X86Translator::store_vector() {
  if (operand(1).kind != X86Operand::Kind::kVector) refuse_vectorised();
  const NodeId value = b_.read_vector_as_is(operand(1).reg);
  const bool on_stack = operand(0).base == kRsp || operand(0).base == kRbp;
  if (b_.node(value).type != Type::kV128 && !on_stack) refuse("a store of several lanes");
  write(0, value);
}

// unpcklpd, movlhps: the lowest 64 bits stay those of the first source.
void X86Translator::keep_low_lane() {
  const NodeId value = read_whole(source());
  write_lane(b_.node(value).type == Type::kV128 ? read_lane(source(), Type::kF64) : value);
}

// unpcklps x, x: the lane twice, before cvtps2pd. Two different lanes are a vector.
void X86Translator::duplicate_low_lane() {
  const X86Operand &a = operand(source()), &b = operand(source() + 1);
  if (a.kind != X86Operand::Kind::kVector || b.kind != a.kind || a.reg != b.reg)
    refuse_vectorised();
  write_lane(b_.read_vector(a.reg, in_.rule->type));
}

void X86Translator::select_low_lane(int from) {
  const int64_t lanes = is_64(in_.rule->type) ? 1 : 3;
  const X86Operand& selector = operand(in_.operand_count - 1);
  const bool stays = selector.kind == X86Operand::Kind::kImmediate && !(selector.value & lanes);
  if (!stays || operand(from).kind != X86Operand::Kind::kVector) refuse_vectorised();
  write_lane(b_.read_vector(operand(from).reg, in_.rule->type));
}

// shufps, shufpd: only where lane 0 stays.
void X86Translator::shuffle() { select_low_lane(source()); }

// pshufd, vpermilps
void X86Translator::permute() { select_low_lane(1); }

// vbroadcastss, movddup
void X86Translator::broadcast_low_lane() { write_lane(read_lane(1, in_.rule->type)); }

// The width at which a bit operation is understood: that of the operands with a type, the
// narrower of two (a slot may come back wider than what was spilled); without one, the mask
// tells, then the mnemonic. Two constants stay whole.
Type X86Translator::logic_type(NodeId a, NodeId b) {
  const Node &x = b_.node(a), &y = b_.node(b);
  if (is_32(x.type) || is_32(y.type)) return Type::kI32;
  if (is_64(x.type) || is_64(y.type)) return Type::kI64;
  if (x.kind == Kind::kConst && y.kind == Kind::kConst) return Type::kV128;
  const Node& mask = x.kind == Kind::kConst ? x : y;
  if (mask.kind == Kind::kConst && is_f64_mask(mask.bits)) return Type::kI64;
  return integer_of(in_.rule->type);
}

NodeId X86Translator::lane_of(int i, NodeId whole, Type type) {
  const Node& node = b_.node(whole);
  if (node.type == type) return whole;
  if (node.type != Type::kV128) return b_.bitcast(whole, type);
  if (node.kind == Kind::kConst) return constant(type, static_cast<int64_t>(node.bits));
  return read_lane(i, type);
}

void X86Translator::bitwise(bool invert_first) {
  const TraceOp op = in_.rule->op;
  const NodeId a = read_whole(source()), b = read_whole(source() + 1);
  const Type type = logic_type(a, b);
  const Node x = b_.node(a), y = b_.node(b);
  if (type == Type::kV128) {
    const uint64_t flip = invert_first ? ~uint64_t{0} : 0;
    return write_lane(b_.constant(Type::kV128, apply(op, x.bits ^ flip, y.bits),
                                  apply(op, x.high ^ flip, y.high)));
  }
  NodeId lane = lane_of(source(), a, type);
  if (invert_first) lane = b_.pure(TraceOp::kXor, type, lane, constant(type, -1));
  const NodeId result = b_.pure(op, type, lane, lane_of(source() + 1, b, type));
  const bool floats = is_float(x.type) || is_float(y.type);
  write_lane(floats ? b_.bitcast(result, float_of(type)) : result);
}

// xorps, andps, orps, pxor ... `xor x, x` is how a register is cleared, whatever it held.
void X86Translator::vector_logic() {
  const X86Operand &a = operand(source()), &b = operand(source() + 1);
  const bool same = a.kind == b.kind && a.kind == X86Operand::Kind::kVector && a.reg == b.reg;
  if (same && in_.rule->op == TraceOp::kXor) return write_lane(b_.constant(Type::kV128, 0, 0));
  bitwise(false);
}

void X86Translator::vector_and_not() { bitwise(true); }

// A function of two bits by its truth table, whose bit number is 2x + y.
NodeId X86Translator::logic_of_two(unsigned truth, NodeId x, NodeId y, Type type) {
  const NodeId ones = constant(type, -1);
  const auto invert = [&](NodeId a) { return b_.pure(TraceOp::kXor, type, a, ones); };
  if (truth & 1) return invert(logic_of_two(~truth & 0xf, x, y, type));
  switch (truth) {
    case 2: return b_.pure(TraceOp::kAnd, type, invert(x), y);
    case 4: return b_.pure(TraceOp::kAnd, type, x, invert(y));
    case 6: return b_.pure(TraceOp::kXor, type, x, y);
    case 8: return b_.pure(TraceOp::kAnd, type, x, y);
    case 10: return y;
    case 12: return x;
    case 14: return b_.pure(TraceOp::kOr, type, x, y);
    default: return constant(type, 0);
  }
}

// vpternlogd a, b, c, table: any function of three bits, bit number 4a + 2b + c. It becomes a
// choice between two functions of two by the third, the constant one if there is any.
void X86Translator::ternary_logic() {
  const auto table = static_cast<unsigned>(operand(3).value) & 0xff;
  if (table == 0 || table == 0xff)
    return write_lane(b_.constant(Type::kV128, table ? ~uint64_t{0} : 0, table ? ~uint64_t{0} : 0));
  std::array<NodeId, 3> whole{}, lane{};
  Type type = in_.rule->type;
  bool floats = false, narrow = false;
  int by = 2;
  for (int i = 0; i < 3; i++) {
    whole[i] = read_whole(i);
    const Node& node = b_.node(whole[i]);
    floats |= is_float(node.type);
    if (is_32(node.type) || (is_64(node.type) && !narrow)) type = integer_of(node.type);
    narrow |= is_32(node.type);
    if (node.kind == Kind::kConst) by = i;
  }
  for (int i = 0; i < 3; i++) lane[i] = lane_of(i, whole[i], type);
  const int first = by == 0 ? 1 : 0, second = by == 2 ? 1 : 2;
  const auto weight = [](int i) { return 4u >> i; };
  std::array<unsigned, 2> truth{};  // where the choosing bit is 0, and 1
  for (unsigned bits = 0; bits < 8; bits++) {
    const unsigned x = (bits / weight(first)) & 1, y = (bits / weight(second)) & 1;
    truth[(bits / weight(by)) & 1] |= ((table >> bits) & 1) << (2 * x + y);
  }
  const NodeId clear = logic_of_two(truth[0], lane[first], lane[second], type);
  const NodeId set = logic_of_two(truth[1], lane[first], lane[second], type);
  const NodeId kept = logic_of_two(2, lane[by], clear, type);
  const NodeId taken = b_.pure(TraceOp::kAnd, type, lane[by], set);
  const NodeId result = b_.pure(TraceOp::kOr, type, taken, kept);
  write_lane(floats ? b_.bitcast(result, float_of(type)) : result);
}

// pcmpeqd x, x; a comparison of lanes is vectorised code.
void X86Translator::all_ones() {
  const X86Operand &a = operand(source()), &b = operand(source() + 1);
  if (a.kind != X86Operand::Kind::kVector || b.kind != a.kind || a.reg != b.reg)
    refuse_vectorised();
  write_lane(b_.constant(Type::kV128, ~uint64_t{0}, ~uint64_t{0}));
}

// pslld, psrlq ... by a constant: how clang makes masks.
void X86Translator::shift_lanes() {
  const X86Operand& by = operand(source() + 1);
  const Type type = in_.rule->type;
  const int width = type_bits(type);
  if (by.kind != X86Operand::Kind::kImmediate || by.value < 0 || by.value >= width)
    refuse_vectorised();
  const auto count = static_cast<uint64_t>(by.value);
  const NodeId value = read_whole(source());
  const Node& node = b_.node(value);
  if (node.kind != Kind::kConst || node.type != Type::kV128) {
    const NodeId lane = b_.read_vector(operand(source()).reg, type);
    return write_lane(b_.pure(in_.rule->op, type, lane, constant(type, by.value)));
  }
  write_lane(b_.constant(Type::kV128, shift_half(in_.rule->op, node.bits, width, count),
                         shift_half(in_.rule->op, node.high, width, count)));
}

// blendvps a, b, mask: b where the mask's sign is set. Without VEX the mask is xmm0.
void X86Translator::blend_by_sign() {
  const Type type = in_.rule->type, integers = integer_of(type);
  const NodeId mask = in_.vex ? read_lane(3, integers) : b_.read_vector(0, integers);
  const NodeId negative = b_.compare(Predicate::kLt, mask, constant(integers, 0));
  write_lane(b_.select(negative, read_lane(source() + 1, type), read_lane(source(), type)));
}

// kmovb, kmovw, kmovd, kmovq: the rule's width, zero extended.
void X86Translator::move_mask() {
  const Type type = in_.rule->type;
  const X86Operand &to = operand(0), &from = operand(1);
  const auto number = [](const X86Operand& operand) {
    return operand.kind == X86Operand::Kind::kMask ? kMaskBase + operand.reg : operand.reg;
  };
  const bool registers =
      to.kind != X86Operand::Kind::kMemory && from.kind != X86Operand::Kind::kMemory;
  if (!registers) refuse("a mask in memory");
  b_.write_gpr(number(to), b_.convert(b_.read_gpr(number(from), type), Type::kI64));
}

}  // namespace nrd::lift
