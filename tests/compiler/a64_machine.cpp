// SPDX-License-Identifier: MIT
// tests/compiler/a64_machine.cpp: A64Machine, node by node.
#include "a64_machine.h"

#include <bit>
#include <cmath>

namespace nrd::lift {
namespace {

bool is_float(Type type) { return type == Type::kF32 || type == Type::kF64; }

uint64_t cut(Type type, uint64_t bits) {
  const int width = type_bits(type);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

int64_t signed_value(Type type, uint64_t bits) {
  const int unused = 64 - type_bits(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

template <class T>
T extremum(T a, T b, bool largest, bool nan_wins) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan_wins) return std::isnan(a) ? a : b;
    return std::isnan(a) ? b : a;
  }
  if (a == b && !nan_wins) return std::signbit(a) == largest ? b : a;  // as fmaxnm orders zeros
  return largest ? (a > b ? a : b) : (a < b ? a : b);
}

template <class T>
T float_value(TraceOp op, T a, T b, T c) {
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kDiv: return a / b;
    case TraceOp::kNeg: return -a;
    case TraceOp::kAbs: return std::fabs(a);
    case TraceOp::kFma: return std::fma(a, b, c);
    case TraceOp::kSqrt: return std::sqrt(a);
    case TraceOp::kFloor: return std::floor(a);
    case TraceOp::kCeil: return std::ceil(a);
    case TraceOp::kTrunc: return std::trunc(a);
    case TraceOp::kRint: return std::nearbyint(a);
    case TraceOp::kCopySign: return std::copysign(a, b);
    case TraceOp::kMaxNum: return extremum(a, b, true, false);
    case TraceOp::kMinNum: return extremum(a, b, false, false);
    case TraceOp::kMaxNan: return extremum(a, b, true, true);
    case TraceOp::kMinNan: return extremum(a, b, false, true);
    default: throw std::logic_error("a float operation the machine does not know");
  }
}

// As trace.h defines it: the smallest integer where the number does not fit.
int64_t truncated(double value, int bits) {
  const double limit = std::ldexp(1.0, bits - 1);
  const bool fits = value < limit && std::trunc(value) >= -limit;
  return fits ? static_cast<int64_t>(value) : static_cast<int64_t>(~uint64_t{0} << (bits - 1));
}

bool holds(Predicate predicate, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
    case Predicate::kOeq: return !unordered && a == b;
    case Predicate::kOgt: return !unordered && a > b;
    case Predicate::kOge: return !unordered && a >= b;
    case Predicate::kOlt: return !unordered && a < b;
    case Predicate::kOle: return !unordered && a <= b;
    case Predicate::kUno: return unordered;
    default: throw std::logic_error("a float predicate the machine does not know");
  }
}

bool holds(Predicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
    case Predicate::kEq: return a == b;
    case Predicate::kNe: return a != b;
    case Predicate::kLt: return a < b;
    case Predicate::kGe: return a >= b;
    default: throw std::logic_error("an integer predicate the machine does not know");
  }
}

A64Machine::Nzcv float_flags(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return {.c = true, .v = true};
  if (a == b) return {.z = true, .c = true};
  return a < b ? A64Machine::Nzcv{.n = true} : A64Machine::Nzcv{.c = true};
}

// a + b + carry in, as the manual's AddWithCarry.
A64Machine::Nzcv sum_flags(Type type, uint64_t a, uint64_t b, bool carry) {
  const uint64_t sum = cut(type, a + b + carry);
  const auto negative = [&](uint64_t x) { return signed_value(type, x) < 0; };
  const bool carried = sum < a || (carry && sum == a);
  return {.n = negative(sum),
          .z = sum == 0,
          .c = carried,
          .v = negative(a) == negative(b) && negative(sum) != negative(a)};
}

}  // namespace

A64Machine::A64Machine() {
  for (NodeId& reg : vector) reg = constant(Type::kV128, 0);
}

void A64Machine::set_vector(uint32_t reg, uint64_t low, uint64_t high) {
  vector[reg] = constant(Type::kV128, low, high);
}

void A64Machine::set_float(uint32_t reg, float value) {
  vector[reg] = constant(Type::kF32, std::bit_cast<uint32_t>(value));
}

void A64Machine::set_flags_bits(unsigned nzcv) {
  flags = {(nzcv & 8) != 0, (nzcv & 4) != 0, (nzcv & 2) != 0, (nzcv & 1) != 0};
}

float A64Machine::float_of(uint32_t reg) const {
  return std::bit_cast<float>(static_cast<uint32_t>(vector_low(reg)));
}

