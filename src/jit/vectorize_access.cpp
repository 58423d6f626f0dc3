// SPDX-License-Identifier: MIT
// src/jit/vectorize_access.cpp: how the accesses of a vector loop go, and whether its iterations
// may run side by side.
#include "jit/vectorize_access.h"

#include <cstdlib>

namespace nrd::jit {
namespace {

// Splits the constant off.
void split_offset(AccessPlan& plan) {
  for (const PolyTerm& term : plan.rest.terms()) {
    if (term.degree == 0) plan.offset = term.coefficient;
  }
  plan.rest = plan.rest - Poly::constant(plan.offset);
}

// Of an index that is not linear the terms that do not change become the rest.
void split_changing(const Poly& index, const Varying& varying, AccessPlan& plan) {
  for (const PolyTerm& term : index.terms()) {
    Poly part = Poly::constant(term.coefficient);
    for (ValueId factor : term.factors()) part = part * Poly::atom(factor);
    Poly& to = depends_on(part, varying) ? plan.coefficient : plan.rest;
    to = to + part;
  }
  split_offset(plan);
}

bool is_factor(ValueId atom, const PolyTerm& term) {
  for (ValueId factor : term.factors()) {
    if (factor == atom) return true;
  }
  return false;
}

}  // namespace

AccessPlanner::AccessPlanner(const Analysis& analysis, uint16_t loop, int lanes)
    : a_(analysis), trace_(analysis.trace), loop_(loop), lanes_(lanes) {
  collect(trace_.loops[loop].body);
}

void AccessPlanner::collect(const std::vector<ValueId>& body) {
  for (ValueId id : body) {
    const Value& v = trace_[id];
    if (v.op == TraceOp::kLoop) {
      collect(trace_.loops[v.index].body);
    } else if ((v.op == TraceOp::kLoad || v.op == TraceOp::kStore) && a_.is_live(id)) {
      ids_.push_back(id);
    }
  }
}

std::string AccessPlanner::run() {
  for (ValueId id : ids_) {
    std::string reason = plan(id);
    if (!reason.empty()) return reason;
  }
  pair_up();
  for (const auto& [id, plan] : plans_) {
    has_jumps_ |= plan.kind == AccessKind::kStrided || plan.kind == AccessKind::kGather;
  }
  return check_order();
}

std::string AccessPlanner::plan(ValueId id) {
  const Value& v = trace_[id];
  const bool is_store = v.op == TraceOp::kStore;
  const std::string name = trace_.params[v.index].name;
  const Varying& varying = a_.varying[loop_];
  const Poly index = poly_of(trace_, v.args[0]);
  const ValueId guard = is_store ? v.args[2] : v.args[1];
  const bool varies = depends_on(index, varying);
  if (guard != kNoValue && varying.values[guard]) {
    bool understood = true;
    a_.prefixes(guard, loop_, understood);
    if (!understood || !varies) return "an element of " + name + " is used under a condition";
  }

  AccessPlan plan;
  if (!varies) {
    if (is_store) return "every iteration stores to the same element of " + name;
  } else if (const auto linear = linear_in(index, trace_.loops[loop_].iv, varying)) {
    plan.coefficient = linear->coefficient;
    plan.rest = linear->rest;
    split_offset(plan);
    plan.kind = plan.coefficient.as_constant() == 1 ? AccessKind::kUnit : AccessKind::kStrided;
  } else if (is_store) {
    return "the index of a store to " + name + " is not linear";
  } else if (is_block(index, plan.block)) {
    plan.kind = AccessKind::kBlock;
    split_changing(index, varying, plan);
  } else {
    plan.kind = AccessKind::kGather;
    split_changing(index, varying, plan);
    for (const PolyTerm& term : plan.coefficient.terms()) {
      if (term.degree > 1) return "an index of " + name + " may need more than 31 bits";
    }
  }
  plans_.emplace_back(id, plan);
  return "";
}

// The counter matters only as (counter + a multiple of K) / K, K a multiple of the lanes. A vector
// begins at a multiple of the lanes, so it lies within one block.
bool AccessPlanner::is_block(const Poly& index, int64_t& block) const {
  const ValueId iv = trace_.loops[loop_].iv;
  const Varying& varying = a_.varying[loop_];
  for (const PolyTerm& term : index.terms()) {
    for (ValueId atom : term.factors()) {
      if (!varying.values[atom]) continue;
      const Value& v = trace_[atom];
      if (v.op != TraceOp::kDivFloor) return false;
      const auto divisor = poly_of(trace_, v.args[1]).as_constant();
      const auto linear = linear_in(poly_of(trace_, v.args[0]), iv, varying);
      if (!divisor || *divisor % lanes_ != 0 || !linear) return false;
      if (linear->coefficient.as_constant() != 1) return false;
      for (const PolyTerm& rest : linear->rest.terms()) {
        if (rest.coefficient % *divisor != 0) return false;
      }
      block = block == 0 || *divisor < block ? *divisor : block;
    }
  }
  return block != 0;
}

// Even and odd elements of one array become two whole vectors and a shuffle.
void AccessPlanner::pair_up() {
  for (size_t i = 0; i < plans_.size(); i++) {
    for (size_t j = 0; j < plans_.size(); j++) {
      auto& [even_id, even] = plans_[i];
      auto& [odd_id, odd] = plans_[j];
      const Value &v = trace_[even_id], &w = trace_[odd_id];
      if (even.kind != AccessKind::kStrided || odd.kind != AccessKind::kStrided) continue;
      if (v.op != w.op || v.index != w.index) continue;
      if (a_.scopes.loop_of_value[even_id] != loop_ || a_.scopes.loop_of_value[odd_id] != loop_) {
        continue;
      }
      const ValueId guard = v.op == TraceOp::kStore ? v.args[2] : v.args[1];
      const ValueId other = w.op == TraceOp::kStore ? w.args[2] : w.args[1];
      if (guard != kNoValue || other != kNoValue) continue;
      if (even.coefficient.as_constant() != 2 || odd.coefficient.as_constant() != 2) continue;
      if (!(even.rest == odd.rest) || odd.offset != even.offset + 1) continue;
      even.kind = odd.kind = AccessKind::kPair;
      even.partner = odd_id;
      odd.partner = even_id;
      odd.is_odd = true;
    }
  }
}

// What one iteration stores no other may touch.
std::string AccessPlanner::check_order() const {
  for (const auto& [store, to] : plans_) {
    if (trace_[store].op != TraceOp::kStore) continue;
    for (const auto& [other, at] : plans_) {
      if (trace_[other].index != trace_[store].index || other == store) continue;
      if (!are_apart(to, at)) {
        return "an element of " + trace_.params[trace_[store].index].name +
               " that one iteration stores may be used by another";
      }
    }
  }
  return "";
}

bool AccessPlanner::are_apart(const AccessPlan& a, const AccessPlan& b) const {
  if (!(a.coefficient == b.coefficient)) return false;
  if (stays_in_its_column(a) && stays_in_its_column(b)) return true;
  const Poly gap = a.rest - b.rest + Poly::constant(a.offset) - Poly::constant(b.offset);
  if (gap.is_zero()) return true;
  const auto step = a.coefficient.as_constant();
  const auto fixed = gap.as_constant();
  if (step && fixed && *step != 0 && *fixed % *step != 0) return true;
  // The whole range of one lies behind that of the other.
  const Poly range = a.coefficient * poly_of(trace_, trace_.loops[loop_].extent);
  for (int64_t times : {1, 2, 3}) {
    const Poly distance = range * Poly::constant(times);
    if (gap == distance || (Poly() - gap) == distance) return true;
  }
  return false;
}

// index = counter + a multiple of the extent: the counter is the column of a matrix.
bool AccessPlanner::stays_in_its_column(const AccessPlan& a) const {
  if (a.kind != AccessKind::kUnit || a.offset != 0) return false;
  const ValueId extent = trace_.loops[loop_].extent;
  for (const PolyTerm& term : a.rest.terms()) {
    if (!is_factor(extent, term)) return false;
  }
  return true;
}

// ---- guards ----

namespace {

// low < high as counter * step + rest < 0.
struct Difference {
  ValueId low, high;
  bool or_equal;
};

bool difference_of(const Value& v, Difference& d) {
  switch (v.predicate) {
    case Predicate::kLt:
    case Predicate::kB: d = {v.args[0], v.args[1], false}; return true;
    case Predicate::kLe:
    case Predicate::kBe: d = {v.args[0], v.args[1], true}; return true;
    case Predicate::kGt:
    case Predicate::kA: d = {v.args[1], v.args[0], false}; return true;
    case Predicate::kGe:
    case Predicate::kAe: d = {v.args[1], v.args[0], true}; return true;
    default: return false;
  }
}

}  // namespace

std::vector<Prefix> Analysis::prefixes(ValueId guard, uint16_t loop, bool& understood) const {
  const Value& v = trace[guard];
  if (v.op == TraceOp::kAnd) {
    std::vector<Prefix> both = prefixes(v.args[0], loop, understood);
    for (Prefix& p : prefixes(v.args[1], loop, understood)) both.push_back(std::move(p));
    return both;
  }
  Difference d{};
  understood &=
      v.op == TraceOp::kCmp && trace[v.args[0]].type == TraceType::kI64 && difference_of(v, d);
  if (!understood) return {};
  const Poly gap = poly_of(trace, d.low) - poly_of(trace, d.high);
  const auto linear = linear_in(gap, trace.loops[loop].iv, varying[loop]);
  const auto step = linear ? linear->coefficient.as_constant() : std::nullopt;
  understood &= step.value_or(0) > 0;
  if (!understood) return {};
  return {{Poly::constant(d.or_equal ? 1 : 0) - linear->rest, *step}};
}

}  // namespace nrd::jit
