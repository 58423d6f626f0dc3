// SPDX-License-Identifier: MIT
// src/trace/bounds_carried.cpp: ranges of integers that loops carry, and of floats.
#include <algorithm>
#include <bit>
#include <cmath>

#include "trace/bounds.h"
#include "trace/op_info.h"

namespace nrd {
namespace {

constexpr int kMaxDepth = 64;  // of values between a carried value and its next

Range sum(Range a, Range b) {
  return {limited(__int128{a.low} + b.low), limited(__int128{a.high} + b.high)};
}

// At most `count` steps, each within `step`.
Range after(Range step, int64_t count) {
  const __int128 n = std::max<int64_t>(0, count);
  return {limited(std::min<__int128>(0, step.low * n)),
          limited(std::max<__int128>(0, step.high * n))};
}

FloatRange unite(FloatRange a, FloatRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan};
}

bool is_finite(FloatRange a) { return std::isfinite(a.low) && std::isfinite(a.high); }

// Rounding is monotone: the ends of a range round to ends of the rounded range.
FloatRange rounded(double low, double high, bool nan, TraceType type) {
  if (std::isnan(low) || std::isnan(high)) return {};
  if (type == TraceType::kF32) return {static_cast<float>(low), static_cast<float>(high), nan};
  return {low, high, nan};
}

// In double, a sum or product of doubles is rounded already: a step outwards.
FloatRange outwards(FloatRange f) {
  const double inf = std::numeric_limits<double>::infinity();
  return {std::nextafter(f.low, -inf), std::nextafter(f.high, inf), f.nan};
}

FloatRange product(FloatRange a, FloatRange b, TraceType type) {
  if (!is_finite(a) || !is_finite(b)) return {};
  const double p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  const auto [low, high] = std::minmax_element(p, p + 4);
  return outwards(rounded(*low, *high, a.nan || b.nan, type));
}

// Of a > b ? a : b and its relatives; a minimum is the maximum of the negated.
FloatRange largest(TraceOp op, FloatRange a, FloatRange b) {
  const double both = std::max(a.low, b.low), high = std::max(a.high, b.high);
  if (op == TraceOp::kMaxFirst) return {a.nan ? std::min(both, b.low) : both, high, b.nan};
  if (op == TraceOp::kMaxNan) return {both, high, a.nan || b.nan};
  double low = both;  // fmax: a NaN loses
  if (a.nan) low = std::min(low, b.low);
  if (b.nan) low = std::min(low, a.low);
  return {low, high, a.nan && b.nan};
}
FloatRange negated(FloatRange a) { return {-a.high, -a.low, a.nan}; }

template <class F>
FloatRange mapped(FloatRange a, F f) {
  return {f(a.low), f(a.high), a.nan};
}

// What is left of `a` where `a p limit` holds.
FloatRange where(FloatRange a, Predicate p, FloatRange limit) {
  switch (p) {
    case Predicate::kOlt:
    case Predicate::kOle: return {a.low, std::min(a.high, limit.high), false};
    case Predicate::kOgt:
    case Predicate::kOge: return {std::max(a.low, limit.low), a.high, false};
    case Predicate::kUlt:
    case Predicate::kUle: return {a.low, std::min(a.high, limit.high), a.nan};
    case Predicate::kUgt:
    case Predicate::kUge: return {std::max(a.low, limit.low), a.high, a.nan};
    case Predicate::kOrd:
    case Predicate::kOeq: return {a.low, a.high, false};
    default: return a;
  }
}

}  // namespace

Range Bounds::carried_range(const Value& v) {
  const TraceLoop& loop = trace_.loops[v.index];
  const LoopCarry& c = loop.carries[v.bits];
  const int64_t trips = range(loop.extent).high;
  const Range init = range(c.init);
  const int64_t steps = v.op == TraceOp::kCarry ? trips - 1 : trips;
  if (const std::optional<Range> step = increment(c.next, c.carry, 0))
    return sum(init, after(*step, steps));
  if (const std::optional<Range> taken = payloads(c.next, c.carry, 0)) return unite(init, *taken);
  return v.type == TraceType::kI32
             ? Range{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}
             : Range{};
}

// By how much `id` differs from `base`, a carried value on which it is built by sums and selects.
std::optional<Range> Bounds::increment(ValueId id, ValueId base, int depth) {
  if (id == base) return Range{0, 0};
  if (depth > kMaxDepth) return std::nullopt;
  const Value& v = trace_[id];
  if (v.op == TraceOp::kSelect) {
    const std::optional<Range> a = increment(v.args[1], base, depth + 1),
                               b = increment(v.args[2], base, depth + 1);
    return a && b ? std::optional(unite(*a, *b)) : std::nullopt;
  }
  if (v.op == TraceOp::kAdd || v.op == TraceOp::kSub)
    for (size_t i = 0; i < (v.op == TraceOp::kAdd ? 2u : 1u); i++)
      if (const std::optional<Range> a = increment(v.args[i], base, depth + 1)) {
        const Range b = range(v.args[1 - i]);
        return sum(*a, v.op == TraceOp::kAdd ? b : Range{-b.high, -b.low});
      }
  if (v.op == TraceOp::kResult) {  // through an inner loop
    const TraceLoop& loop = trace_.loops[v.index];
    const LoopCarry& c = loop.carries[v.bits];
    const std::optional<Range> before = increment(c.init, base, depth + 1);
    const std::optional<Range> step = before ? increment(c.next, c.carry, depth + 1) : std::nullopt;
    if (step) return sum(*before, after(*step, range(loop.extent).high));
  }
  return std::nullopt;
}

