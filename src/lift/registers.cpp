// SPDX-License-Identifier: MIT
// src/lift/registers.cpp: what a front end does with values, registers and flags.
#include "lift/simplify.h"
#include "lift/ssa.h"

namespace nrd::lift {

NodeId SsaBuilder::constant(Type type, uint64_t bits, uint64_t high) {
  return factory_.constant(type, bits, high);
}

// `and rsp, -32` aligns a frame. Slots only need distinct places, so the entry's alignment, known
// to be 16 minus what the call pushed, is taken to hold for 64 too.
NodeId SsaBuilder::pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) {
  a = resolve(a), b = resolve(b), c = resolve(c);
  int64_t offset = 0;
  if (op == TraceOp::kAnd && type == Type::kI64 && split_stack_address(a, &offset) &&
      function_[b].kind == Kind::kConst) {
    const auto mask = static_cast<int64_t>(function_[b].bits);
    const int64_t pushed = front_end_.call_pushes();
    const bool aligns = mask < 0 && mask >= -64 && (mask & -mask) == -mask;
    if (aligns)
      return factory_.pure(
          TraceOp::kAdd, type, stack_,
          factory_.constant(type, static_cast<uint64_t>(((offset - pushed) & mask) + pushed)));
  }
  return factory_.pure(op, type, a, b, c);
}

NodeId SsaBuilder::special(Kind kind, Type type, NodeId a, NodeId b) {
  const NodeId id =
      factory_.add({.kind = kind, .type = type, .args = {resolve(a), resolve(b), kNoNode}});
  if (is_division(function_[id].kind) && keep_ == Keep::kTraps)
    function_.blocks[block_].traps.push_back(id);
  return id;
}

NodeId SsaBuilder::compare(Predicate predicate, NodeId a, NodeId b) {
  return factory_.compare(predicate, resolve(a), resolve(b));
}

NodeId SsaBuilder::select(NodeId condition, NodeId a, NodeId b) {
  return factory_.select(resolve(condition), resolve(a), resolve(b));
}

NodeId SsaBuilder::convert(NodeId a, Type to, bool sign_extend) {
  return factory_.convert(resolve(a), to, sign_extend);
}

NodeId SsaBuilder::bitcast(NodeId a, Type to) { return factory_.low(resolve(a), to); }

NodeId SsaBuilder::read_gpr(uint32_t reg, Type type, bool high_byte) {
  const uint32_t variable = kGprBase + reg;
  if (type == Type::kI64) return read_here(variable, facet_of(Type::kI64));
  NodeId value = read_here(variable, facet_of(Type::kI32));
  if (high_byte)
    value = factory_.pure(TraceOp::kShr, Type::kI32, value, factory_.constant(Type::kI32, 8));
  return factory_.low(value, type);
}

void SsaBuilder::write_gpr(uint32_t reg, NodeId value, bool high_byte) {
  const uint32_t variable = kGprBase + reg;
  value = resolve(value);
  const Type type = function_[value].type;
  if (is_float(type)) value = factory_.low(value, integer_of_bits(type_bits(type)));
  if (type == Type::kBool) value = factory_.convert(value, Type::kI8);
  const int bits = type_bits(function_[value].type);
  if (bits >= 32) return define(variable, value);
  const int shift = high_byte ? 8 : 0;
  const uint64_t hole = ((uint64_t{1} << bits) - 1) << shift;
  const NodeId old = read_here(variable, facet_of(Type::kI64));
  const NodeId kept =
      factory_.pure(TraceOp::kAnd, Type::kI64, old, factory_.constant(Type::kI64, ~hole));
  const NodeId part = factory_.pure(TraceOp::kShl, Type::kI64, factory_.convert(value, Type::kI64),
                                    factory_.constant(Type::kI64, static_cast<uint64_t>(shift)));
  define(variable, factory_.pure(TraceOp::kOr, Type::kI64, kept, part));
}

NodeId SsaBuilder::read_vector(uint32_t reg, Type type) {
  return read_here(kVectorBase + reg, facet_of(type));
}

NodeId SsaBuilder::read_vector_as_is(uint32_t reg) {
  return read_here(kVectorBase + reg, facet_of(Type::kV128));
}

void SsaBuilder::write_vector(uint32_t reg, NodeId value) { define(kVectorBase + reg, value); }

void SsaBuilder::set_flags(FlagsKind kind, NodeId a, NodeId b) {
  define(kFlagsVariable, factory_.add({.kind = Kind::kFlags,
                                       .type = Type::kFlags,
                                       .flags = kind,
                                       .args = {resolve(a), resolve(b), kNoNode}}));
}

void SsaBuilder::set_flags_if(NodeId condition, FlagsKind kind, NodeId a, NodeId b, unsigned nzcv) {
  set_flags(kind, a, b);
  const NodeId flags = definition(block_, kFlagsVariable);
  define(kFlagsVariable, factory_.add({.kind = Kind::kFlagsIf,
                                       .type = Type::kFlags,
                                       .args = {resolve(condition), flags, kNoNode},
                                       .bits = nzcv}));
}

void SsaBuilder::clobber_flags() { define(kFlagsVariable, factory_.undefined(Type::kFlags)); }

NodeId SsaBuilder::condition(Cond cond) {
  return read_here(kFlagsVariable, static_cast<Facet>(kConditions + static_cast<int>(cond)));
}

void SsaBuilder::clobber_call() {
  for (uint32_t variable = 0; variable < kVariables; variable++) {
    if (!front_end_.caller_saved(variable)) continue;
    const Type type = variable == kFlagsVariable     ? Type::kFlags
                      : is_vector_variable(variable) ? Type::kV128
                                                     : Type::kI64;
    define(variable, factory_.undefined(type));
  }
  clobber_flags();
}

void SsaBuilder::refuse(std::string reason) { throw Refusal{std::move(reason)}; }

}  // namespace nrd::lift
