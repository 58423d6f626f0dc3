// SPDX-License-Identifier: MIT
// src/trace/match.cpp: see match.h.
#include "trace/match.h"

#include <utility>

#include "trace/op_info.h"

namespace nrd {
namespace {

using P = Predicate;

struct Comparison {
  P predicate;
  ValueId a, b;
};

// Looks through kNot.
std::optional<Comparison> comparison_of(const OpTrace& trace, ValueId id, bool negated) {
  while (trace[id].op == TraceOp::kNot) {
    id = trace[id].args[0];
    negated = !negated;
  }
  const Value& v = trace[id];
  if (v.op != TraceOp::kCmp) return std::nullopt;
  return Comparison{negated ? negation(v.predicate) : v.predicate, v.args[0], v.args[1]};
}

// Puts the larger-than form in place of the smaller-than one.
Comparison as_greater(Comparison c) {
  switch (c.predicate) {
    case P::kOlt:
    case P::kOle:
    case P::kLt:
    case P::kLe: return {exchanged(c.predicate), c.b, c.a};
    default: return c;
  }
}

// True where x is a NaN.
bool is_nan_test(const OpTrace& trace, ValueId id, bool negated, ValueId x) {
  const auto c = comparison_of(trace, id, negated);
  return c && (c->predicate == P::kUne || c->predicate == P::kUno) && c->a == x && c->b == x;
}

// The two sides of an `or` (or of an `and` that is negated), each to be read with `negated`.
struct Sides {
  ValueId a, b;
  bool negated;
};
std::optional<Sides> sides_of(const OpTrace& trace, ValueId id, bool negated, TraceOp op) {
  while (trace[id].op == TraceOp::kNot) {
    id = trace[id].args[0];
    negated = !negated;
  }
  const TraceOp dual = op == TraceOp::kOr ? TraceOp::kAnd : TraceOp::kOr;
  const Value& v = trace[id];
  if (v.type != TraceType::kBool || v.op != (negated ? dual : op)) return std::nullopt;
  return Sides{v.args[0], v.args[1], negated};
}

// a > b ? a : b and its like. Where a and b are equal either will do.
std::optional<Extremum> ordered_select(const OpTrace& trace, const Value& v) {
  ValueId yes = v.args[1];
  ValueId no = v.args[2];
  auto c = comparison_of(trace, v.args[0], false);
  if (!c) return std::nullopt;
  if (c->predicate >= P::kUeq && c->predicate <= P::kUno) {
    c->predicate = negation(c->predicate);
    std::swap(yes, no);
  }
  const Comparison g = as_greater(*c);
  const bool integers = g.predicate == P::kGt || g.predicate == P::kGe;
  if (!integers && g.predicate != P::kOgt && g.predicate != P::kOge) return std::nullopt;
  const bool is_max = yes == g.a && no == g.b;
  const bool is_min = yes == g.b && no == g.a;
  if (!is_max && !is_min) return std::nullopt;
  if (integers) return Extremum{is_max ? TraceOp::kMax : TraceOp::kMin, yes, no};
  return Extremum{is_max ? TraceOp::kMaxFirst : TraceOp::kMinFirst, yes, no};
}

// (a > b || a != a) ? a : b.
std::optional<Extremum> nan_select(const OpTrace& trace, const Value& v) {
  for (const bool negated : {false, true}) {
    const ValueId yes = v.args[negated ? 2 : 1];
    const ValueId no = v.args[negated ? 1 : 2];
    const auto sides = sides_of(trace, v.args[0], negated, TraceOp::kOr);
    if (!sides) continue;
    for (const auto& [test, order] :
         {std::pair(sides->a, sides->b), std::pair(sides->b, sides->a)}) {
      if (!is_nan_test(trace, test, sides->negated, yes)) continue;
      const auto c = comparison_of(trace, order, sides->negated);
      if (!c) continue;
      const Comparison g = as_greater(*c);
      if (g.predicate != P::kOgt && g.predicate != P::kOge) continue;
      if (g.a == yes && g.b == no) return Extremum{TraceOp::kMaxNan, yes, no};
      if (g.b == yes && g.a == no) return Extremum{TraceOp::kMinNan, yes, no};
    }
  }
  return std::nullopt;
}

// element > best or element < best, strictly.
std::optional<Better> plain_better(const OpTrace& trace, ValueId condition, ValueId best,
                                   bool negated) {
  const auto c = comparison_of(trace, condition, negated);
  if (!c) return std::nullopt;
  const Comparison g = as_greater(*c);
  const bool integers = g.predicate == P::kGt;
  if (!integers && g.predicate != P::kOgt) return std::nullopt;
  if (g.b == best && g.a != best) return Better{integers ? TraceOp::kMax : TraceOp::kMaxFirst, g.a};
  if (g.a == best && g.b != best) return Better{integers ? TraceOp::kMin : TraceOp::kMinFirst, g.b};
  return std::nullopt;
}

}  // namespace

std::optional<Extremum> extremum_of(const OpTrace& trace, ValueId id) {
  const Value& v = trace[id];
  switch (v.op) {
    case TraceOp::kMaxFirst:
    case TraceOp::kMinFirst:
    case TraceOp::kMaxNan:
    case TraceOp::kMinNan:
    case TraceOp::kMaxNum:
    case TraceOp::kMinNum:
    case TraceOp::kMax:
    case TraceOp::kMin: return Extremum{v.op, v.args[0], v.args[1]};
    case TraceOp::kSelect: break;
    default: return std::nullopt;
  }
  if (const auto ordered = ordered_select(trace, v)) return ordered;
  return nan_select(trace, v);
}

std::optional<Better> better_of(const OpTrace& trace, ValueId condition, ValueId best,
                                bool negated) {
  if (const auto plain = plain_better(trace, condition, best, negated)) return plain;
  const auto either = sides_of(trace, condition, negated, TraceOp::kOr);
  if (!either) return std::nullopt;
  for (const auto& [order, nan] :
       {std::pair(either->a, either->b), std::pair(either->b, either->a)}) {
    const auto plain = plain_better(trace, order, best, either->negated);
    const auto both = sides_of(trace, nan, either->negated, TraceOp::kAnd);
    if (!plain || !both) continue;
    for (const auto& [is_nan, is_number] :
         {std::pair(both->a, both->b), std::pair(both->b, both->a)}) {
      if (!is_nan_test(trace, is_nan, both->negated, plain->element)) continue;
      if (!is_nan_test(trace, is_number, !both->negated, best)) continue;
      if (plain->op == TraceOp::kMaxFirst) return Better{TraceOp::kMaxNan, plain->element};
      if (plain->op == TraceOp::kMinFirst) return Better{TraceOp::kMinNan, plain->element};
    }
  }
  return std::nullopt;
}

}  // namespace nrd