// What replaces a carried value that is otherwise kept: the index of a maximum.
std::optional<Range> Bounds::payloads(ValueId id, ValueId base, int depth) {
  const Value& v = trace_[id];
  if (id == base || depth > kMaxDepth || v.op != TraceOp::kSelect) return std::nullopt;
  std::optional<Range> all;
  for (const ValueId arm : {v.args[1], v.args[2]}) {
    if (arm == base) continue;
    Range r = range(arm);
    if (trace_[arm].op == TraceOp::kSelect)
      if (const std::optional<Range> inner = payloads(arm, base, depth + 1)) r = *inner;
    all = all ? unite(*all, r) : r;
  }
  return all;
}

namespace {

FloatRange of_constant(TraceType type, uint64_t bits) {
  const double c = type == TraceType::kF32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                           : std::bit_cast<double>(bits);
  return std::isnan(c) ? FloatRange{} : FloatRange{c, c, false};
}

FloatRange table_range(const TraceTable& table) {
  FloatRange all = of_constant(table.type, table.elements[0]);
  for (const uint64_t bits : table.elements) all = unite(all, of_constant(table.type, bits));
  return all;
}

}  // namespace

FloatRange Bounds::float_range(ValueId id) {
  const Value& v = trace_[id];
  auto arg = [&](int i) { return float_range(v.args[static_cast<size_t>(i)]); };
  switch (v.op) {
    case TraceOp::kConst: return of_constant(v.type, v.bits);
    case TraceOp::kLoad: {
      const size_t pointer = rank_[v.index];
      const bool known =
          pointer < loaded_.size() && loaded_[pointer].floats && !trace_.params[v.index].written;
      const FloatRange r = known ? *loaded_[pointer].floats : FloatRange{};
      return v.args[2] == kNoValue ? r : unite(r, arg(2));
    }
    case TraceOp::kAdd: {
      const FloatRange a = arg(0), b = arg(1);
      if (!is_finite(a) || !is_finite(b)) return {};
      return outwards(rounded(a.low + b.low, a.high + b.high, a.nan || b.nan, v.type));
    }
    case TraceOp::kSub: {
      const FloatRange a = arg(0), b = arg(1);
      if (!is_finite(a) || !is_finite(b)) return {};
      return outwards(rounded(a.low - b.high, a.high - b.low, a.nan || b.nan, v.type));
    }
    case TraceOp::kMul: return product(arg(0), arg(1), v.type);
    case TraceOp::kNeg: return negated(arg(0));
    case TraceOp::kAbs: {
      const FloatRange a = arg(0);
      return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(-a.low, a.high), a.nan};
    }
    case TraceOp::kFloor: return mapped(arg(0), [](double x) { return std::floor(x); });
    case TraceOp::kCeil: return mapped(arg(0), [](double x) { return std::ceil(x); });
    case TraceOp::kTrunc: return mapped(arg(0), [](double x) { return std::trunc(x); });
    case TraceOp::kRint: return mapped(arg(0), [](double x) { return std::rint(x); });
    case TraceOp::kMaxFirst:
    case TraceOp::kMaxNan:
    case TraceOp::kMaxNum: return largest(v.op, arg(0), arg(1));
    case TraceOp::kMinFirst:
      return negated(largest(TraceOp::kMaxFirst, negated(arg(0)), negated(arg(1))));
    case TraceOp::kMinNan:
      return negated(largest(TraceOp::kMaxNan, negated(arg(0)), negated(arg(1))));
    case TraceOp::kMinNum:
      return negated(largest(TraceOp::kMaxNum, negated(arg(0)), negated(arg(1))));
    case TraceOp::kSelect: return float_select(v);
    case TraceOp::kLookup: return table_range(trace_.tables[v.index]);
    case TraceOp::kToF32:
    case TraceOp::kToF64: {
      const TraceType from = trace_[v.args[0]].type;
      if (from == TraceType::kF32 || from == TraceType::kF64) {
        const FloatRange a = arg(0);
        return rounded(a.low, a.high, a.nan, v.type);
      }
      const Range r = range(v.args[0]);
      return rounded(static_cast<double>(r.low), static_cast<double>(r.high), false, v.type);
    }
    default: return {};
  }
}

// Clamps written with ?: and if.
FloatRange Bounds::float_select(const Value& v) {
  FloatRange yes = float_range(v.args[1]), no = float_range(v.args[2]);
  const Value& c = trace_[v.args[0]];
  const bool floats = c.op == TraceOp::kCmp && (trace_[c.args[0]].type == TraceType::kF32 ||
                                                trace_[c.args[0]].type == TraceType::kF64);
  if (floats) {
    const FloatRange a = float_range(c.args[0]), b = float_range(c.args[1]);
    if (v.args[1] == c.args[0]) yes = where(yes, c.predicate, b);
    if (v.args[1] == c.args[1]) yes = where(yes, exchanged(c.predicate), a);
    if (v.args[2] == c.args[0]) no = where(no, negation(c.predicate), b);
    if (v.args[2] == c.args[1]) no = where(no, exchanged(negation(c.predicate)), a);
  }
  return unite(yes, no);
}

}  // namespace nrd
