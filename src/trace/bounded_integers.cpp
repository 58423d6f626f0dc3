// SPDX-License-Identifier: MIT
// src/trace/bounded_integers.cpp: integers, bools, comparisons and conversions with bounds.
#include <algorithm>
#include <bit>
#include <cmath>

#include "trace/bounded.h"
#include "trace/bounded_ops.h"
#include "trace/op_info.h"
#include "trace/scalar_ops.h"

namespace nrd::bounded {
namespace {

Slot integer_slot(int64_t value, double bound) { return {.bound = bound, .integer = value}; }

template <class T>
int64_t compute(TraceOp op, T a, T b) {
  switch (op) {
    case TraceOp::kAdd: return scalar::wrap_add(a, b);
    case TraceOp::kSub: return scalar::wrap_sub(a, b);
    case TraceOp::kMul: return scalar::wrap_mul(a, b);
    case TraceOp::kNeg: return scalar::wrap_neg(a);
    case TraceOp::kAbs: return a < 0 ? scalar::wrap_neg(a) : a;
    case TraceOp::kDivFloor: return scalar::div_floor(a, b);
    case TraceOp::kModFloor: return scalar::mod_floor(a, b);
    case TraceOp::kMin: return scalar::min_first(a, b);
    case TraceOp::kMax: return scalar::max_first(a, b);
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kShl: return scalar::shift_left(a, b);
    case TraceOp::kShr: return scalar::shift_right(a, b);
    default: return scalar::shift_signed(a, b);
  }
}

// Of operands of which one is uncertain. Where an operation has no slope nothing is known.
double integer_bound(TraceOp op, const Slot& a, const Slot& b) {
  const double x = std::fabs(static_cast<double>(a.integer));
  const double y = std::fabs(static_cast<double>(b.integer));
  switch (op) {
    case TraceOp::kAdd:
    case TraceOp::kSub: return a.bound + b.bound;
    case TraceOp::kNeg:
    case TraceOp::kAbs: return a.bound;
    case TraceOp::kMin:
    case TraceOp::kMax: return std::max(a.bound, b.bound);
    case TraceOp::kMul: return x * b.bound + y * a.bound + a.bound * b.bound;
    default: return kInfinity;
  }
}

Slot apply_bool(TraceOp op, const Slot& a, const Slot& b) {
  const bool open_a = a.bound > 0;
  const bool open_b = b.bound > 0;
  switch (op) {
    case TraceOp::kNot: return integer_slot(!a.integer, a.bound);
    case TraceOp::kAnd: {
      const bool settled = (!open_a && !a.integer) || (!open_b && !b.integer);
      return integer_slot(a.integer & b.integer, !settled && (open_a || open_b));
    }
    case TraceOp::kOr: {
      const bool settled = (!open_a && a.integer) || (!open_b && b.integer);
      return integer_slot(a.integer | b.integer, !settled && (open_a || open_b));
    }
    default: return integer_slot(a.integer ^ b.integer, open_a || open_b);
  }
}

// Might a comparison of floats go the other way?
bool is_open(const Value& v, const Slot& a, const Slot& b) {
  const double bound = a.bound + b.bound;
  if (bound == 0) return false;
  if (!(bound < kInfinity)) return true;
  const bool has_nan = a.value != a.value || b.value != b.value;
  const bool only_nan_matters =
      v.predicate == Predicate::kOrd || v.predicate == Predicate::kUno || v.args[0] == v.args[1];
  if (has_nan || only_nan_matters) return false;
  return std::fabs(a.value - b.value) <= kDecisionSlack * bound;
}

// Truncation to an integer type.
template <class T>
Slot truncated(const Slot& a) {
  const T here = scalar::from_float<T>(a.value);
  if (a.bound == 0) return integer_slot(here, 0);
  if (!(a.bound < kInfinity)) return integer_slot(here, kInfinity);
  double most = 0;
  for (const double end : {-kDecisionSlack, kDecisionSlack}) {
    const T there = scalar::from_float<T>(a.value + end * a.bound);
    most = std::max(most, std::fabs(static_cast<double>(there) - static_cast<double>(here)));
  }
  return integer_slot(here, most);
}

int64_t bits_of(TraceType from, double value) {
  if (from == TraceType::kF32) return std::bit_cast<int32_t>(static_cast<float>(value));
  return std::bit_cast<int64_t>(value);
}

// Bits of floats of one sign are in the order of their magnitudes.
Slot to_bits(TraceType from, const Slot& a) {
  const int64_t here = bits_of(from, a.value);
  if (a.bound == 0) return integer_slot(here, 0);
  const double slack = kDecisionSlack * a.bound;
  if (!(slack < std::fabs(a.value))) return integer_slot(here, kInfinity);
  double most = 0;
  for (const double end : {a.value - slack, a.value + slack})
    most = std::max(most, std::fabs(static_cast<double>(bits_of(from, end) - here)));
  return integer_slot(here, most);
}

double float_of_bits(TraceType to, int64_t bits) {
  if (to == TraceType::kF32) return std::bit_cast<float>(static_cast<int32_t>(bits));
  return std::bit_cast<double>(bits);
}

Slot from_bits(TraceType to, const Slot& a) {
  const double here = float_of_bits(to, a.integer);
  if (a.bound == 0) return {.value = here, .bound = 0};
  if (!(a.bound < 0x1p31)) return {.value = here, .bound = kInfinity};
  const auto reach = static_cast<int64_t>(a.bound);
  double most = 0;
  for (const int64_t end : {a.integer - reach, a.integer + reach}) {
    const double there = float_of_bits(to, end);
    const bool sign_kept = std::signbit(there) == std::signbit(here);
    most = std::max(most, sign_kept ? std::fabs(there - here) : kInfinity);
  }
  return {.value = here, .bound = most == most ? most : kInfinity};
}

Slot to_float(TraceType to, TraceType from, const Slot& a) {
  if (is_float(from)) {
    if (to == TraceType::kF64) return {.value = a.value, .bound = a.bound};
    const bool exact = a.bound == 0 && static_cast<double>(static_cast<float>(a.value)) == a.value;
    return rounded(to, a.value, a.bound, exact ? 0 : 1, !exact);
  }
  const auto value = static_cast<double>(a.integer);
  const bool exact = std::fabs(value) + a.bound <= (to == TraceType::kF32 ? 0x1p24 : 0x1p53);
  return rounded(to, value, a.bound, exact ? 0 : 1, false);
}

}  // namespace

Slot constant(TraceType type, uint64_t bits) {
  switch (type) {
    case TraceType::kF32: return {.value = std::bit_cast<float>(static_cast<uint32_t>(bits))};
    case TraceType::kF64: return {.value = std::bit_cast<double>(bits)};
    case TraceType::kI32: return integer_slot(static_cast<int32_t>(bits), 0);
    default: return integer_slot(static_cast<int64_t>(bits), 0);
  }
}

Slot lookup(const TraceTable& table, const Slot& index) {
  Slot here = constant(table.type, table.at(index.integer));
  if (index.bound == 0) return here;
  const auto reach = static_cast<int64_t>(std::min(index.bound, 0x1p32));
  const auto last = static_cast<int64_t>(table.elements.size()) - 1;
  const int64_t begin = std::clamp<int64_t>(index.integer - reach, 0, last);
  const int64_t end = std::clamp<int64_t>(index.integer + reach, 0, last);
  for (int64_t i = begin; i <= end; i++) {
    const Slot there = constant(table.type, table.at(i));
    const double apart = is_float(table.type)
                             ? distance(here.value, there.value)
                             : std::fabs(static_cast<double>(here.integer - there.integer));
    here.bound = std::max(here.bound, apart);
  }
  return here;
}

Slot apply_integer(const OpTrace&, const Value& v, const Slot& a, const Slot& b) {
  if (v.type == TraceType::kBool) return apply_bool(v.op, a, b);
  const bool narrow = v.type == TraceType::kI32;
  const int64_t value =
      narrow ? compute(v.op, static_cast<int32_t>(a.integer), static_cast<int32_t>(b.integer))
             : compute(v.op, a.integer, b.integer);
  const bool exact = a.bound == 0 && (trace_op_arity(v.op) == 1 || b.bound == 0);
  return integer_slot(value, exact ? 0 : integer_bound(v.op, a, b));
}

Slot compare(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b) {
  const TraceType type = trace[v.args[0]].type;
  if (is_float(type)) {
    const bool holds = scalar::compare_floats(v.predicate, a.value, b.value);
    return integer_slot(holds, is_open(v, a, b) ? 1 : 0);
  }
  const bool holds = type == TraceType::kI32
                         ? scalar::compare_integers(v.predicate, static_cast<int32_t>(a.integer),
                                                    static_cast<int32_t>(b.integer))
                         : scalar::compare_integers(v.predicate, a.integer, b.integer);
  const double bound = a.bound + b.bound;
  const double apart = std::fabs(static_cast<double>(a.integer) - static_cast<double>(b.integer));
  return integer_slot(holds, bound > 0 && apart <= bound ? 1 : 0);
}

Slot convert(TraceOp op, TraceType from, TraceType to, const Slot& a) {
  switch (op) {
    case TraceOp::kToF32:
    case TraceOp::kToF64: return to_float(to, from, a);
    case TraceOp::kBitcast: return is_float(from) ? to_bits(from, a) : from_bits(to, a);
    case TraceOp::kUToI64: {
      const auto value = static_cast<int64_t>(static_cast<uint32_t>(a.integer));
      return integer_slot(value, a.integer >= 0 || a.bound == 0 ? a.bound : kInfinity);
    }
    case TraceOp::kToI32:
      if (from == TraceType::kI64) return integer_slot(static_cast<int32_t>(a.integer), a.bound);
      return truncated<int32_t>(a);
    default:
      if (from == TraceType::kI32) return integer_slot(a.integer, a.bound);
      return truncated<int64_t>(a);
  }
}

}  // namespace nrd::bounded
