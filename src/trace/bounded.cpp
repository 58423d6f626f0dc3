// SPDX-License-Identifier: MIT
// src/trace/bounded.cpp: walks a trace with bounded values.
#include "trace/bounded.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "trace/bounded_ops.h"
#include "trace/classify.h"
#include "trace/op_info.h"
#include "trace/program.h"

namespace nrd {
namespace {

using bounded::kInfinity;
using bounded::Slot;

// How a value takes part in a sum whose order is free.
struct SumPlan {
  std::vector<int8_t> through;           // by value: which argument is the partial sum, or -1
  std::vector<std::vector<bool>> whole;  // by loop and carry: the sum begins and ends here
};

SumPlan plan_sums(const OpTrace& trace) {
  const Carries carries = classify_carries(trace);
  SumPlan plan{std::vector<int8_t>(trace.values.size(), -1), {}};
  std::vector<uint8_t> is_inner(trace.values.size(), 0);  // carries that continue an outer sum
  auto is_sum = [&](size_t loop, size_t i) {
    return carries[loop][i].kind == CarryKind::kSum &&
           is_float(trace[trace.loops[loop].carries[i].carry].type);
  };
  for (size_t loop = 0; loop < carries.size(); loop++) {
    for (size_t i = 0; i < carries[loop].size(); i++) {
      if (!is_sum(loop, i)) continue;
      const std::vector<ValueId>& chain = carries[loop][i].chain;
      auto leads_on = [&](ValueId id) {
        return id == trace.loops[loop].carries[i].carry ||
               std::find(chain.begin(), chain.end(), id) != chain.end();
      };
      for (ValueId id : chain) {
        const Value& v = trace[id];
        if (v.op == TraceOp::kCarry) is_inner[id] = 1;
        for (int8_t arg = 0; arg < trace_op_arity(v.op); arg++) {
          if (leads_on(v.args[static_cast<size_t>(arg)])) plan.through[id] = arg;
        }
      }
    }
  }
  for (size_t loop = 0; loop < carries.size(); loop++) {
    plan.whole.emplace_back();
    for (size_t i = 0; i < carries[loop].size(); i++)
      plan.whole[loop].push_back(is_sum(loop, i) && !is_inner[trace.loops[loop].carries[i].carry]);
  }
  return plan;
}

Slot slot_of(TraceType type, const Bounded& b) {
  if (is_float(type)) return {.value = b.value, .bound = b.bound};
  return {.bound = b.bound, .integer = static_cast<int64_t>(b.value)};
}

class Walker {
 public:
  Walker(const OpTrace& trace, const BoundedArgs& args)
      : trace_(trace), args_(args), rank_(param_ranks(trace)), sums_(plan_sums(trace)) {
    slots_.resize(trace.values.size());
    size_t carries = 0;
    for (const TraceLoop& loop : trace.loops) carries = std::max(carries, loop.carries.size());
    scratch_.resize(carries);
    for (ValueId id = 0; id < trace.values.size(); id++) set_leaf(id);
  }

  void run() {
    const std::vector<Step> steps = linearise(trace_);
    for (size_t at = 0; at < steps.size();) {
      const Step& step = steps[at];
      switch (step.kind) {
        case StepKind::kValue:
          value(step.value);
          at++;
          break;
        case StepKind::kBegin: at = begins(step.loop) ? at + 1 : step.other; break;
        case StepKind::kEnd: at = again(step.loop) ? step.other : at + 1; break;
      }
    }
  }

 private:
  void set_leaf(ValueId id) {
    const Value& v = trace_[id];
    Slot& slot = slots_[id];
    if (v.op == TraceOp::kConst) {
      slot = bounded::constant(v.type, v.bits);
    }
    if (v.op != TraceOp::kParam) return;
    const size_t rank = rank_[v.index];
    switch (trace_.params[v.index].kind) {
      case TraceParamKind::kSize: slot.integer = args_.sizes[rank]; break;
      case TraceParamKind::kInt: slot.integer = args_.ints[rank]; break;
      default:
        slot.value = v.type == TraceType::kF64
                         ? args_.numbers[rank]
                         : static_cast<double>(static_cast<float>(args_.numbers[rank]));
    }
  }

  const Slot& arg(const Value& v, size_t i) const {
    return v.args[i] == kNoValue ? nothing_ : slots_[v.args[i]];
  }

