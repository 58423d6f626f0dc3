// SPDX-License-Identifier: MIT
// src/jit/split.cpp: see split.h.
//
// Iteration i of the loop touches index c i + r, where r depends on the loops inside. If 0 <= r < c
// for every access to an array that is stored to, iterations stay apart. The largest r is found by
// replacing each inner counter by its extent - 1, an extent min(a, b) by either.
#include "jit/split.h"

#include <numeric>
#include <optional>

namespace nrd::jit {
namespace {

class Independence {
 public:
  Independence(const Analysis& analysis, uint16_t loop)
      : a_(analysis), trace_(analysis.trace), loop_(loop) {}

  bool holds() {
    collect(trace_.loops[loop_].body);
    for (ValueId store : accesses_) {
      if (trace_[store].op != TraceOp::kStore) continue;
      for (ValueId access : accesses_) {
        if (trace_[access].index == trace_[store].index && !stays_apart(store, access)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  void collect(const std::vector<ValueId>& body) {
    for (ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop) collect(trace_.loops[v.index].body);
      const bool is_access = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
      if (is_access && a_.is_live(id)) accesses_.push_back(id);
    }
  }

  std::optional<Linear> linear(ValueId access) const {
    return linear_in(poly_of(trace_, trace_[access].args[0]), trace_.loops[loop_].iv,
                     a_.varying[loop_]);
  }

  bool stays_apart(ValueId store, ValueId access) const {
    const auto a = linear(store), b = linear(access);
    if (!a || !b || a->coefficient.is_zero() || !(a->coefficient == b->coefficient)) return false;
    if (a->rest == b->rest && a->coefficient.as_constant() && !has_counter(a->rest)) return true;
    return is_below(b->rest, b->coefficient, 8);
  }

  bool has_counter(const Poly& poly) const { return counter_of(poly) != kNoValue; }

  // A counter of the innermost loop that the poly has, for its extent may name counters around it.
  ValueId counter_of(const Poly& poly) const {
    ValueId found = kNoValue;
    for (const PolyTerm& term : poly.terms()) {
      for (ValueId atom : term.factors()) {
        if (trace_[atom].op != TraceOp::kIv) continue;
        if (found == kNoValue || a_.scopes.is_inside(trace_[atom].index, trace_[found].index)) {
          found = atom;
        }
      }
    }
    return found;
  }

  // Whether 0 <= rest < limit, whatever the counters in it are.
  bool is_below(const Poly& rest, const Poly& limit, int depth) const {
    const ValueId counter = counter_of(rest);
    if (counter == kNoValue) return is_negative(rest - limit);
    const auto parts = linear_in(trace_, rest, counter);
    if (!parts || depth == 0 || has_negative_term(parts->coefficient)) return false;
    const TraceLoop& inner = trace_.loops[trace_[counter].index];
    auto with_extent = [&](ValueId extent) {
      const Poly last = poly_of(trace_, extent) - Poly::constant(1);
      return is_below(parts->coefficient * last + parts->rest, limit, depth - 1);
    };
    const Value& extent = trace_[inner.extent];
    if (extent.op != TraceOp::kMin) return with_extent(inner.extent);
    return with_extent(extent.args[0]) || with_extent(extent.args[1]);
  }

  static bool has_negative_term(const Poly& poly) {
    for (const PolyTerm& term : poly.terms()) {
      if (term.coefficient < 0) return true;
    }
    return false;
  }

  // Sizes are not negative.
  static bool is_negative(const Poly& poly) {
    bool has_constant = false;
    for (const PolyTerm& term : poly.terms()) {
      if (term.coefficient > 0) return false;
      has_constant |= term.degree == 0;
    }
    return has_constant;
  }

  const Analysis& a_;
  const OpTrace& trace_;
  uint16_t loop_;
  std::vector<ValueId> accesses_;
};

}  // namespace

int loop_to_split(const Analysis& analysis) {
  const OpTrace& trace = analysis.trace;
  int found = -1;
  for (ValueId id : trace.body) {
    const Value& v = trace[id];
    if (v.op == TraceOp::kStore && analysis.is_live(id)) return -1;
    if (v.op != TraceOp::kLoop || !analysis.is_live_loop(v.index)) continue;
    if (analysis.in_order[v.index]) continue;
    if (found >= 0) return -1;
    found = v.index;
  }
  if (found < 0) return -1;
  const auto loop = static_cast<uint16_t>(found);
  for (const LoopCarry& carry : trace.loops[loop].carries) {
    if (analysis.is_live(carry.carry)) return -1;
  }
  // A vector loop has been checked already.
  if (analysis.loops[loop].form == LoopForm::kMap) return found;
  return Independence(analysis, loop).holds() ? found : -1;
}

int64_t grain_of(const Analysis& analysis, uint16_t loop) {
  int64_t grain = analysis.loops[loop].form == LoopForm::kCounted ? 1 : 64;
  for (ValueId id : analysis.trace.loops[loop].body) {
    const AccessPlan& plan = analysis.access[id];
    if (plan.kind == AccessKind::kBlock) grain = std::lcm(grain, plan.block);
  }
  return grain;
}

}  // namespace nrd::jit
