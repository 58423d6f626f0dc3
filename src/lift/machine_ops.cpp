// SPDX-License-Identifier: MIT
// src/lift/machine_ops.cpp: see machine_ops.h. Compiled without floating-point contraction.
#include "lift/machine_ops.h"

#include <cmath>
#include <optional>

#include "lift/simplify.h"
#include "trace/scalar_ops.h"

namespace nrd::lift::machine {
namespace {

template <class F>
std::optional<F> arithmetic(TraceOp op, F a, F b, F c) {
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
    case TraceOp::kRint: return std::rint(a);
    case TraceOp::kMaxFirst: return a > b ? a : b;
    case TraceOp::kMinFirst: return a < b ? a : b;
    case TraceOp::kMaxNan: return (a > b || a != a) ? a : b;
    case TraceOp::kMinNan: return (a < b || a != a) ? a : b;
    case TraceOp::kMaxNum: return scalar::max_num(a, b);
    case TraceOp::kMinNum: return scalar::min_num(a, b);
    case TraceOp::kCopySign: return std::copysign(a, b);
    default: return std::nullopt;
  }
}

template <class F>
std::optional<F> library(TraceOp op, F a, F b) {
  switch (op) {
    case TraceOp::kExp: return std::exp(a);
    case TraceOp::kExp2: return std::exp2(a);
    case TraceOp::kExpm1: return std::expm1(a);
    case TraceOp::kLog: return std::log(a);
    case TraceOp::kLog2: return std::log2(a);
    case TraceOp::kLog10: return std::log10(a);
    case TraceOp::kLog1p: return std::log1p(a);
    case TraceOp::kTanh: return std::tanh(a);
    case TraceOp::kErf: return std::erf(a);
    case TraceOp::kErfc: return std::erfc(a);
    case TraceOp::kSin: return std::sin(a);
    case TraceOp::kCos: return std::cos(a);
    case TraceOp::kTan: return std::tan(a);
    case TraceOp::kAsin: return std::asin(a);
    case TraceOp::kAcos: return std::acos(a);
    case TraceOp::kAtan: return std::atan(a);
    case TraceOp::kAtan2: return std::atan2(a, b);
    case TraceOp::kSinh: return std::sinh(a);
    case TraceOp::kCosh: return std::cosh(a);
    case TraceOp::kPow: return std::pow(a, b);
    case TraceOp::kCbrt: return std::cbrt(a);
    case TraceOp::kFmod: return std::fmod(a, b);
    case TraceOp::kHypot: return std::hypot(a, b);
    default: return std::nullopt;
  }
}

template <class F>
std::optional<uint64_t> float_operation(TraceOp op, const std::array<uint64_t, 3>& args) {
  const F a = number<F>(args[0]), b = number<F>(args[1]), c = number<F>(args[2]);
  std::optional<F> value = arithmetic(op, a, b, c);
  if (!value) value = library(op, a, b);
  return value ? std::optional(bits_of(*value)) : std::nullopt;
}

std::optional<uint64_t> integer_operation(TraceOp op, Type type, uint64_t a, uint64_t b) {
  const int64_t x = as_signed(a, type), y = as_signed(b, type);
  const uint64_t count = b & (type_bits(type) == 64 ? 63 : 31);
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kNeg: return 0 - a;
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kNot: return a ^ 1;
    case TraceOp::kShl: return a << count;
    case TraceOp::kShr: return a >> count;
    case TraceOp::kSar: return static_cast<uint64_t>(x >> count);
    case TraceOp::kMin: return x < y ? a : b;
    case TraceOp::kMax: return x > y ? a : b;
    case TraceOp::kAbs: return x < 0 ? 0 - a : a;
    default: return std::nullopt;
  }
}

std::optional<uint64_t> conversion(TraceOp op, Type from, uint64_t a) {
  const bool floats = is_float(from);
  const double x = from == Type::kF32 ? number<float>(a) : number<double>(a);
  switch (op) {
    case TraceOp::kBitcast: return a;
    case TraceOp::kUToI64: return masked(a, from);
    case TraceOp::kToF32:
      return bits_of(floats ? static_cast<float>(x) : static_cast<float>(as_signed(a, from)));
    case TraceOp::kToF64: return bits_of(floats ? x : static_cast<double>(as_signed(a, from)));
    case TraceOp::kToI32: return floats ? static_cast<uint64_t>(scalar::from_float<int32_t>(x)) : a;
    case TraceOp::kToI64:
      return static_cast<uint64_t>(floats ? scalar::from_float<int64_t>(x) : as_signed(a, from));
    default: return std::nullopt;
  }
}

bool compare(Predicate predicate, Type from, uint64_t a, uint64_t b) {
  if (from == Type::kF32)
    return scalar::compare_floats(predicate, number<float>(a), number<float>(b));
  if (from == Type::kF64)
    return scalar::compare_floats(predicate, number<double>(a), number<double>(b));
  if (is_unsigned(predicate))
    return scalar::compare_integers(predicate, static_cast<int64_t>(masked(a, from)),
                                    static_cast<int64_t>(masked(b, from)));
  return scalar::compare_integers(predicate, as_signed(a, from), as_signed(b, from));
}

std::optional<uint64_t> operation(TraceOp op, Predicate predicate, Type type, Type from,
                                  const std::array<uint64_t, 3>& args) {
  if (op == TraceOp::kCmp) return compare(predicate, from, args[0], args[1]);
  if (op == TraceOp::kSelect) return args[0] != 0 ? args[1] : args[2];
  if (op >= TraceOp::kToF32 && op <= TraceOp::kBitcast) return conversion(op, from, args[0]);
  if (type == Type::kF32) return float_operation<float>(op, args);
  if (type == Type::kF64) return float_operation<double>(op, args);
  return integer_operation(op, type, args[0], args[1]);
}

}  // namespace

uint64_t divide(Kind kind, Type type, uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  if (kind == Kind::kUDiv) return a / b;
  if (kind == Kind::kURem) return a % b;
  const int64_t x = as_signed(a, type), y = as_signed(b, type);
  if (y == -1) return kind == Kind::kSDiv ? 0 - static_cast<uint64_t>(x) : 0;
  return static_cast<uint64_t>(kind == Kind::kSDiv ? x / y : x % y);
}

bool knows(TraceOp op, Type type, Type from) {
  return operation(op, Predicate::kEq, type, from, {}).has_value();
}

uint64_t pure(TraceOp op, Predicate predicate, Type type, Type from,
              const std::array<uint64_t, 3>& args) {
  return operation(op, predicate, type, from, args).value_or(0);
}

}  // namespace nrd::lift::machine
