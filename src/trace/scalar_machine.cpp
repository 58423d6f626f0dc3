// SPDX-License-Identifier: MIT
// src/trace/scalar_machine.cpp: the operations of a trace, each in its value's type.
//
// Compiled without floating-point contraction (CMakeLists.txt): an f32 operation here is one
// rounding, as in the function the trace came from.
#include "trace/scalar_machine.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/convert.h"
#include "trace/scalar_ops.h"

namespace nrd::scalar {
namespace {

template <class T, auto kFunction>
const Op* unary(Machine& m, const Op* op) {
  m.slots[op->to] = put(kFunction(get<T>(m.slots[op->a])));
  return op + 1;
}

template <class T, auto kFunction>
const Op* binary(Machine& m, const Op* op) {
  m.slots[op->to] = put(kFunction(get<T>(m.slots[op->a]), get<T>(m.slots[op->b])));
  return op + 1;
}

template <class T>
const Op* fused(Machine& m, const Op* op) {
  m.slots[op->to] =
      put(std::fma(get<T>(m.slots[op->a]), get<T>(m.slots[op->b]), get<T>(m.slots[op->c])));
  return op + 1;
}

const Op* select(Machine& m, const Op* op) {
  m.slots[op->to] = m.slots[op->a] ? m.slots[op->b] : m.slots[op->c];
  return op + 1;
}

// The number, or where it is a NaN the one that the caller chose.
template <class T>
T with_chosen_nan(const Machine& m, T x) {
  if (x == x || m.nan_sign == 0) return x;
  return std::copysign(std::numeric_limits<T>::quiet_NaN(), static_cast<T>(m.nan_sign));
}

template <class T>
const Op* copy_sign(Machine& m, const Op* op) {
  const T sign = with_chosen_nan(m, get<T>(m.slots[op->b]));
  m.slots[op->to] = put(std::copysign(get<T>(m.slots[op->a]), sign));
  return op + 1;
}

template <class T>
const Op* bits_of(Machine& m, const Op* op) {
  m.slots[op->to] = put(with_chosen_nan(m, get<T>(m.slots[op->a])));
  return op + 1;
}

const Op* copy(Machine& m, const Op* op) {
  m.slots[op->to] = m.slots[op->a];
  return op + 1;
}

const Op* lookup(Machine& m, const Op* op) {
  m.slots[op->to] = op->table->at(get<int32_t>(m.slots[op->a]));
  return op + 1;
}

const Op* round_to(Machine& m, const Op* op) {
  m.slots[op->to] = put(m.round_to(get<float>(m.slots[op->a]), get<int32_t>(m.slots[op->b])));
  return op + 1;
}

template <class T>
const Op* compare(Machine& m, const Op* op) {
  const T a = get<T>(m.slots[op->a]);
  const T b = get<T>(m.slots[op->b]);
  if constexpr (std::is_integral_v<T>) {
    m.slots[op->to] = compare_integers(op->predicate, a, b);
  } else {
    m.slots[op->to] = compare_floats(op->predicate, a, b);
  }
  return op + 1;
}

// Whether the element that the slot names is there.
bool inside(Machine& m, const Op* op) {
  const bool is = m.slots[op->a] < op->elements;
  m.outside |= !is;
  return is;
}

// Op::b of a load, Op::c of a store: the guard, which is a slot that holds true where none is.
template <class Element, class Loaded>
const Op* load(Machine& m, const Op* op) {
  if (m.slots[op->b]) {
    if (!inside(m, op)) return op + 1;
    Element e;
    std::memcpy(&e, op->memory + get<int64_t>(m.slots[op->a]) * int64_t{sizeof(e)}, sizeof(e));
    m.slots[op->to] = put(static_cast<Loaded>(e));
  } else {
    m.slots[op->to] = m.slots[op->c];
  }
  return op + 1;
}

template <class Element, class Loaded>
const Op* store(Machine& m, const Op* op) {
  if (m.slots[op->c] && inside(m, op)) {
    const auto e = static_cast<Element>(get<Loaded>(m.slots[op->b]));
    std::memcpy(op->memory + get<int64_t>(m.slots[op->a]) * int64_t{sizeof(e)}, &e, sizeof(e));
  }
  return op + 1;
}

// Floats narrower than f32.
const Op* load_narrow(Machine& m, const Op* op) {
  if (m.slots[op->b]) {
    if (!inside(m, op)) return op + 1;
    const auto bytes = static_cast<int64_t>(byte_size(op->dtype));
    uint64_t code = 0;
    std::memcpy(&code, op->memory + get<int64_t>(m.slots[op->a]) * bytes,
                static_cast<size_t>(bytes));
    m.slots[op->to] = put(static_cast<float>(decode(code, op->dtype)));
  } else {
    m.slots[op->to] = m.slots[op->c];
  }
  return op + 1;
}

const Op* store_narrow(Machine& m, const Op* op) {
  if (m.slots[op->c] && inside(m, op)) {
    const auto bytes = static_cast<int64_t>(byte_size(op->dtype));
    const uint64_t code = encode(get<float>(m.slots[op->b]), op->dtype, Overflow::kIeee);
    std::memcpy(op->memory + get<int64_t>(m.slots[op->a]) * bytes, &code,
                static_cast<size_t>(bytes));
  }
  return op + 1;
}

Run bitcast_run(TraceType from) {
  if (from == TraceType::kF32) return bits_of<float>;
  return from == TraceType::kF64 ? bits_of<double> : copy;
}

template <class T>
Run float_run(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd: return binary<T, [](T a, T b) { return a + b; }>;
    case TraceOp::kSub: return binary<T, [](T a, T b) { return a - b; }>;
    case TraceOp::kMul: return binary<T, [](T a, T b) { return a * b; }>;
    case TraceOp::kDiv: return binary<T, [](T a, T b) { return a / b; }>;
    case TraceOp::kFma: return fused<T>;
    case TraceOp::kNeg: return unary<T, [](T a) { return -a; }>;
    case TraceOp::kAbs: return unary<T, [](T a) { return std::fabs(a); }>;
    case TraceOp::kSqrt: return unary<T, [](T a) { return std::sqrt(a); }>;
    case TraceOp::kFloor: return unary<T, [](T a) { return std::floor(a); }>;
    case TraceOp::kCeil: return unary<T, [](T a) { return std::ceil(a); }>;
    case TraceOp::kTrunc: return unary<T, [](T a) { return std::trunc(a); }>;
    case TraceOp::kRint: return unary<T, [](T a) { return std::rint(a); }>;
    case TraceOp::kMaxFirst: return binary<T, max_first<T>>;
    case TraceOp::kMinFirst: return binary<T, min_first<T>>;
    case TraceOp::kMaxNan: return binary<T, max_nan<T>>;
    case TraceOp::kMinNan: return binary<T, min_nan<T>>;
    case TraceOp::kMaxNum: return binary<T, max_num<T>>;
    case TraceOp::kMinNum: return binary<T, min_num<T>>;
    case TraceOp::kCopySign: return copy_sign<T>;
    case TraceOp::kExp: return unary<T, [](T a) { return std::exp(a); }>;
    case TraceOp::kExp2: return unary<T, [](T a) { return std::exp2(a); }>;
    case TraceOp::kExpm1: return unary<T, [](T a) { return std::expm1(a); }>;
    case TraceOp::kLog: return unary<T, [](T a) { return std::log(a); }>;
    case TraceOp::kLog2: return unary<T, [](T a) { return std::log2(a); }>;
    case TraceOp::kLog10: return unary<T, [](T a) { return std::log10(a); }>;
    case TraceOp::kLog1p: return unary<T, [](T a) { return std::log1p(a); }>;
    case TraceOp::kTanh: return unary<T, [](T a) { return std::tanh(a); }>;
    case TraceOp::kErf: return unary<T, [](T a) { return std::erf(a); }>;
    case TraceOp::kSin: return unary<T, [](T a) { return std::sin(a); }>;
    case TraceOp::kCos: return unary<T, [](T a) { return std::cos(a); }>;
    case TraceOp::kTan: return unary<T, [](T a) { return std::tan(a); }>;
    case TraceOp::kPow: return binary<T, [](T a, T b) { return std::pow(a, b); }>;
    case TraceOp::kAtan: return unary<T, [](T a) { return std::atan(a); }>;
    case TraceOp::kAtan2: return binary<T, [](T a, T b) { return std::atan2(a, b); }>;
    case TraceOp::kAsin: return unary<T, [](T a) { return std::asin(a); }>;
    case TraceOp::kAcos: return unary<T, [](T a) { return std::acos(a); }>;
    case TraceOp::kSinh: return unary<T, [](T a) { return std::sinh(a); }>;
    case TraceOp::kCosh: return unary<T, [](T a) { return std::cosh(a); }>;
    case TraceOp::kErfc: return unary<T, [](T a) { return std::erfc(a); }>;
    case TraceOp::kCbrt: return unary<T, [](T a) { return std::cbrt(a); }>;
    case TraceOp::kFmod: return binary<T, [](T a, T b) { return std::fmod(a, b); }>;
    case TraceOp::kHypot: return binary<T, [](T a, T b) { return std::hypot(a, b); }>;
    default: return nullptr;
  }
}

template <class T>
Run integer_run(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd: return binary<T, wrap_add<T>>;
    case TraceOp::kSub: return binary<T, wrap_sub<T>>;
    case TraceOp::kMul: return binary<T, wrap_mul<T>>;
    case TraceOp::kNeg: return unary<T, wrap_neg<T>>;
    case TraceOp::kAbs: return unary<T, [](T a) { return a < 0 ? wrap_neg(a) : a; }>;
    case TraceOp::kDivFloor: return binary<T, div_floor<T>>;
    case TraceOp::kModFloor: return binary<T, mod_floor<T>>;
    case TraceOp::kMin: return binary<T, min_first<T>>;
    case TraceOp::kMax: return binary<T, max_first<T>>;
    case TraceOp::kAnd: return binary<T, [](T a, T b) { return static_cast<T>(a & b); }>;
    case TraceOp::kOr: return binary<T, [](T a, T b) { return static_cast<T>(a | b); }>;
    case TraceOp::kXor: return binary<T, [](T a, T b) { return static_cast<T>(a ^ b); }>;
    case TraceOp::kShl: return binary<T, shift_left<T>>;
    case TraceOp::kShr: return binary<T, shift_right<T>>;
    case TraceOp::kSar: return binary<T, shift_signed<T>>;
    default: return nullptr;
  }
}

