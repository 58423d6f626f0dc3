// SPDX-License-Identifier: MIT
// src/trace/bounded_ops.cpp: float operations on values with bounds.
#include "trace/bounded_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/convert.h"
#include "trace/bounded.h"
#include "trace/op_info.h"
#include "trace/scalar_ops.h"

namespace nrd::bounded {
namespace {

constexpr double kHalfUnit = 1;       // of the last place: arithmetic
constexpr double kFunctionUnits = 4;  // two units: what our exp, log, ... promise

// From here on f32 rounds to infinity.
constexpr double kF32Limit = 0x1.ffffffp127;

// 0 * infinity is 0 here: no error, however steep.
double times(double slope, double bound) { return bound == 0 ? 0 : slope * bound; }

double distance(double a, double b) {
  if (a == b) return 0;
  const double d = std::fabs(a - b);
  return d == d ? d : kInfinity;
}

// How far a monotone function moves within the bound; the end of its domain is an infinity.
template <class F>
double spread(F f, double value, double bound) {
  if (bound == 0 || value != value) return bound == kInfinity ? kInfinity : 0;
  if (bound == kInfinity) return kInfinity;
  const double here = f(value);
  const double above = f(value + bound);
  const double below = f(value - bound);
  if (here != here && above != above && below != below) return 0;
  return std::max(distance(above, here), distance(below, here));
}

// What one factor's uncertainty does to a product. An exact infinity stays one, unless it meets 0.
double scaled_bound(const Slot& factor, const Slot& uncertain) {
  if (!std::isinf(factor.value)) return times(std::fabs(factor.value), uncertain.bound);
  return uncertain.bound < std::fabs(uncertain.value) ? 0 : times(kInfinity, uncertain.bound);
}

double product_bound(const Slot& a, const Slot& b) {
  return scaled_bound(a, b) + scaled_bound(b, a) + times(a.bound, b.bound);
}

double quotient_bound(const Slot& a, const Slot& b) {
  // Of which sign a zero is hangs on the order of its making, which no bound follows.
  if (b.value == 0 && a.value != 0) return kInfinity;
  if (a.bound == 0 && b.bound == 0) return 0;
  if (a.bound == kInfinity || b.bound == kInfinity) return kInfinity;
  if (std::isinf(b.value)) return 0;
  const double nearest = std::fabs(b.value) - b.bound;
  if (!(nearest > 0)) return kInfinity;
  if (std::isinf(a.value)) return 0;
  return (a.bound + times(std::fabs(a.value / b.value), b.bound)) / nearest;
}

double sine_bound(double slope, double bound) {
  if (bound == 0) return 0;
  return std::min(std::fabs(slope) * bound + bound * bound / 2, bound == kInfinity ? kInfinity : 2);
}

double tangent_bound(double value, double bound) {
  auto branch = [](double x) { return std::floor(x * std::numbers::inv_pi + 0.5); };
  if (branch(value - bound) != branch(value + bound)) return kInfinity;
  return spread([](double x) { return std::tan(x); }, value, bound);
}

double cosh_bound(double value, double bound) {
  const double ends = spread([](double x) { return std::cosh(x); }, value, bound);
  return bound > std::fabs(value) ? std::max(ends, std::cosh(value) - 1) : ends;
}

// Monotone in each argument where the base is positive, so the corners say it all.
double power_bound(const Slot& a, const Slot& b) {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (!(a.value - a.bound > 0)) return kInfinity;
  const double here = std::pow(a.value, b.value);
  double most = 0;
  for (const double x : {a.value - a.bound, a.value + a.bound}) {
    for (const double y : {b.value - b.bound, b.value + b.bound})
      most = std::max(most, distance(std::pow(x, y), here));
  }
  return most;
}

double angle_bound(const Slot& y, const Slot& x) {
  if (x.bound == 0 && y.bound == 0) return 0;
  const double radius = std::hypot(x.value, y.value) - x.bound - y.bound;
  const bool at_cut = x.value < x.bound && std::fabs(y.value) <= y.bound;
  if (!(radius > 0) || at_cut) return kInfinity;
  return (x.bound + y.bound) / radius;
}

double remainder_bound(const Slot& a, const Slot& b) {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (b.bound != 0) return kInfinity;
  const bool same =
      std::trunc((a.value - a.bound) / b.value) == std::trunc((a.value + a.bound) / b.value);
  return same ? a.bound : kInfinity;
}

Slot function(TraceType type, double value, double bound) {
  return rounded(type, value, bound, kFunctionUnits, true);
}

template <class F>
Slot monotone(TraceType type, F f, const Slot& a) {
  return function(type, f(a.value), spread(f, a.value, a.bound));
}

// To whole numbers or a narrow type: exact, but for which side of a boundary the value is on.
template <class F>
Slot stepped(F f, const Slot& a) {
  return {.value = f(a.value), .bound = spread(f, a.value, kDecisionSlack * a.bound)};
}

Slot extremum(double value, const Slot& a, const Slot& b) {
  double bound = std::max(a.bound, b.bound);
  if (bound != kInfinity && (a.value != a.value || b.value != b.value)) {
    bound = value == a.value ? a.bound : b.bound;
  }
  return {.value = value, .bound = bound};
}

Slot copy_sign(const Slot& a, const Slot& b) {
  // The sign of a NaN is nobody's promise.
  const bool open =
      b.value != b.value || (b.bound > 0 && std::fabs(b.value) <= kDecisionSlack * b.bound);
  const double flip = open ? 2 * std::fabs(a.value) : 0;
  return {.value = std::copysign(a.value, b.value), .bound = a.bound + flip};
}

Slot round_to(const Slot& a, const Slot& type) {
  const auto dtype = static_cast<DType>(type.integer);
  if (dtype == DType::kF32 || dtype == DType::kF64) return a;
  return stepped([&](double x) { return round_through(x, dtype, Overflow::kSaturate); }, a);
}

Slot apply_function(const Value& v, const Slot& a, const Slot& b) {
  const TraceType t = v.type;
  switch (v.op) {
    case TraceOp::kExp:
      return monotone(
          t, [](double x) { return std::exp(x); }, a);
    case TraceOp::kExp2:
      return monotone(
          t, [](double x) { return std::exp2(x); }, a);
    case TraceOp::kExpm1:
      return monotone(
          t, [](double x) { return std::expm1(x); }, a);
    case TraceOp::kLog:
      return monotone(
          t, [](double x) { return std::log(x); }, a);
    case TraceOp::kLog2:
      return monotone(
          t, [](double x) { return std::log2(x); }, a);
    case TraceOp::kLog10:
      return monotone(
          t, [](double x) { return std::log10(x); }, a);
    case TraceOp::kLog1p:
      return monotone(
          t, [](double x) { return std::log1p(x); }, a);
    case TraceOp::kTanh:
      return monotone(
          t, [](double x) { return std::tanh(x); }, a);
    case TraceOp::kErf:
      return monotone(
          t, [](double x) { return std::erf(x); }, a);
    case TraceOp::kErfc:
      return monotone(
          t, [](double x) { return std::erfc(x); }, a);
    case TraceOp::kAtan:
      return monotone(
          t, [](double x) { return std::atan(x); }, a);
    case TraceOp::kAsin:
      return monotone(
          t, [](double x) { return std::asin(x); }, a);
    case TraceOp::kAcos:
      return monotone(
          t, [](double x) { return std::acos(x); }, a);
    case TraceOp::kSinh:
      return monotone(
          t, [](double x) { return std::sinh(x); }, a);
    case TraceOp::kCbrt:
      return monotone(
          t, [](double x) { return std::cbrt(x); }, a);
    case TraceOp::kCosh: return function(t, std::cosh(a.value), cosh_bound(a.value, a.bound));
    case TraceOp::kSin:
      return function(t, std::sin(a.value), sine_bound(std::cos(a.value), a.bound));
    case TraceOp::kCos:
      return function(t, std::cos(a.value), sine_bound(std::sin(a.value), a.bound));
    case TraceOp::kTan: return function(t, std::tan(a.value), tangent_bound(a.value, a.bound));
    case TraceOp::kPow: return function(t, std::pow(a.value, b.value), power_bound(a, b));
    case TraceOp::kAtan2: return function(t, std::atan2(a.value, b.value), angle_bound(a, b));
    case TraceOp::kHypot: return function(t, std::hypot(a.value, b.value), a.bound + b.bound);
    default: return {.value = std::fmod(a.value, b.value), .bound = remainder_bound(a, b)};
  }
}

Slot apply_float(const Value& v, const Slot& a, const Slot& b, const Slot& c) {
  const TraceType t = v.type;
  switch (v.op) {
    case TraceOp::kAdd: return rounded(t, a.value + b.value, a.bound + b.bound, kHalfUnit, false);
    case TraceOp::kSub: return rounded(t, a.value - b.value, a.bound + b.bound, kHalfUnit, false);
    case TraceOp::kMul: return rounded(t, a.value * b.value, product_bound(a, b), kHalfUnit, true);
    case TraceOp::kDiv: return rounded(t, a.value / b.value, quotient_bound(a, b), kHalfUnit, true);
    case TraceOp::kFma:
      return rounded(t, std::fma(a.value, b.value, c.value), product_bound(a, b) + c.bound,
                     kHalfUnit, true);
    case TraceOp::kSqrt: {
      auto root = [](double x) { return std::sqrt(x); };
      return rounded(t, root(a.value), spread(root, a.value, a.bound), kHalfUnit, false);
    }
    case TraceOp::kNeg: return {.value = -a.value, .bound = a.bound};
    case TraceOp::kAbs: return {.value = std::fabs(a.value), .bound = a.bound};
    case TraceOp::kFloor: return stepped([](double x) { return std::floor(x); }, a);
    case TraceOp::kCeil: return stepped([](double x) { return std::ceil(x); }, a);
    case TraceOp::kTrunc: return stepped([](double x) { return std::trunc(x); }, a);
    case TraceOp::kRint: return stepped([](double x) { return std::rint(x); }, a);
    case TraceOp::kMaxFirst: return extremum(scalar::max_first(a.value, b.value), a, b);
    case TraceOp::kMinFirst: return extremum(scalar::min_first(a.value, b.value), a, b);
    case TraceOp::kMaxNan: return extremum(scalar::max_nan(a.value, b.value), a, b);
    case TraceOp::kMinNan: return extremum(scalar::min_nan(a.value, b.value), a, b);
    case TraceOp::kMaxNum: return extremum(std::fmax(a.value, b.value), a, b);
    case TraceOp::kMinNum: return extremum(std::fmin(a.value, b.value), a, b);
    case TraceOp::kCopySign: return copy_sign(a, b);
    case TraceOp::kRoundTo: return round_to(a, b);
    default: return apply_function(v, a, b);
  }
}

}  // namespace

Slot rounded(TraceType type, double value, double bound, double units, bool granule) {
  if (!(bound < kInfinity)) return {.value = value, .bound = kInfinity};
  if (!std::isfinite(value)) return {.value = value, .bound = 0};
  const bool exact = value == 0 && bound == 0;
  if (type == TraceType::kF64) {
    // A whole unit for half of one: below that, double shows no difference to measure slopes by.
    return {.value = value, .bound = bound + units * 0x1p-52 * std::fabs(value)};
  }
  bound += units * 0x1p-24 * std::fabs(value);
  if (granule && !exact) bound += units * 0x1p-150;
  const double slack = kDecisionSlack * bound;
  // Whether arithmetic overflows on the way depends on its order and on what is fused; a function
  // has no way around.
  if (std::fabs(value) - slack >= kF32Limit)
    return {.value = std::copysign(kInfinity, value), .bound = units == kHalfUnit ? kInfinity : 0};
  if (std::fabs(value) + slack >= kF32Limit) bound = kInfinity;
  return {.value = value, .bound = bound};
}

Slot sum_step(const Value& v, const Slot& sum, const Slot& a, const Slot& b) {
  const double term = v.op == TraceOp::kFma ? a.value * b.value : a.value;
  const double bound = v.op == TraceOp::kFma ? product_bound(a, b) : a.bound;
  Slot next = sum;
  next.value += v.op == TraceOp::kSub ? -term : term;
  next.bound += bound;
  if (std::isfinite(term)) next.magnitude += std::fabs(term);
  next.terms += 1;
  return next;
}

Slot sum_done(TraceType type, const Slot& sum) {
  if (!(sum.bound < kInfinity)) return {.value = sum.value, .bound = kInfinity};
  // An infinity among the terms meets another if the finite ones overflow on their own.
  if (!std::isfinite(sum.value) && type == TraceType::kF32 && sum.magnitude >= kF32Limit)
    return {.value = sum.value, .bound = kInfinity};
  if (sum.terms == 0 || !std::isfinite(sum.value)) return {.value = sum.value, .bound = 0};
  if (type == TraceType::kF64)
    return {.value = sum.value, .bound = sum.bound + sum.terms * 0x1p-53 * sum.magnitude};
  // Partial sums in another order may leave f32's range and come back.
  const double bound = sum.bound + sum.terms * 0x1p-24 * sum.magnitude;
  if (sum.magnitude + kDecisionSlack * bound < kF32Limit)
    return {.value = sum.value, .bound = bound};
  return rounded(type, sum.value, kInfinity, 0, false);
}

Slot choose(TraceType type, const Slot& condition, const Slot& yes, const Slot& no) {
  const Slot& chosen = condition.integer ? yes : no;
  if (condition.bound == 0) return chosen;
  const Slot& other = condition.integer ? no : yes;
  const double apart =
      is_float(type)
          ? distance(chosen.value, other.value)
          : std::fabs(static_cast<double>(chosen.integer) - static_cast<double>(other.integer));
  const bool both_nan = chosen.value != chosen.value && other.value != other.value;
  Slot result = chosen;
  result.bound = std::max(chosen.bound, (both_nan ? 0 : apart) + other.bound);
  return result;
}

Slot apply(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b, const Slot& c) {
  if (v.op == TraceOp::kSelect) return choose(v.type, a, b, c);
  if (v.op == TraceOp::kCmp) return compare(trace, v, a, b);
  if (op_info(v.op).rule == ArgRule::kOwn && v.op != TraceOp::kRoundTo)
    return convert(v.op, trace[v.args[0]].type, v.type, a);
  if (!is_float(v.type)) return apply_integer(trace, v, a, b);
  Slot result = apply_float(v, a, b, c);
  // A certain NaN stays one, whatever the other operands' bounds.
  const bool from_nan = a.value != a.value || b.value != b.value || c.value != c.value;
  const bool certain = a.bound < kInfinity && b.bound < kInfinity && c.bound < kInfinity;
  if (result.value != result.value && from_nan && certain) result.bound = 0;
  return result;
}

}  // namespace nrd::bounded
