// SPDX-License-Identifier: MIT
// src/jit/vectorize.cpp: chooses the vector loop of each nest.
#include "jit/vectorize.h"

#include <algorithm>

#include "jit/vectorize_access.h"

namespace nrd::jit {
namespace {

void count_uses(const OpTrace& trace, const Liveness& live, std::vector<uint32_t>& uses) {
  auto use = [&](ValueId id) {
    if (id != kNoValue) uses[id]++;
  };
  for (ValueId id = 0; id < trace.values.size(); id++) {
    if (!live.values[id]) continue;
    for (ValueId arg : trace[id].args) use(arg);
  }
  for (const TraceLoop& loop : trace.loops) {
    use(loop.extent);
    for (const LoopCarry& carry : loop.carries) {
      use(carry.init);
      use(carry.next);
    }
  }
}

// A loop as the vector loop of its nest: how well it would do, or why it cannot be.
struct Trial {
  int score = 0;  // 0: impossible, 1: some accesses jump, 2: none does
  std::string reason;
  LoopPlan plan;
  std::vector<std::pair<ValueId, AccessPlan>> accesses;
};

// The vector loops of one nest.
struct Choice {
  int score = 2;
  std::string reason;
  std::vector<std::pair<uint16_t, Trial>> loops;
};

class Planner {
 public:
  Planner(Analysis& analysis, int lanes) : a_(analysis), trace_(analysis.trace), lanes_(lanes) {}

  Expected<void> run() {
    for (ValueId id : trace_.body) {
      if (trace_[id].op != TraceOp::kLoop || !a_.is_live_loop(trace_[id].index)) continue;
      const Choice choice = choose(trace_[id].index);
      if (choice.score == 0) {
        return make_error({.code = ErrorCode::kUnsupported,
                           .op = trace_.name,
                           .got = choice.reason,
                           .hint = "the function itself will run"});
      }
      for (const auto& [loop, trial] : choice.loops) {
        a_.loops[loop] = trial.plan;
        for (const auto& [access, plan] : trial.accesses) a_.access[access] = plan;
      }
    }
    return {};
  }

 private:
  std::vector<uint16_t> inner_loops(uint16_t loop) const {
    std::vector<uint16_t> inner;
    for (ValueId id : trace_.loops[loop].body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop && a_.is_live_loop(v.index)) inner.push_back(v.index);
    }
    return inner;
  }

  // The inner loops win where they do as well: their accesses run along the rows.
  Choice choose(uint16_t loop) const {
    if (a_.in_order[loop]) return {};
    Trial own = try_as_vector_loop(loop);
    const std::vector<uint16_t> inner = inner_loops(loop);
    Choice nested;
    if (inner.empty()) nested = {0, own.reason, {}};
    for (uint16_t i : inner) {
      Choice choice = choose(i);
      if (choice.score < nested.score) nested.reason = choice.reason;
      nested.score = std::min(nested.score, choice.score);
      for (auto& part : choice.loops) nested.loops.push_back(std::move(part));
    }
    if (nested.score >= own.score) return nested;
    Choice choice{own.score, "", {}};
    choice.loops.emplace_back(loop, std::move(own));
    return choice;
  }

  Trial try_as_vector_loop(uint16_t loop) const {
    Trial trial;
    trial.plan.has_inner_loops = !inner_loops(loop).empty();
    trial.plan.form = LoopForm::kMap;
    if (!carries_fit(loop, trial) || !inner_extents_fit(loop, loop, trial)) return trial;
    AccessPlanner accesses(a_, loop, lanes_);
    trial.reason = accesses.run();
    if (!trial.reason.empty()) return trial;
    trial.score = accesses.has_jumps() ? 1 : 2;
    trial.accesses = accesses.take();
    return trial;
  }

  bool carries_fit(uint16_t loop, Trial& trial) const {
    const TraceLoop& l = trace_.loops[loop];
    for (size_t i = 0; i < l.carries.size(); i++) {
      if (!a_.is_live(l.carries[i].carry)) continue;
      const CarryInfo& info = a_.carries[loop][i];
      if (info.kind == CarryKind::kConstant) continue;
      trial.plan.form = LoopForm::kReduce;
      trial.reason = refuse_carry(loop, i, info);
      if (trial.plan.has_inner_loops) trial.reason = "a loop around others carries a value";
      if (!trial.reason.empty()) return false;
    }
    return true;
  }

  std::string refuse_carry(uint16_t loop, size_t i, const CarryInfo& info) const {
    const TraceType type = trace_[trace_.loops[loop].carries[i].carry].type;
    if (info.kind == CarryKind::kSequential) {
      return "a loop carries a value from one iteration to the next: " + std::string(info.reason);
    }
    if (type == TraceType::kBool) return "a loop carries a condition";
    if (info.kind == CarryKind::kArg) {
      return grows(loop, info.element) ? "" : "what goes with an extremum is no index";
    }
    return type == TraceType::kI64 ? "a loop carries a 64-bit integer" : "";
  }

  // The payload of an extremum orders the candidates of equal value, so it has to grow.
  bool grows(uint16_t loop, ValueId payload) const {
    if (payload == kNoValue) return false;
    const Value& v = trace_[payload];
    const ValueId index = v.op == TraceOp::kToI32 ? v.args[0] : payload;
    if (trace_[index].type != TraceType::kI64) return false;
    const auto linear = linear_in(poly_of(trace_, index), trace_.loops[loop].iv, a_.varying[loop]);
    return linear && linear->coefficient.as_constant().value_or(0) > 0;
  }

  bool inner_extents_fit(uint16_t vector_loop, uint16_t loop, Trial& trial) const {
    for (uint16_t inner : inner_loops(loop)) {
      if (a_.varying[vector_loop].values[trace_.loops[inner].extent]) {
        trial.reason = "an inner loop's length differs from lane to lane";
        return false;
      }
      if (!inner_extents_fit(vector_loop, inner, trial)) return false;
    }
    return true;
  }

  Analysis& a_;
  const OpTrace& trace_;
  int lanes_;
};

}  // namespace

Analysis::Analysis(const OpTrace& t)
    : trace(t),
      live(live_values(t)),
      scopes(scopes_of(t)),
      carries(classify_carries(t)),
      uses(t.values.size(), 0),
      loops(t.loops.size()),
      access(t.values.size()),
      in_order(t.loops.size(), 0) {
  for (uint16_t loop = 0; loop < t.loops.size(); loop++) varying.push_back(varying_in(t, loop));
  count_uses(t, live, uses);
}

Expected<void> plan_vector_loops(Analysis& analysis, int lanes) {
  return Planner(analysis, lanes).run();
}

}  // namespace nrd::jit
