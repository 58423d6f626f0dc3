// SPDX-License-Identifier: MIT
// src/trace/bounded_ops.cpp: float operations on values with bounds.
#include "trace/bounded_ops.h"

#include <algorithm>
#include <cmath>

#include "base/convert.h"
#include "trace/bounded.h"
#include "trace/op_info.h"
#include "trace/scalar_ops.h"

namespace nrd::bounded {
namespace {

constexpr double kHalfUnit = 1;  // of the last place: arithmetic

// From here on f32 rounds to infinity.
constexpr double kF32Limit = 0x1.ffffffp127;

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

// A computed zero: which sign it has hangs on the order of its making (the least of 0 and -0).
bool is_made_zero(const OpTrace& trace, ValueId id, const Slot& slot) {
  const TraceOp op = trace[id].op;
  const bool has_own_sign = op == TraceOp::kLoad || op == TraceOp::kParam || op == TraceOp::kConst;
  return slot.value == 0 && !has_own_sign;
}

Slot copy_sign(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b) {
  // The sign of a NaN is nobody's promise.
  const bool open = b.value != b.value || is_made_zero(trace, v.args[1], b) ||
                    (b.bound > 0 && std::fabs(b.value) <= kDecisionSlack * b.bound);
  const double flip = open && a.value == a.value ? 2 * std::fabs(a.value) : 0;
  return {.value = std::copysign(a.value, b.value), .bound = a.bound + flip};
}

Slot round_to(const Slot& a, const Slot& type) {
  const auto dtype = static_cast<DType>(type.integer);
  if (dtype == DType::kF32 || dtype == DType::kF64) return a;
  return stepped([&](double x) { return round_through(x, dtype, Overflow::kSaturate); }, a);
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
    case TraceOp::kMaxNum: return extremum(scalar::max_num(a.value, b.value), a, b);
    case TraceOp::kMinNum: return extremum(scalar::min_num(a.value, b.value), a, b);
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
  if (v.op == TraceOp::kLookup) return lookup(trace.tables[v.index], a);
  if (v.op == TraceOp::kCmp) return compare(trace, v, a, b);
  if (v.op == TraceOp::kCopySign) return copy_sign(trace, v, a, b);
  if (op_info(v.op).rule == ArgRule::kOwn && v.op != TraceOp::kRoundTo) {
    const TraceType from = trace[v.args[0]].type;
    Slot result = convert(v.op, from, v.type, a);
    const bool shows_sign = v.op == TraceOp::kBitcast && is_float(from);
    if (shows_sign && is_made_zero(trace, v.args[0], a)) result.bound = kInfinity;
    return result;
  }
  if (!is_float(v.type)) return apply_integer(trace, v, a, b);
  Slot result = apply_float(v, a, b, c);
  // A certain NaN stays one, whatever the other operands' bounds.
  const bool from_nan = a.value != a.value || b.value != b.value || c.value != c.value;
  const bool certain = a.bound < kInfinity && b.bound < kInfinity && c.bound < kInfinity;
  // Whatever to the power of 0 is 1, and 1 to the power of whatever.
  const auto may_be = [](const Slot& x, double value) {
    return x.value == x.value && std::fabs(x.value - value) <= kDecisionSlack * x.bound;
  };
  const bool is_one = v.op == TraceOp::kPow && (may_be(b, 0) || may_be(a, 1));
  if (result.value != result.value && from_nan && certain && !is_one) result.bound = 0;
  return result;
}

}  // namespace nrd::bounded