NodeId A64Machine::constant(Type type, uint64_t bits, uint64_t high) {
  Node node;
  node.kind = Kind::kConst;
  node.type = type;
  node.bits = cut(type, bits);
  node.high = high;
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

double A64Machine::number(NodeId id) const {
  const Node& node = nodes_[id];
  if (node.type == Type::kF64) return std::bit_cast<double>(node.bits);
  return std::bit_cast<float>(static_cast<uint32_t>(node.bits));
}

NodeId A64Machine::from_number(Type type, double value) {
  if (type == Type::kF64) return constant(type, std::bit_cast<uint64_t>(value));
  return constant(type, std::bit_cast<uint32_t>(static_cast<float>(value)));
}

NodeId A64Machine::float_pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) {
  const auto operand = [&](NodeId id) { return id == kNoNode ? 0.0 : number(id); };
  if (type == Type::kF64) {
    return from_number(type, float_value<double>(op, operand(a), operand(b), operand(c)));
  }
  const float value =
      float_value<float>(op, static_cast<float>(operand(a)), static_cast<float>(operand(b)),
                         static_cast<float>(operand(c)));
  return constant(type, std::bit_cast<uint32_t>(value));
}

NodeId A64Machine::integer_pure(TraceOp op, Type type, uint64_t a, uint64_t b) {
  switch (op) {
    case TraceOp::kAdd: return constant(type, a + b);
    case TraceOp::kSub: return constant(type, a - b);
    case TraceOp::kMul: return constant(type, a * b);
    case TraceOp::kNeg: return constant(type, -a);
    case TraceOp::kAnd: return constant(type, a & b);
    case TraceOp::kOr: return constant(type, a | b);
    case TraceOp::kXor: return constant(type, a ^ b);
    case TraceOp::kShl: return constant(type, a << b);
    case TraceOp::kShr: return constant(type, a >> b);
    case TraceOp::kSar: return constant(type, static_cast<uint64_t>(signed_value(type, a) >> b));
    default: throw std::logic_error("an integer operation the machine does not know");
  }
}

