// SPDX-License-Identifier: MIT
// src/jit/steps.cpp: one long instance as steps, by rewriting its trace.
//
// A trace whose top is loops L1, L2, ... and scalar code between them becomes one trace a loop and
// a last one for the scalar stores. Where Lk carries something, its own step is
//
//   for s < slots { for i < min(extent - s * chunk, chunk) carry = neutral { Lk's body }; row[s] =
//   it }
//
// whose outer loop can be shared out, and in every later step Lk is a short loop over the row.
#include <algorithm>

#include "jit/lowering.h"
#include "jit/size_value.h"
#include "jit/steps_values.h"
#include "jit/storage.h"

namespace nrd::jit {
namespace {

constexpr int64_t kRowsAChunk = 16;  // of an outer loop around others; extrema may be cut anywhere

DType row_dtype(TraceType type) {
  if (type == TraceType::kF32) return DType::kF32;
  return type == TraceType::kF64 ? DType::kF64 : DType::kI32;
}

// A loop at the top of the trace.
struct TopLoop {
  uint16_t loop;
  size_t at;  // in the trace's body
  bool carries = false;
  int64_t chunk = kReductionChunk;
  ValueId slots = kNoValue;    // its chunks
  std::vector<uint16_t> rows;  // of each carry: the parameter with its chunks' values
};

class StepMaker {
 public:
  explicit StepMaker(Stored& stored) : trace_(stored.trace), binding_(stored.binding) {}

  Expected<void> prepare() {
    const Liveness live = live_values(trace_);
    const Carries carries = classify_carries(trace_);
    for (size_t at = 0; at < trace_.body.size(); at++) {
      const Value& v = trace_[trace_.body[at]];
      if (v.op == TraceOp::kStore) NRD_TRY(check_store(v, live));
      if (v.op != TraceOp::kLoop || !live.loops[v.index]) continue;
      TopLoop top{v.index, at, false, kReductionChunk, kNoValue, {}};
      NRD_TRY(check_carries(top, carries, live));
      loops_.push_back(std::move(top));
    }
    carries_ = carries;
    live_ = live;
    for (TopLoop& top : loops_) {
      if (top.carries) add_rows(top);
    }
    return {};
  }

  // One a loop, and one if there are scalar stores.
  size_t steps() const {
    const bool stores = std::any_of(trace_.body.begin(), trace_.body.end(),
                                    [&](ValueId id) { return trace_[id].op == TraceOp::kStore; });
    return loops_.size() + (stores ? 1 : 0);
  }

  // The trace of one step; the last one has the scalar stores. Loops that run in order are marked.
  OpTrace trace_of(size_t step, std::vector<uint8_t>& in_order) const {
    OpTrace trace = trace_;
    in_order.assign(trace.loops.size(), 0);
    for (size_t i = 0; i < loops_.size() && i < step; i++) {
      if (!loops_[i].carries) continue;
      combine_rows(trace, loops_[i]);
      in_order[loops_[i].loop] = 1;
    }
    ValueId replaced = kNoValue;
    if (step < loops_.size() && loops_[step].carries) {
      replaced = cut_into_chunks(trace, loops_[step]);
      in_order.push_back(0);
    }
    std::vector<ValueId> body;
    for (size_t at = 0; at < trace_.body.size(); at++) {
      const ValueId id = trace_.body[at];
      const TraceOp op = trace_[id].op;
      if (op == TraceOp::kStore && step < loops_.size()) continue;
      if (op != TraceOp::kLoop) {
        body.push_back(id);
        continue;
      }
      for (size_t i = 0; i < loops_.size(); i++) {
        if (loops_[i].at != at) continue;
        if (i < step && loops_[i].carries) body.push_back(id);
        if (i == step) body.push_back(replaced == kNoValue ? id : replaced);
      }
    }
    trace.body = std::move(body);
    return trace;
  }

  std::vector<SharedRow> rows;

