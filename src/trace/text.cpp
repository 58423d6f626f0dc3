// SPDX-License-Identifier: MIT
// src/trace/text.cpp: the writer of the text form. parse.cpp is the reader.
#include "trace/text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "trace/liveness.h"
#include "trace/op_info.h"

namespace nrd {
namespace {

// Longer index expressions get a line: shared parts would make their tree exponentially large.
constexpr uint32_t kMaxInline = 40;

enum Binding { kSum = 1, kProduct = 2, kAtom = 3 };  // how tightly an infix operator binds

struct Infix {
  char symbol;
  Binding binding;
};

Infix infix_of(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd: return {'+', kSum};
    case TraceOp::kSub: return {'-', kSum};
    case TraceOp::kMul: return {'*', kProduct};
    case TraceOp::kDivFloor: return {'/', kProduct};
    case TraceOp::kModFloor: return {'%', kProduct};
    default: return {0, kAtom};
  }
}

std::string float_literal(double value, uint64_t bits, uint64_t default_nan) {
  if (std::isnan(value)) return bits == default_nan ? "nan" : fmt::format("nan:0x{:x}", bits);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:a}", value);
}

std::string literal(const Value& v) {
  switch (v.type) {
    case TraceType::kF32: {
      const auto bits = static_cast<uint32_t>(v.bits);
      return float_literal(std::bit_cast<float>(bits), bits, 0x7fc00000);
    }
    case TraceType::kF64:
      return float_literal(std::bit_cast<double>(v.bits), v.bits, 0x7ff8000000000000);
    case TraceType::kI32: return std::to_string(static_cast<int32_t>(v.bits));
    case TraceType::kBool: return v.bits ? "true" : "false";
    default: return std::to_string(static_cast<int64_t>(v.bits));
  }
}

std::string param_line(const TraceParam& p) {
  switch (p.kind) {
    case TraceParamKind::kSize: return fmt::format("param {} : size\n", p.name);
    case TraceParamKind::kInt: return fmt::format("param {} : int\n", p.name);
    case TraceParamKind::kNumber:
      return fmt::format("param {} : number {}\n", p.name, word(p.dtype));
    case TraceParamKind::kPointer: break;
  }
  constexpr std::string_view kUses[] = {"unused", "in", "out", "inout"};
  return fmt::format("param {} : {} {}\n", p.name, kUses[p.read + 2 * p.written], word(p.dtype));
}

std::string table_line(const TraceTable& table, size_t number) {
  std::string line = fmt::format("table t{} : {}", number, trace_type_word(table.type));
  for (const uint64_t bits : table.elements)
    line += " " + literal({.type = table.type, .bits = bits});
  return line + "\n";
}

class Writer {
 public:
  explicit Writer(const OpTrace& trace)
      : trace_(trace),
        live_(live_values(trace)),
        number_(trace.values.size(), 0),
        length_(trace.values.size(), 1),
        counter_(trace.loops.size(), 0) {}

  std::string write() {
    out_ = fmt::format("trace {} : {}\n", trace_.name, op_class_word(trace_.op_class));
    for (const TraceParam& p : trace_.params) out_ += param_line(p);
    for (size_t i = 0; i < trace_.tables.size(); i++) out_ += table_line(trace_.tables[i], i);
    body(trace_.body, "");
    return std::move(out_);
  }