  void value(ValueId id) {
    const Value& v = trace_[id];
    if (v.op == TraceOp::kLoad) {
      slots_[id] = load(v);
    } else if (v.op == TraceOp::kStore) {
      store(v);
    } else if (sums_.through[id] >= 0) {
      const auto through = static_cast<size_t>(sums_.through[id]);
      slots_[id] = bounded::sum_step(v, arg(v, through), arg(v, through == 0 ? 1 : 0), arg(v, 1));
    } else {
      slots_[id] = bounded::apply(trace_, v, arg(v, 0), arg(v, 1), arg(v, 2));
    }
  }

  Slot read(const Value& v) const {
    const TraceParam& p = trace_.params[v.index];
    const int64_t index = arg(v, 0).integer;
    const void* memory = args_.pointers[rank_[v.index]];
    Slot slot;
    if (is_float(p.dtype) || p.written) {
      slot = slot_of(loaded_type(p.dtype), static_cast<const Bounded*>(memory)[index]);
    } else if (p.dtype == DType::kI32) {
      slot.integer = static_cast<const int32_t*>(memory)[index];
    } else if (p.dtype == DType::kI8) {
      slot.integer = static_cast<const int8_t*>(memory)[index];
    } else {
      slot.integer = static_cast<const uint8_t*>(memory)[index];
    }
    if (arg(v, 0).bound > 0) slot.bound = kInfinity;
    return slot;
  }

  Slot load(const Value& v) const {
    if (v.args[1] == kNoValue) return read(v);
    const Slot& guard = arg(v, 1);
    // An element behind a guard that is surely false may lie outside the array.
    if (guard.bound == 0 && !guard.integer) return arg(v, 2);
    return bounded::choose(v.type, guard, read(v), arg(v, 2));
  }

  void store(const Value& v) {
    const TraceParam& p = trace_.params[v.index];
    const TraceType type = loaded_type(p.dtype);
    Bounded& element = static_cast<Bounded*>(args_.pointers[rank_[v.index]])[arg(v, 0).integer];
    Slot slot = arg(v, 1);
    if (p.dtype == DType::kI8) slot.integer = static_cast<int8_t>(slot.integer);
    if (p.dtype == DType::kU8) slot.integer = static_cast<uint8_t>(slot.integer);
    if (v.args[2] != kNoValue) {
      const Slot& guard = arg(v, 2);
      if (guard.bound == 0 && !guard.integer) return;
      slot = bounded::choose(type, guard, slot, slot_of(type, element));
    }
    const double value = is_float(type) ? slot.value : static_cast<double>(slot.integer);
    element = {value, arg(v, 0).bound > 0 ? kInfinity : slot.bound};
  }

  bool begins(uint16_t number) {
    const TraceLoop& loop = trace_.loops[number];
    const bool runs = slots_[loop.extent].integer > 0;
    for (size_t i = 0; i < loop.carries.size(); i++) {
      const LoopCarry& c = loop.carries[i];
      Slot& to = slots_[runs ? c.carry : c.result];
      to = slots_[c.init];
      if (!sums_.whole[number][i]) continue;
      to.magnitude = std::isfinite(to.value) ? std::fabs(to.value) : 0;
      to.terms = 0;
    }
    slots_[loop.iv] = {};
    return runs;
  }

  bool again(uint16_t number) {
    const TraceLoop& loop = trace_.loops[number];
    const bool more = ++slots_[loop.iv].integer < slots_[loop.extent].integer;
    for (size_t i = 0; i < loop.carries.size(); i++) scratch_[i] = slots_[loop.carries[i].next];
    for (size_t i = 0; i < loop.carries.size(); i++) {
      const LoopCarry& c = loop.carries[i];
      slots_[more ? c.carry : c.result] = scratch_[i];
      if (!more && sums_.whole[number][i])
        slots_[c.result] = bounded::sum_done(trace_[c.result].type, scratch_[i]);
    }
    return more;
  }

  const OpTrace& trace_;
  const BoundedArgs& args_;
  std::vector<size_t> rank_;
  SumPlan sums_;
  std::vector<Slot> slots_;
  std::vector<Slot> scratch_;
  Slot nothing_;
};

}  // namespace

void interpret_bounded(const OpTrace& trace, const BoundedArgs& args) { Walker(trace, args).run(); }

bool within(double got, const Bounded& want, double factor) {
  if (want.bound == kInfinity) return true;
  if (want.value != want.value) return got != got;
  if (got == want.value) return true;
  return std::fabs(got - want.value) <= factor * want.bound && std::isfinite(want.value);
}

}  // namespace nrd