 private:
  Error refuse(std::string why) const {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace_.name,
                       .got = std::move(why),
                       .hint = "one thread runs it"});
  }

  // Scalar stores come last, so nothing may read what they write.
  Expected<void> check_store(const Value& store, const Liveness& live) const {
    for (ValueId id = 0; id < trace_.values.size(); id++) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoad && live.values[id] && v.index == store.index) {
        return refuse("an element of " + trace_.params[v.index].name + " is stored and read again");
      }
    }
    return {};
  }

  Expected<void> check_carries(TopLoop& top, const Carries& carries, const Liveness& live) const {
    const TraceLoop& l = trace_.loops[top.loop];
    if (!is_known_ahead(trace_, l.extent)) return refuse("a loop's length depends on data");
    bool has_inner = false;
    for (ValueId id : l.body) has_inner |= trace_[id].op == TraceOp::kLoop;
    for (size_t i = 0; i < l.carries.size(); i++) {
      if (!live.values[l.carries[i].carry]) continue;
      const CarryKind kind = carries[top.loop][i].kind;
      top.carries = true;
      if (kind == CarryKind::kSequential || kind == CarryKind::kConstant) {
        return refuse("a loop carries a value that cannot be cut into parts");
      }
      if (!has_inner) continue;
      top.chunk = kRowsAChunk;
      if (!is_extremum(kind)) return refuse("a sum runs through several loops");
    }
    return {};
  }

  void add_rows(TopLoop& top) {
    Pen pen(trace_);
    const ValueId extent = trace_.loops[top.loop].extent;
    const ValueId less_one = pen.constant(TraceType::kI64, static_cast<uint64_t>(top.chunk - 1));
    const ValueId chunk = pen.constant(TraceType::kI64, static_cast<uint64_t>(top.chunk));
    const ValueId up = pen.op(TraceOp::kAdd, TraceType::kI64, extent, less_one);
    top.slots = pen.op(TraceOp::kDivFloor, TraceType::kI64, up, chunk);
    for (const LoopCarry& c : trace_.loops[top.loop].carries) {
      const DType dtype = row_dtype(trace_[c.carry].type);
      top.rows.push_back(static_cast<uint16_t>(trace_.params.size()));
      trace_.params.push_back({.kind = TraceParamKind::kPointer,
                               .dtype = dtype,
                               .read = true,
                               .written = true,
                               .name = "row" + std::to_string(trace_.params.size())});
      binding_.dtypes.push_back(dtype);
      rows.push_back({dtype, top.slots});
    }
  }

  // The step's own loop; returns the statement of the loop around it.
  ValueId cut_into_chunks(OpTrace& trace, const TopLoop& top) const {
    Pen pen(trace);
    const auto outer = static_cast<uint16_t>(trace.loops.size());
    trace.loops.emplace_back();
    const ValueId slot = pen.add({.op = TraceOp::kIv, .type = TraceType::kI64, .index = outer});
    const ValueId chunk = pen.constant(TraceType::kI64, static_cast<uint64_t>(top.chunk));
    const ValueId first = pen.op(TraceOp::kMul, TraceType::kI64, slot, chunk);
    const ValueId extent = trace.loops[top.loop].extent;
    const ValueId left = pen.op(TraceOp::kSub, TraceType::kI64, extent, first);
    const ValueId length = pen.op(TraceOp::kMin, TraceType::kI64, left, chunk);

    // The old counter's value becomes the sum of the two new ones.
    TraceLoop& inner = trace.loops[top.loop];
    const ValueId old_iv = inner.iv;
    inner.iv = pen.add({.op = TraceOp::kIv, .type = TraceType::kI64, .index = top.loop});
    trace.values[old_iv] = {
        .op = TraceOp::kAdd, .type = TraceType::kI64, .args = {first, inner.iv, kNoValue}};
    inner.extent = length;
    inner.body.insert(inner.body.begin(), old_iv);

    TraceLoop around{slot, top.slots, {}, {chunk, first, left, length}};
    std::vector<ValueId> stores;
    for (size_t i = 0; i < inner.carries.size(); i++) {
      LoopCarry& c = trace.loops[top.loop].carries[i];
      if (!live_.values[c.carry]) continue;
      const TraceType type = trace[c.carry].type;
      c.init = neutral(pen, carries_[top.loop][i].kind, type, c.init);
      around.body.push_back(c.init);
      ValueId value = c.result;
      if (type == TraceType::kI64) {
        value = pen.op(TraceOp::kToI32, TraceType::kI32, value, kNoValue);
        stores.push_back(value);
      }
      stores.push_back(pen.store(top.rows[i], slot, value));
    }
    around.body.push_back(trace_.body[top.at]);
    around.body.insert(around.body.end(), stores.begin(), stores.end());
    trace.loops[outer] = std::move(around);
    return pen.add({.op = TraceOp::kLoop, .index = outer});
  }

  // A loop of an earlier step: its chunks' values, in order.
  void combine_rows(OpTrace& trace, const TopLoop& top) const {
    Pen pen(trace);
    TraceLoop& l = trace.loops[top.loop];
    l.extent = top.slots;
    l.body.clear();
    std::vector<ValueId> elements(l.carries.size(), kNoValue);
    auto keep = [&](ValueId id) {
      l.body.push_back(id);
      return id;
    };
    for (size_t i = 0; i < l.carries.size(); i++) {
      const TraceType type = trace[l.carries[i].carry].type;
      const bool is_i64 = type == TraceType::kI64;
      ValueId e = keep(pen.load(top.rows[i], is_i64 ? TraceType::kI32 : type, l.iv));
      if (is_i64) e = keep(pen.op(TraceOp::kToI64, type, e, kNoValue));
      elements[i] = e;
    }
    for (size_t i = 0; i < l.carries.size(); i++) {
      const CarryInfo& info = carries_[top.loop][i];
      const TraceType type = trace[l.carries[i].carry].type;
      LoopCarry& c = l.carries[i];
      if (info.kind != CarryKind::kArg) {
        c.next = keep(combined(pen, info.kind, type, c.carry, elements[i]));
        continue;
      }
      const auto decides = static_cast<size_t>(info.extremum);
      const ValueId best = l.carries[decides].carry;
      const ValueId wins = is_better(pen, l.body, carries_[top.loop][decides].kind,
                                     trace[best].type, elements[decides], best);
      c.next = keep(pen.op(TraceOp::kSelect, type, wins, elements[i], c.carry));
    }
  }

  OpTrace& trace_;
  Binding& binding_;
  std::vector<TopLoop> loops_;
  Carries carries_;
  Liveness live_;
};

}  // namespace

Expected<LoweredSteps> lower_in_steps(const OpTrace& trace, const Binding& binding,
                                      const Target& target) {
  NRD_TRY(check_binding(trace, binding));
  Expected<Stored> stored = keep_in_scratch(trace, binding);
  if (!stored) return stored.error();
  StepMaker maker(*stored);
  NRD_TRY(maker.prepare());
  LoweredSteps lowered;
  for (ValueId length : stored->scratch) lowered.rows.push_back({DType::kF32, length});
  lowered.rows.insert(lowered.rows.end(), maker.rows.begin(), maker.rows.end());
  for (size_t i = 0; i < maker.steps(); i++) {
    std::vector<uint8_t> in_order;
    const OpTrace part = maker.trace_of(i, in_order);
    Expected<Step> step = lower_step(part, stored->binding, target, in_order, true);
    if (!step) return step.error();
    lowered.steps.push_back(std::move(*step));
  }
  lowered.layout = layout_of(stored->trace);
  lowered.trace = std::move(stored->trace);
  return lowered;
}

}  // namespace nrd::jit