Run bool_run(TraceOp op) {
  switch (op) {
    case TraceOp::kAnd: return binary<uint64_t, [](uint64_t a, uint64_t b) { return a & b; }>;
    case TraceOp::kOr: return binary<uint64_t, [](uint64_t a, uint64_t b) { return a | b; }>;
    case TraceOp::kXor: return binary<uint64_t, [](uint64_t a, uint64_t b) { return a ^ b; }>;
    case TraceOp::kNot: return unary<uint64_t, [](uint64_t a) { return a ^ 1; }>;
    default: return nullptr;
  }
}

// A conversion by C++'s rules, where those say all.
template <class From, class To>
Run cast() {
  return unary<From, [](From a) { return static_cast<To>(a); }>;
}

Run conversion_run(TraceOp op, TraceType from) {
  switch (op) {
    case TraceOp::kToF32:
      if (from == TraceType::kF64) return cast<double, float>();
      return from == TraceType::kI32 ? cast<int32_t, float>() : cast<int64_t, float>();
    case TraceOp::kToF64:
      if (from == TraceType::kF32) return cast<float, double>();
      return from == TraceType::kI32 ? cast<int32_t, double>() : cast<int64_t, double>();
    case TraceOp::kToI32:
      if (from == TraceType::kI64) return cast<uint64_t, uint32_t>();
      if (from == TraceType::kF32)
        return unary<float, [](float a) { return from_float<int32_t>(a); }>;
      return unary<double, from_float<int32_t>>;
    case TraceOp::kToI64:
      if (from == TraceType::kI32) return cast<int32_t, int64_t>();
      if (from == TraceType::kF32)
        return unary<float, [](float a) { return from_float<int64_t>(a); }>;
      return unary<double, from_float<int64_t>>;
    default: return cast<uint32_t, uint64_t>();  // kUToI64
  }
}