 private:
  void body(const std::vector<ValueId>& statements, const std::string& indent) {
    for (ValueId id : statements) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop) {
        if (live_.loops[v.index]) loop(v.index, indent);
      } else if (v.op == TraceOp::kStore) {
        out_ += indent + store_text(v) + "\n";
      } else if (live_.values[id] && !becomes_inline(id)) {
        const std::string right = value_text(v);
        out_ += fmt::format("{}{} = {}\n", indent, define(id), right);
      }
    }
  }

  bool becomes_inline(ValueId id) {
    const Value& v = trace_[id];
    if (!is_index_op(trace_, v)) return false;
    for (ValueId arg : v.args) {
      if (arg != kNoValue) length_[id] += is_inline(arg) ? length_[arg] : 1;
    }
    return length_[id] <= kMaxInline;
  }

  bool is_inline(ValueId id) const { return number_[id] == 0 && is_index_op(trace_, trace_[id]); }

  void loop(uint16_t number, const std::string& indent) {
    const TraceLoop& l = trace_.loops[number];
    counter_[number] = loops_++;
    out_ += fmt::format("{}for i{} < {}", indent, counter_[number], index(l.extent, kSum));
    std::string separator = " carry ";
    std::vector<LoopCarry> carries;
    for (const LoopCarry& c : l.carries) {
      if (!live_.values[c.carry]) continue;
      carries.push_back(c);
      const std::string init = operand(c.init);
      out_ += fmt::format("{}{} = {}", separator, define(c.carry), init);
      separator = ", ";
    }
    out_ += " {\n";
    body(l.body, indent + "  ");
    out_ += indent + "}";
    if (!carries.empty()) next_text(carries);
    out_ += "\n";
  }

  void next_text(const std::vector<LoopCarry>& carries) {
    for (size_t i = 0; i < carries.size(); i++)
      out_ += (i == 0 ? " next " : ", ") + operand(carries[i].next);
    for (size_t i = 0; i < carries.size(); i++)
      out_ += (i == 0 ? " -> " : ", ") + define(carries[i].result);
  }

  std::string element(const Value& v) {
    return fmt::format("{}[{}]", trace_.params[v.index].name, index(v.args[0], kSum));
  }

  std::string store_text(const Value& v) {
    std::string text = fmt::format("store {} {}", element(v), operand(v.args[1]));
    if (v.args[2] != kNoValue) text += " if " + operand(v.args[2]);
    return text;
  }

  std::string value_text(const Value& v) {
    std::string text(trace_op_word(v.op));
    if (v.op == TraceOp::kCmp) {
      text += fmt::format(" {}", predicate_word(v.predicate));
    } else if (implied_type(v.op) == TraceType::kNone) {
      text += fmt::format(" {}", trace_type_word(v.type));
    }
    if (v.op == TraceOp::kConst) return text + " " + literal(v);
    if (v.op == TraceOp::kParam) return text + " " + trace_.params[v.index].name;
    if (v.op == TraceOp::kLookup) text += fmt::format(" t{}", v.index);
    if (v.op == TraceOp::kLoad) {
      text += " " + element(v);
      if (v.args[1] == kNoValue) return text;
      return fmt::format("{} if {} else {}", text, operand(v.args[1]), operand(v.args[2]));
    }
    for (int i = 0; i < trace_op_arity(v.op); i++)
      text += " " + operand(v.args[static_cast<size_t>(i)]);
    return text;
  }

  std::string define(ValueId id) {
    number_[id] = ++values_;
    return fmt::format("%{}", number_[id]);
  }

  std::string operand(ValueId id) { return index(id, kAtom); }

  std::string index(ValueId id, Binding around) {
    const Value& v = trace_[id];
    if (!is_inline(id)) return fmt::format("%{}", number_[id]);
    switch (v.op) {
      case TraceOp::kConst: return literal(v);
      case TraceOp::kParam: return trace_.params[v.index].name;
      case TraceOp::kIv: return fmt::format("i{}", counter_[v.index]);
      case TraceOp::kNeg: return fmt::format("-({})", index(v.args[0], kSum));
      case TraceOp::kMin:
      case TraceOp::kMax:
        return fmt::format("{}({}, {})", trace_op_word(v.op), index(v.args[0], kSum),
                           index(v.args[1], kSum));
      default: break;
    }
    const Infix infix = infix_of(v.op);
    const auto right = static_cast<Binding>(infix.binding + 1);
    std::string text = fmt::format("{} {} {}", index(v.args[0], infix.binding), infix.symbol,
                                   index(v.args[1], right));
    return infix.binding < around ? "(" + text + ")" : text;
  }

  const OpTrace& trace_;
  Liveness live_;
  std::vector<uint32_t> number_;   // of each value that has a line so far, from 1
  std::vector<uint32_t> length_;   // of each index expression, written inline
  std::vector<uint32_t> counter_;  // of each loop
  uint32_t values_ = 0;
  uint32_t loops_ = 0;
  std::string out_;
};

}  // namespace

std::string trace_text(const OpTrace& trace) { return Writer(trace).write(); }

}  // namespace nrd