NodeId A64Machine::pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) {
  const Node from = nodes_[a];
  if (op == TraceOp::kToI32 || op == TraceOp::kToI64) {
    return constant(type, static_cast<uint64_t>(truncated(number(a), type_bits(type))));
  }
  if ((op == TraceOp::kToF32 || op == TraceOp::kToF64) && !is_float(from.type)) {
    const int64_t value = signed_value(from.type, from.bits);
    if (op == TraceOp::kToF64) return from_number(type, static_cast<double>(value));
    return constant(type, std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  if (op == TraceOp::kToF32 || op == TraceOp::kToF64) return from_number(type, number(a));
  if (is_float(type)) return float_pure(op, type, a, b, c);
  if (from.type != type || (b != kNoNode && nodes_[b].type != type)) {
    throw std::logic_error("operands of different types");
  }
  return integer_pure(op, type, from.bits, b == kNoNode ? 0 : nodes_[b].bits);
}

NodeId A64Machine::special(Kind kind, Type type, NodeId a, NodeId b) {
  const uint64_t x = nodes_[a].bits;
  if (kind == Kind::kU64ToF64) return from_number(type, static_cast<double>(x));
  if (kind == Kind::kU64ToF32) {
    return constant(type, std::bit_cast<uint32_t>(static_cast<float>(x)));
  }
  const uint64_t y = nodes_[b].bits;
  if (kind == Kind::kUMulHigh)
    return constant(type, static_cast<uint64_t>(static_cast<unsigned __int128>(x) * y >> 64));
  if (kind == Kind::kSMulHigh)
    return constant(
        type, static_cast<uint64_t>(
                  static_cast<__int128>(static_cast<int64_t>(x)) * static_cast<int64_t>(y) >> 64));
  if (kind == Kind::kUDiv) return constant(type, y == 0 ? 0 : x / y);
  if (kind != Kind::kSDiv) throw std::logic_error("a node the machine does not know");
  const int64_t divisor = signed_value(type, y);
  if (divisor == 0) return constant(type, 0);
  if (divisor == -1) return constant(type, -x);  // the most negative one stays itself
  return constant(type, static_cast<uint64_t>(signed_value(type, x) / divisor));
}

NodeId A64Machine::compare(Predicate predicate, NodeId a, NodeId b) {
  const Node x = nodes_[a];
  const Node y = nodes_[b];
  const bool result = is_float(x.type) ? holds(predicate, number(a), number(b))
                                       : holds(predicate, signed_value(x.type, x.bits),
                                               signed_value(y.type, y.bits));
  return constant(Type::kBool, result);
}

NodeId A64Machine::select(NodeId condition, NodeId a, NodeId b) {
  if (nodes_[a].type != nodes_[b].type) throw std::logic_error("arms of different types");
  return nodes_[condition].bits != 0 ? a : b;
}

NodeId A64Machine::convert(NodeId a, Type to, bool sign_extend) {
  const Node from = nodes_[a];
  return constant(
      to, sign_extend ? static_cast<uint64_t>(signed_value(from.type, from.bits)) : from.bits);
}

NodeId A64Machine::bitcast(NodeId a, Type to) { return constant(to, nodes_[a].bits); }

NodeId A64Machine::read_gpr(uint32_t reg, Type type, bool) { return constant(type, gpr[reg]); }

void A64Machine::write_gpr(uint32_t reg, NodeId value, bool) { gpr[reg] = nodes_[value].bits; }

NodeId A64Machine::read_vector(uint32_t reg, Type type) {
  const Node held = nodes_[vector[reg]];
  return constant(type, held.bits, type == Type::kV128 ? held.high : 0);
}

void A64Machine::write_vector(uint32_t reg, NodeId value) { vector[reg] = value; }

void A64Machine::set_flags(FlagsKind kind, NodeId a, NodeId b) {
  const Node x = nodes_[a];
  const Node y = nodes_[b];
  switch (kind) {
    case FlagsKind::kCompare: flags = sum_flags(x.type, x.bits, cut(x.type, ~y.bits), true); break;
    case FlagsKind::kAdd: flags = sum_flags(x.type, x.bits, y.bits, false); break;
    case FlagsKind::kAnd:
      flags = {.n = signed_value(x.type, x.bits & y.bits) < 0, .z = (x.bits & y.bits) == 0};
      break;
    case FlagsKind::kFloatA64: flags = float_flags(number(a), number(b)); break;
    default: throw std::logic_error("flags of another machine");
  }
}

void A64Machine::set_flags_if(NodeId condition, FlagsKind kind, NodeId a, NodeId b, unsigned nzcv) {
  if (nodes_[condition].bits != 0) return set_flags(kind, a, b);
  set_flags_bits(nzcv);
}

NodeId A64Machine::condition(Cond cond) {
  const auto [n, z, c, v] = flags;
  switch (cond) {
    case Cond::kE: return constant(Type::kBool, z);
    case Cond::kNE: return constant(Type::kBool, !z);
    case Cond::kAE: return constant(Type::kBool, c);
    case Cond::kB: return constant(Type::kBool, !c);
    case Cond::kS: return constant(Type::kBool, n);
    case Cond::kNS: return constant(Type::kBool, !n);
    case Cond::kO: return constant(Type::kBool, v);
    case Cond::kNO: return constant(Type::kBool, !v);
    case Cond::kA: return constant(Type::kBool, c && !z);
    case Cond::kBE: return constant(Type::kBool, !c || z);
    case Cond::kGE: return constant(Type::kBool, n == v);
    case Cond::kL: return constant(Type::kBool, n != v);
    case Cond::kG: return constant(Type::kBool, !z && n == v);
    case Cond::kLE: return constant(Type::kBool, z || n != v);
    default: throw std::logic_error("a condition of another machine");
  }
}

uint8_t* A64Machine::at(uint64_t address, size_t bytes) {
  if (address < memory_base || address + bytes > memory_base + memory.size()) {
    throw std::logic_error("an address outside the memory");
  }
  return memory.data() + (address - memory_base);
}

NodeId A64Machine::load(Type type, NodeId address) {
  uint64_t words[2] = {};
  const size_t bytes = type_bits(type) / 8;
  std::memcpy(words, at(nodes_[address].bits, bytes), bytes);
  return constant(type, words[0], words[1]);
}

void A64Machine::store(NodeId address, NodeId value) {
  const uint64_t words[2] = {nodes_[value].bits, nodes_[value].high};
  const size_t bytes = type_bits(nodes_[value].type) / 8;
  std::memcpy(at(nodes_[address].bits, bytes), words, bytes);
}

void A64Machine::run(FrontEnd& front_end, const Image& image, uint64_t entry,
                     void (*call)(A64Machine&, uint64_t slot)) {
  std::vector<uint64_t> returns;
  for (uint64_t address = entry;;) {
    Instruction in;
    std::string reason;
    if (!front_end.decode(image, address, in, reason)) throw Refused(reason);
    const NodeId condition = front_end.translate(in, image, *this);
    address += in.length;
    const bool returns_now = in.flow == Flow::kReturn || in.flow == Flow::kIndirect;
    if (in.flow == Flow::kIndirect) call(*this, in.call_slot);
    if (returns_now && returns.empty()) return;
    if (in.flow == Flow::kCall) returns.push_back(address);
    if (in.flow == Flow::kJump || in.flow == Flow::kCall) address = in.target;
    if (in.flow == Flow::kBranch && nodes_[condition].bits != 0) address = in.target;
    if (in.flow == Flow::kTrap) throw Refused("trap");
    if (returns_now) {
      address = returns.back();
      returns.pop_back();
    }
  }
}

}  // namespace nrd::lift
