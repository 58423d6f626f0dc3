// SPDX-License-Identifier: MIT
// src/jit/steps_values.h: the values that cutting a trace into steps adds to it. Private to steps.
#pragma once

#include <vector>

#include "trace/classify.h"
#include "trace/trace.h"

namespace nrd::jit {

// Values added to a trace.
class Pen {
 public:
  explicit Pen(OpTrace& trace) : trace_(trace) {}
  ValueId add(const Value& v) {
    trace_.values.push_back(v);
    return static_cast<ValueId>(trace_.values.size() - 1);
  }
  ValueId constant(TraceType type, uint64_t bits) {
    return add({.op = TraceOp::kConst, .type = type, .bits = bits});
  }
  ValueId op(TraceOp op, TraceType type, ValueId a, ValueId b, ValueId c = kNoValue) {
    return add({.op = op, .type = type, .args = {a, b, c}});
  }
  ValueId compare(Predicate p, ValueId a, ValueId b) {
    return add(
        {.op = TraceOp::kCmp, .type = TraceType::kBool, .predicate = p, .args = {a, b, kNoValue}});
  }
  ValueId load(uint16_t param, TraceType type, ValueId index) {
    return add(
        {.op = TraceOp::kLoad, .type = type, .index = param, .args = {index, kNoValue, kNoValue}});
  }
  ValueId store(uint16_t param, ValueId index, ValueId value) {
    return add({.op = TraceOp::kStore, .index = param, .args = {index, value, kNoValue}});
  }

 private:
  OpTrace& trace_;
};

// What a chunk starts from: adding to -0 changes nothing.
inline ValueId neutral(Pen& pen, CarryKind kind, TraceType type, ValueId init) {
  const bool is_f32 = type == TraceType::kF32, is_f64 = type == TraceType::kF64;
  if (kind == CarryKind::kSum) {
    return pen.constant(type, is_f32 ? 1ull << 31 : is_f64 ? 1ull << 63 : 0);
  }
  if (kind == CarryKind::kProduct) {
    return pen.constant(type, is_f32 ? 0x3f800000 : is_f64 ? 0x3ff0000000000000 : 1);
  }
  return init;
}

// What came before, and the next chunk's.
inline ValueId combined(Pen& pen, CarryKind kind, TraceType type, ValueId a, ValueId b) {
  switch (kind) {
    case CarryKind::kSum: return pen.op(TraceOp::kAdd, type, a, b);
    case CarryKind::kProduct: return pen.op(TraceOp::kMul, type, a, b);
    case CarryKind::kMaxFirst: return pen.op(TraceOp::kMaxFirst, type, b, a);
    case CarryKind::kMinFirst: return pen.op(TraceOp::kMinFirst, type, b, a);
    case CarryKind::kMaxNan: return pen.op(TraceOp::kMaxNan, type, a, b);
    case CarryKind::kMinNan: return pen.op(TraceOp::kMinNan, type, a, b);
    case CarryKind::kMaxNum: return pen.op(TraceOp::kMaxNum, type, a, b);
    case CarryKind::kMinNum: return pen.op(TraceOp::kMinNum, type, a, b);
    case CarryKind::kMax: return pen.op(TraceOp::kMax, type, a, b);
    default: return pen.op(TraceOp::kMin, type, a, b);
  }
}

// Appends what it needs to `body`.
inline ValueId is_better(Pen& pen, std::vector<ValueId>& body, CarryKind kind, TraceType type,
                         ValueId challenger, ValueId best) {
  auto keep = [&](ValueId id) {
    body.push_back(id);
    return id;
  };
  const bool is_max = kind == CarryKind::kMaxFirst || kind == CarryKind::kMaxNan ||
                      kind == CarryKind::kMaxNum || kind == CarryKind::kMax;
  if (type == TraceType::kI32) {
    return keep(pen.compare(is_max ? Predicate::kGt : Predicate::kLt, challenger, best));
  }
  const ValueId wins =
      keep(pen.compare(is_max ? Predicate::kOgt : Predicate::kOlt, challenger, best));
  if (kind != CarryKind::kMaxNan && kind != CarryKind::kMinNan) return wins;
  const ValueId is_nan = keep(pen.compare(Predicate::kUno, challenger, challenger));
  const ValueId was_none = keep(pen.compare(Predicate::kOrd, best, best));
  const ValueId is_first = keep(pen.op(TraceOp::kAnd, TraceType::kBool, is_nan, was_none));
  return keep(pen.op(TraceOp::kOr, TraceType::kBool, wins, is_first));
}

}  // namespace nrd::jit
