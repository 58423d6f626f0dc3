// SPDX-License-Identifier: MIT
// src/trace/verify.cpp: one walk over the trace in execution order.
#include "trace/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "trace/op_info.h"

namespace nrd {
namespace {

using Type = TraceType;

bool is_name(std::string_view s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  return std::all_of(s.begin(), s.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// i0, i1, ... are loop counters in the text.
bool is_counter_name(std::string_view s) {
  return s.size() > 1 && s[0] == 'i' &&
         std::all_of(s.begin() + 1, s.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool is_float_predicate(Predicate p) { return p <= Predicate::kUno; }

bool converts(TraceOp op, Type from, Type to) {
  switch (op) {
    case TraceOp::kToF32: return has_type(kMaskF64 | kMaskInteger, from);
    case TraceOp::kToF64: return has_type(kMaskF32 | kMaskInteger, from);
    case TraceOp::kToI32: return has_type(kMaskFloat | kMaskI64, from);
    case TraceOp::kToI64: return has_type(kMaskFloat | kMaskI32, from);
    case TraceOp::kUToI64: return from == Type::kI32;
    case TraceOp::kBitcast:
      return (from == Type::kF32 && to == Type::kI32) || (from == Type::kI32 && to == Type::kF32) ||
             (from == Type::kF64 && to == Type::kI64) || (from == Type::kI64 && to == Type::kF64);
    default: return false;
  }
}

class Verifier {
 public:
  explicit Verifier(const OpTrace& trace)
      : trace_(trace), state_(trace.values.size(), kUnseen), loop_seen_(trace.loops.size(), 0) {}

  Expected<void> run() {
    NRD_TRY(check_params());
    NRD_TRY(check_tables());
    NRD_TRY(check_body(trace_.body));
    for (size_t i = 0; i < loop_seen_.size(); i++) {
      if (!loop_seen_[i]) return bad(fmt::format("loop {}", i), "stands in no body");
    }
    return {};
  }

 private:
  enum State : uint8_t { kUnseen, kVisible, kClosed };

  Error bad(std::string where, std::string why) const {
    return make_error({.code = ErrorCode::kInternal,
                       .op = trace_.name,
                       .argument = std::move(where),
                       .got = std::move(why),
                       .allowed = "",
                       .hint = ""});
  }
  Error bad_value(ValueId id, std::string why) const {
    if (id >= trace_.values.size()) return bad(fmt::format("value {}", id), "does not exist");
    return bad(fmt::format("value {} ({} {})", id, trace_op_word(trace_[id].op),
                           trace_type_word(trace_[id].type)),
               std::move(why));
  }

  Expected<void> check_params() const {
    for (size_t i = 0; i < trace_.params.size(); i++) {
      const TraceParam& p = trace_.params[i];
      const std::string where = fmt::format("parameter {} '{}'", i, p.name);
      if (!is_name(p.name)) return bad(where, "has no proper name");
      if (p.kind == TraceParamKind::kSize && is_counter_name(p.name))
        return bad(where, "is a size named like a loop counter");
      for (size_t j = 0; j < i; j++) {
        if (trace_.params[j].name == p.name) return bad(where, "has the name of another");
      }
      if (p.kind == TraceParamKind::kPointer && byte_size(p.dtype) == 0)
        return bad(where, "has no dtype");
      const bool is_real = p.dtype == DType::kF32 || p.dtype == DType::kF64;
      if (p.kind == TraceParamKind::kNumber && !is_real)
        return bad(where, "is a number of a type other than f32 and f64");
    }
    return {};
  }

  Expected<void> check_tables() const {
    for (size_t i = 0; i < trace_.tables.size(); i++) {
      const TraceTable& table = trace_.tables[i];
      if (table.elements.empty()) return bad(fmt::format("table t{}", i), "has no elements");
      if (!has_type(op_info(TraceOp::kLookup).types, table.type))
        return bad(fmt::format("table t{}", i), "has a type that no lookup can have");
    }
    return {};
  }

  Expected<void> check_body(const std::vector<ValueId>& body) {
    for (ValueId id : body) {
      if (id >= trace_.values.size()) return bad_value(id, "");
      const Value& v = trace_[id];
      if (v.op == TraceOp::kIv || v.op == TraceOp::kCarry || v.op == TraceOp::kResult)
        return bad_value(id, "is listed in a body; its loop has it");
      if (state_[id] != kUnseen) return bad_value(id, "stands in a body twice");
      if (!has_type(op_info(v.op).types, v.type))
        return bad_value(id, "has a type its op cannot have");
      NRD_TRY(check_arity(id));
      if (v.op == TraceOp::kLoop) {
        state_[id] = kClosed;
        NRD_TRY(check_loop(id));
        continue;
      }
      NRD_TRY(check_value(id));
      state_[id] = v.op == TraceOp::kStore ? kClosed : kVisible;
    }
    return {};
  }

  Expected<void> check_arity(ValueId id) const {
    const Value& v = trace_[id];
    const bool is_memory = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
    for (int i = 0; i < 3; i++) {
      const ValueId arg = v.args[static_cast<size_t>(i)];
      if (i >= trace_op_arity(v.op)) {
        if (arg != kNoValue) return bad_value(id, fmt::format("has an argument {} too many", i));
        continue;
      }
      if (arg == kNoValue) {
        if (is_memory && i > 0) continue;
        return bad_value(id, fmt::format("lacks argument {}", i));
      }
      NRD_TRY(check_use(id, arg));
    }
    return {};
  }

  Expected<void> check_use(ValueId user, ValueId arg) const {
    if (arg >= trace_.values.size())
      return bad_value(user, fmt::format("uses value {}, which does not exist", arg));
    const TraceOp op = trace_[arg].op;
    if (op == TraceOp::kStore || op == TraceOp::kLoop)
      return bad_value(user, fmt::format("uses value {}, a statement", arg));
    if (state_[arg] == kUnseen)
      return bad_value(user, fmt::format("uses value {} before it is defined", arg));
    if (state_[arg] == kClosed)
      return bad_value(user, fmt::format("uses value {} outside the loop that has it", arg));
    return {};
  }

  Expected<void> want(ValueId user, ValueId arg, Type type, std::string_view role) const {
    if (trace_[arg].type == type) return {};
    return bad_value(user, fmt::format("has a {} of type {}, not {}", role,
                                       trace_type_word(trace_[arg].type), trace_type_word(type)));
  }

  Expected<void> check_value(ValueId id) const {
    const Value& v = trace_[id];
    switch (v.op) {
      case TraceOp::kParam: return check_param_value(id);
      case TraceOp::kLoad:
      case TraceOp::kStore: return check_memory(id);
      case TraceOp::kRoundTo:
        NRD_TRY(want(id, v.args[0], Type::kF32, "value"));
        return want(id, v.args[1], Type::kI32, "dtype");
      case TraceOp::kCmp: return check_compare(id);
      case TraceOp::kLookup:
        if (v.index >= trace_.tables.size()) return bad_value(id, "names no table");
        if (trace_.tables[v.index].type != v.type)
          return bad_value(id, fmt::format("is not what table t{} holds", v.index));
        return want(id, v.args[0], Type::kI32, "index");
      case TraceOp::kSelect:
        NRD_TRY(want(id, v.args[0], Type::kBool, "condition"));
        NRD_TRY(want(id, v.args[1], v.type, "first arm"));
        return want(id, v.args[2], v.type, "second arm");
      default: break;
    }
    if (op_info(v.op).rule == ArgRule::kOwn) {
      const Type from = trace_[v.args[0]].type;
      if (!converts(v.op, from, v.type))
        return bad_value(id, fmt::format("cannot convert from {}", trace_type_word(from)));
      return {};
    }
    for (int i = 0; i < trace_op_arity(v.op); i++)
      NRD_TRY(want(id, v.args[static_cast<size_t>(i)], v.type, "argument"));
    return {};
  }

  Expected<void> check_param_value(ValueId id) const {
    const Value& v = trace_[id];
    if (v.index >= trace_.params.size()) return bad_value(id, "names no parameter");
    const TraceParam& p = trace_.params[v.index];
    Type type = Type::kNone;
    if (p.kind == TraceParamKind::kSize) type = Type::kI64;
    if (p.kind == TraceParamKind::kInt) type = Type::kI32;
    if (p.kind == TraceParamKind::kNumber) type = loaded_type(p.dtype);
    if (type == v.type) return {};
    return bad_value(id, fmt::format("does not have the type of parameter {}", p.name));
  }

  Expected<void> check_memory(ValueId id) const {
    const Value& v = trace_[id];
    const bool is_load = v.op == TraceOp::kLoad;
    if (v.index >= trace_.params.size()) return bad_value(id, "names no parameter");
    const TraceParam& p = trace_.params[v.index];
    if (p.kind != TraceParamKind::kPointer)
      return bad_value(id, fmt::format("accesses {}, which is no pointer", p.name));
    if (is_load ? !p.read : !p.written)
      return bad_value(
          id, fmt::format("{} {}, which is not marked so", is_load ? "reads" : "writes", p.name));
    NRD_TRY(want(id, v.args[0], Type::kI64, "index"));
    const Type element = loaded_type(p.dtype);
    if (!is_load) {
      if (v.args[1] == kNoValue) return bad_value(id, "stores nothing");
      NRD_TRY(want(id, v.args[1], element, "value"));
      return v.args[2] == kNoValue ? Expected<void>() : want(id, v.args[2], Type::kBool, "guard");
    }
    if (v.type != element) return bad_value(id, fmt::format("is not what {} holds", p.name));
    if ((v.args[1] == kNoValue) != (v.args[2] == kNoValue))
      return bad_value(id, "has a guard or a value without it, but not both");
    if (v.args[1] == kNoValue) return {};
    NRD_TRY(want(id, v.args[1], Type::kBool, "guard"));
    return want(id, v.args[2], v.type, "value without the guard");
  }

  Expected<void> check_compare(ValueId id) const {
    const Value& v = trace_[id];
    const Type type = trace_[v.args[0]].type;
    NRD_TRY(want(id, v.args[1], type, "second side"));
    if (!has_type(kMaskNumber, type)) return bad_value(id, "compares what are no numbers");
    if (is_float_predicate(v.predicate) != is_float(type))
      return bad_value(
          id, fmt::format("compares {} by {}", trace_type_word(type), predicate_word(v.predicate)));
    return {};
  }

  // A value that belongs to a loop and says so.
  Expected<void> check_part(ValueId statement, ValueId id, TraceOp op, size_t number, Type type) {
    const uint16_t loop = trace_[statement].index;
    if (id >= trace_.values.size())
      return bad_value(statement, fmt::format("has no {}", trace_op_word(op)));
    const Value& v = trace_[id];
    const bool matches =
        v.op == op && v.index == loop && v.type == type && (op == TraceOp::kIv || v.bits == number);
    if (!matches)
      return bad_value(id, fmt::format("is not {} {} of loop {}", trace_op_word(op), number, loop));
    if (state_[id] != kUnseen) return bad_value(id, "belongs to two loops");
    state_[id] = kVisible;
    return {};
  }

  Expected<void> check_loop(ValueId statement) {
    const uint16_t number = trace_[statement].index;
    if (number >= trace_.loops.size()) return bad_value(statement, "names no loop");
    if (loop_seen_[number]) return bad_value(statement, "runs a loop that stands elsewhere too");
    loop_seen_[number] = 1;
    const TraceLoop& loop = trace_.loops[number];
    NRD_TRY(check_use(statement, loop.extent));
    NRD_TRY(want(statement, loop.extent, Type::kI64, "extent"));
    for (const LoopCarry& c : loop.carries) NRD_TRY(check_use(statement, c.init));
    NRD_TRY(check_part(statement, loop.iv, TraceOp::kIv, 0, Type::kI64));
    for (size_t i = 0; i < loop.carries.size(); i++) {
      const LoopCarry& c = loop.carries[i];
      NRD_TRY(check_part(statement, c.carry, TraceOp::kCarry, i, trace_[c.init].type));
    }
    NRD_TRY(check_body(loop.body));
    for (const LoopCarry& c : loop.carries) {
      NRD_TRY(check_use(statement, c.next));
      NRD_TRY(want(statement, c.next, trace_[c.init].type, "next value"));
    }
    close(loop);
    for (size_t i = 0; i < loop.carries.size(); i++) {
      const LoopCarry& c = loop.carries[i];
      NRD_TRY(check_part(statement, c.result, TraceOp::kResult, i, trace_[c.init].type));
    }
    return {};
  }

  void close(const TraceLoop& loop) {
    state_[loop.iv] = kClosed;
    for (const LoopCarry& c : loop.carries) state_[c.carry] = kClosed;
    for (ValueId id : loop.body) {
      state_[id] = kClosed;
      if (trace_[id].op != TraceOp::kLoop) continue;
      for (const LoopCarry& c : trace_.loops[trace_[id].index].carries) state_[c.result] = kClosed;
    }
  }

  const OpTrace& trace_;
  std::vector<State> state_;
  std::vector<uint8_t> loop_seen_;
};

}  // namespace

Expected<void> verify_trace(const OpTrace& trace) { return Verifier(trace).run(); }

}  // namespace nrd