Run compare_run(TraceType type) {
  switch (type) {
    case TraceType::kF32: return compare<float>;
    case TraceType::kF64: return compare<double>;
    case TraceType::kI32: return compare<int32_t>;
    default: return compare<int64_t>;
  }
}

Run memory_run(TraceOp op, DType dtype) {
  const bool is_load = op == TraceOp::kLoad;
  switch (dtype) {
    case DType::kF32: return is_load ? load<float, float> : store<float, float>;
    case DType::kF64: return is_load ? load<double, double> : store<double, double>;
    case DType::kI32: return is_load ? load<int32_t, int32_t> : store<int32_t, int32_t>;
    case DType::kI8: return is_load ? load<int8_t, int32_t> : store<int8_t, int32_t>;
    case DType::kU8: return is_load ? load<uint8_t, int32_t> : store<uint8_t, int32_t>;
    default: return is_load ? load_narrow : store_narrow;
  }
}

}  // namespace

Run run_of(const OpTrace& trace, const Value& v) {
  switch (v.op) {
    case TraceOp::kLoad:
    case TraceOp::kStore: return memory_run(v.op, trace.params[v.index].dtype);
    case TraceOp::kRoundTo: return round_to;
    case TraceOp::kCmp: return compare_run(trace[v.args[0]].type);
    case TraceOp::kSelect: return select;
    case TraceOp::kLookup: return lookup;
    case TraceOp::kBitcast: return bitcast_run(trace[v.args[0]].type);
    case TraceOp::kToF32:
    case TraceOp::kToF64:
    case TraceOp::kToI32:
    case TraceOp::kToI64:
    case TraceOp::kUToI64: return conversion_run(v.op, trace[v.args[0]].type);
    default: break;
  }
  switch (v.type) {
    case TraceType::kF32: return float_run<float>(v.op);
    case TraceType::kF64: return float_run<double>(v.op);
    case TraceType::kI32: return integer_run<int32_t>(v.op);
    case TraceType::kI64: return integer_run<int64_t>(v.op);
    default: return bool_run(v.op);
  }
}

}  // namespace nrd::scalar
