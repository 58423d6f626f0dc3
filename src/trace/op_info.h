// SPDX-License-Identifier: MIT
// src/trace/op_info.h: what is true of every TraceOp of a kind, as one table.
#pragma once

#include "trace/trace.h"

namespace nrd {

enum TypeMask : uint8_t {
  kMaskF32 = 1 << static_cast<int>(TraceType::kF32),
  kMaskF64 = 1 << static_cast<int>(TraceType::kF64),
  kMaskI32 = 1 << static_cast<int>(TraceType::kI32),
  kMaskI64 = 1 << static_cast<int>(TraceType::kI64),
  kMaskBool = 1 << static_cast<int>(TraceType::kBool),
  kMaskNone = 1 << static_cast<int>(TraceType::kNone),
  kMaskFloat = kMaskF32 | kMaskF64,
  kMaskInteger = kMaskI32 | kMaskI64,
  kMaskNumber = kMaskFloat | kMaskInteger,
  kMaskBits = kMaskInteger | kMaskBool,
  kMaskAny = kMaskNumber | kMaskBool,
};

// How a value's arguments relate to its type.
enum class ArgRule : uint8_t {
  kNoArgs,    // leaves
  kSameType,  // every argument has the value's type
  kOwn,       // verify.cpp has a rule for this op
};

struct TraceOpInfo {
  TraceOp op;
  std::string_view word;
  int8_t arity;
  uint8_t types;  // TypeMask: what the value's type may be
  ArgRule rule;
};

const TraceOpInfo& op_info(TraceOp op);

inline bool has_type(uint8_t mask, TraceType type) { return mask >> static_cast<int>(type) & 1; }
inline bool is_float(TraceType type) { return has_type(kMaskFloat, type); }

// The only type an op can have (cmp: bool), which the text then leaves out, or kNone.
TraceType implied_type(TraceOp op);

// Without effect and equal whenever its arguments are: what may be computed once for several uses.
bool is_pure(TraceOp op);

// i64 arithmetic that the text writes inside [..] and loop extents: constants, sizes, counters and
// + - * / % min max of them.
bool is_index_op(const OpTrace& trace, const Value& value);

Predicate negation(Predicate p);   // true where p is false
Predicate exchanged(Predicate p);  // what b and a fulfil where a and b fulfil p

// What an element of a pointer parameter becomes when it is loaded.
TraceType loaded_type(DType dtype);

}  // namespace nrd
