// SPDX-License-Identifier: MIT
// src/lift/emit_values.cpp: pure values of a trace, each where its operands are known.
#include <algorithm>

#include "lift/emitter.h"
#include "lift/simplify.h"

namespace nrd::lift {

// Integers below 32 bits are i32 whose upper bits mean nothing until they are extended.
TraceType trace_type(Type type, uint64_t address) {
  switch (type) {
    case Type::kBool: return TraceType::kBool;
    case Type::kI8:
    case Type::kI16:
    case Type::kI32: return TraceType::kI32;
    case Type::kI64: return TraceType::kI64;
    case Type::kF32: return TraceType::kF32;
    case Type::kF64: return TraceType::kF64;
    default: give_up("a value at " + place(address) + " is neither a number nor a truth value");
  }
}

ValueId Emitter::emit(NodeId id) {
  if (id < same_as_.size() && same_as_[id] != kNoNode) id = same_as_[id];
  if (values_.size() <= id) values_.resize(f_.nodes.size() + 16, kNoValue);
  if (values_[id] == kNoValue) {
    const ValueId made = emit_now(id);
    if (values_.size() <= id) values_.resize(f_.nodes.size() + 16, kNoValue);
    values_[id] = made;
  }
  return values_[id];
}

ValueId Emitter::emit_now(NodeId id) {
  const Node n = f_[id];
  switch (n.kind) {
    case Kind::kConst: return constant_of(n);
    case Kind::kArg: return argument(n);
    case Kind::kPhi: return leaf(n);
    case Kind::kPure: return pure(id, n);
    case Kind::kTrunc: return truncated(id, n);
    case Kind::kZext:
    case Kind::kSext: return widened(id, n);
    case Kind::kRoundToCall: {
      const ValueId number = emit(n.args[0]);
      return place_at(id, TraceOp::kRoundTo, TraceType::kF32, number, emit(n.args[1]));
    }
    case Kind::kUMulHigh:
    case Kind::kSMulHigh:
      give_up("the upper half of a product at " + place(n.address) +
              " is no division by a constant");
    case Kind::kUndef: give_up("a result depends on a value that was never set");
    case Kind::kLoad:
      if (f_[n.args[0]].kind == Kind::kConst)
        give_up("it reads a mutable global at " + place(f_[n.args[0]].bits) +
                " (in the instruction at " + place(n.address) + ")");
      give_up("the load at " + place(n.address) + " is out of order");
    default: give_up("the operation at " + place(n.address) + " has no form in a trace");
  }
}

ValueId Emitter::place_at(NodeId id, TraceOp op, TraceType type, ValueId a, ValueId b, ValueId c) {
  return append(scopes_.of(id), {.op = op, .type = type, .args = {a, b, c}});
}

ValueId Emitter::constant_of(const Node& n) {
  const TraceType type = trace_type(n.type, n.address);
  const bool is_word = type == TraceType::kI32;
  return constant(type, is_word ? static_cast<uint32_t>(sign_extended(n.bits, n.type)) : n.bits);
}

ValueId Emitter::constant(TraceType type, uint64_t bits) {
  return append(0, {.op = TraceOp::kConst, .type = type, .bits = bits});
}

ValueId Emitter::argument(const Node& n) {
  if (n.index >= params_.list.size() || params_.list[n.index].kind == CKind::kPointer)
    give_up("a pointer is used as a number");
  const auto index = static_cast<uint16_t>(n.index);
  if (n.type == Type::kI64) return size_param(index);
  const TraceType type = trace_type(n.type, n.address);
  if (type == TraceType::kI32 && is_size_[n.index]) {
    const ValueId whole = size_param(index);
    return append(0, {.op = TraceOp::kToI32, .type = type, .args = {whole, kNoValue, kNoValue}});
  }
  if (!is_map_) return append(0, {.op = TraceOp::kParam, .type = type, .index = index});
  trace_.params[index].read = true;
  TraceValue load{.op = TraceOp::kLoad, .type = type, .index = index};
  load.args[0] = trace_.loops[loop_of_[0]].iv;
  return append(0, load);
}

ValueId Emitter::size_param(uint16_t index) {
  if (sizes_[index] == kNoValue)
    sizes_[index] = append(0, {.op = TraceOp::kParam, .type = TraceType::kI64, .index = index});
  return sizes_[index];
}

ValueId Emitter::leaf(const Node& n) {
  if (!is_leaf(n)) give_up("a value depends on control flow that was not resolved");
  const LeafRole role = leaf_role(n);
  if (role == LeafRole::kIv) return trace_.loops[loop_of_[n.index]].iv;
  const std::vector<LoopCarry>& carried = carried_[n.index];
  ValueId value = kNoValue;
  if (role != LeafRole::kLast && leaf_number(n) < carried.size()) {
    const LoopCarry& carry = carried[leaf_number(n)];
    value = role == LeafRole::kCarry ? carry.carry : carry.result;
  }
  if (value == kNoValue) give_up("a value of a loop is used where the loop does not give it");
  return value;
}

ValueId Emitter::pure(NodeId id, const Node& n) {
  const TraceType type = trace_type(n.type, n.address);
  const bool is_sum = n.op == TraceOp::kAdd || n.op == TraceOp::kSub || n.op == TraceOp::kMul ||
                      n.op == TraceOp::kNeg || n.op == TraceOp::kShl;
  if (is_sum && type == TraceType::kI64) {
    const IntPoly poly = scev_.of(id);
    if (poly.single_atom() != id) return sum_of(poly);
  }
  if (n.op == TraceOp::kLookup) return lookup(id, n, true);
  if (n.op == TraceOp::kSelect && type == TraceType::kBool) return select_bool(id, n);
  if (n.op == TraceOp::kCmp && f_[n.args[0]].type == Type::kBool) return compare_bool(id, n);
  TraceValue value{.op = n.op, .type = type};
  if (n.op == TraceOp::kCmp) value.predicate = n.predicate;
  for (size_t i = 0; i < 3; i++)
    if (n.args[i] != kNoNode) value.args[i] = emit(n.args[i]);
  if (type_bits(n.type) < 32 && (n.op == TraceOp::kShr || n.op == TraceOp::kSar))
    value.args[0] = extended(id, n.args[0], n.op == TraceOp::kSar);
  return append(scopes_.of(id), value);
}

// Elements below 32 bits stand in the table as they are extended.
ValueId Emitter::lookup(NodeId at, const Node& n, bool sign) {
  const ConstantTable& of = f_.tables[n.bits];
  TraceTable table{.type = trace_type(of.type, n.address), .elements = of.elements};
  if (table.type == TraceType::kI32 && sign)
    for (uint64_t& bits : table.elements)
      bits = static_cast<uint32_t>(sign_extended(bits, of.type));
  const auto known = std::find(trace_.tables.begin(), trace_.tables.end(), table);
  const auto number = static_cast<uint16_t>(known - trace_.tables.begin());
  if (known == trace_.tables.end()) trace_.tables.push_back(table);
  const ValueId index = emit(n.args[0]);
  return append(scopes_.of(at), {.op = TraceOp::kLookup,
                                 .type = table.type,
                                 .index = number,
                                 .args = {index, kNoValue, kNoValue}});
}

ValueId Emitter::select_bool(NodeId id, const Node& n) {
  const ValueId c = emit(n.args[0]), a = emit(n.args[1]), b = emit(n.args[2]);
  const ValueId otherwise = place_at(id, TraceOp::kNot, TraceType::kBool, c);
  const ValueId yes = place_at(id, TraceOp::kAnd, TraceType::kBool, c, a);
  const ValueId no = place_at(id, TraceOp::kAnd, TraceType::kBool, otherwise, b);
  return place_at(id, TraceOp::kOr, TraceType::kBool, yes, no);
}

ValueId Emitter::compare_bool(NodeId id, const Node& n) {
  const ValueId a = emit(n.args[0]), b = emit(n.args[1]);
  const ValueId differ = place_at(id, TraceOp::kXor, TraceType::kBool, a, b);
  return n.predicate == Predicate::kNe ? differ
                                       : place_at(id, TraceOp::kNot, TraceType::kBool, differ);
}

ValueId Emitter::compare(NodeId at, Predicate predicate, ValueId a, ValueId b) {
  return append(scopes_.of(at), {.op = TraceOp::kCmp,
                                 .type = TraceType::kBool,
                                 .predicate = predicate,
                                 .args = {a, b, kNoValue}});
}

ValueId Emitter::truncated(NodeId id, const Node& n) {
  const Type from = f_[n.args[0]].type;
  const ValueId whole = emit(n.args[0]);
  if (n.type != Type::kBool)
    return from == Type::kI64 ? place_at(id, TraceOp::kToI32, TraceType::kI32, whole) : whole;
  const TraceType type = trace_type(from, n.address);
  const ValueId lowest = place_at(id, TraceOp::kAnd, type, whole, constant(type, 1));
  return compare(id, Predicate::kNe, lowest, constant(type, 0));
}

ValueId Emitter::widened(NodeId id, const Node& n) {
  const Node inner = f_[n.args[0]];
  const bool is_size = inner.kind == Kind::kArg && is_size_[inner.index];
  if (is_size && n.type == Type::kI64) return size_param(static_cast<uint16_t>(inner.index));
  const bool sign = n.kind == Kind::kSext;
  const ValueId word = extended(id, n.args[0], sign);
  if (n.type != Type::kI64) return word;
  const bool is_unsigned_word = !sign && inner.type == Type::kI32;
  return place_at(id, is_unsigned_word ? TraceOp::kUToI64 : TraceOp::kToI64, TraceType::kI64, word);
}

// A narrow integer with its upper bits as the extension to 32 bits makes them.
ValueId Emitter::extended(NodeId at, NodeId id, bool sign) {
  const Node n = f_[id];
  const int bits = type_bits(n.type);
  if (bits < 32 && n.kind == Kind::kPure && n.op == TraceOp::kLookup) return lookup(at, n, sign);
  const ValueId value = emit(id);
  if (bits >= 32) return value;
  const bool is_byte = n.kind == Kind::kLoad && bits == 8;
  if (is_byte && (params_.list[n.index].element == DType::kI8) == sign) return value;
  if (!sign)
    return place_at(at, TraceOp::kAnd, TraceType::kI32, value,
                    constant(TraceType::kI32, (uint64_t{1} << bits) - 1));
  const ValueId shift = constant(TraceType::kI32, static_cast<uint64_t>(32 - bits));
  const ValueId up = place_at(at, TraceOp::kShl, TraceType::kI32, value, shift);
  return place_at(at, TraceOp::kSar, TraceType::kI32, up, shift);
}

}  // namespace nrd::lift
