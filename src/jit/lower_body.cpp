// SPDX-License-Identifier: MIT
// src/jit/lower_body.cpp: statements in order, counted loops, and what moves out of a loop.
#include "jit/lowering.h"
#include "trace/op_info.h"

namespace nrd::jit {

void Lowering::statements(const Body& body) {
  for (ValueId id : body) {
    if (trace_[id].op == TraceOp::kLoop) {
      if (a_.is_live_loop(trace_[id].index)) loop(trace_[id].index);
    } else if (a_.is_live(id)) {
      statement(id);
    }
  }
}

// Pure values wait until they are needed; a load may not, for a store may follow.
void Lowering::statement(ValueId id) {
  const Value& v = trace_[id];
  const int copies = at_.loop < 0 ? 1 : at_.copies;
  for (int copy = 0; copy < copies; copy++) {
    if (v.op == TraceOp::kStore) store(id, copy);
    if (v.op == TraceOp::kLoad && vector_slot(id, copy) == kNoReg) vector(id, copy);
  }
}

void Lowering::loop(uint16_t number) {
  switch (a_.loops[number].form) {
    case LoopForm::kCounted: return counted_loop(number);
    case LoopForm::kMap: return map_loop(number);
    case LoopForm::kReduce: return reduce_loop(number);
  }
}

// The counter's first value and its end. Only the outermost loop of split code has a range.
void Lowering::begin_counter(uint16_t number, G& iv, G& end) {
  if (number == range_loop_) {
    iv = b_.gload({b_.block(), {}, 1, BlockLayout::kBegin});
    end = range_end_;
  } else {
    iv = b_.gconst(0);
    end = scalar(trace_.loops[number].extent);
  }
}

void Lowering::counted_loop(uint16_t number) {
  if (is_nest_of_extrema(number)) return reduce_nest(number);
  const TraceLoop& l = trace_.loops[number];
  std::vector<Carried> carried;
  for (size_t i = 0; i < l.carries.size(); i++) {
    const LoopCarry& c = l.carries[i];
    if (!a_.is_live(c.carry)) continue;
    Carried one{i, {}, {}};
    if (trace_[c.carry].type == TraceType::kI64 && !varies(c.carry)) {
      one.scalar = b_.gmove(scalar(c.init));
    } else if (trace_[c.carry].type == TraceType::kBool) {
      refuse("a loop carries a condition");
    } else {
      const int copies = varies(c.carry) || varies(c.result) ? at_.copies : 1;
      for (int k = 0; k < copies; k++) {
        one.vectors.push_back(move(lane_of(c.carry), vector(c.init, k)));
      }
    }
    carried.push_back(std::move(one));
  }
  iterate(number, carried);
  for (const Carried& one : carried) {
    const ValueId result = l.carries[one.carry].result;
    if (one.scalar.valid()) bind(result, one.scalar);
    for (size_t k = 0; k < one.vectors.size(); k++) {
      V last = one.vectors[k];
      if (a_.in_order[number]) {  // the chunks of a reduction: as the whole one ends
        last = one_zero(a_.carries[number][one.carry].kind, lane_of(result), last);
      }
      bind(result, static_cast<int>(k), last);
    }
  }
}

// One iteration after the other.
void Lowering::iterate(uint16_t number, const std::vector<Carried>& carried) {
  const TraceLoop& l = trace_.loops[number];
  hoist_out_of(number, false);
  G iv, end;
  begin_counter(number, iv, end);
  const Label top = b_.label(), done = b_.label();
  b_.branch(Predicate::kGe, iv, end, done);
  const Mark outside = mark();
  hoist_out_of(number, true);
  b_.loop_begin();
  b_.bind(top);
  const Mark inside = mark();
  bind(l.iv, iv);
  for (const Carried& one : carried) {
    const ValueId carry = l.carries[one.carry].carry;
    if (one.scalar.valid()) bind(carry, one.scalar);
    for (size_t k = 0; k < one.vectors.size(); k++)
      bind(carry, static_cast<int>(k), one.vectors[k]);
  }
  statements(l.body);
  move_carries(number, carried);
  forget(inside);
  b_.gop(Op::kGAdd, iv, 1, iv);
  b_.branch(Predicate::kLt, iv, end, top);
  b_.loop_end();
  forget(outside);
  b_.bind(done);
}

// All next values first, for one may use another carry's present one.
void Lowering::move_carries(uint16_t number, const std::vector<Carried>& carried) {
  const TraceLoop& l = trace_.loops[number];
  if (carried.size() == 1 && !carried[0].scalar.valid()) {
    const LoopCarry& c = l.carries[carried[0].carry];
    for (size_t k = 0; k < carried[0].vectors.size(); k++) {
      vector(c.next, static_cast<int>(k), carried[0].vectors[k]);
    }
    return;
  }
  std::vector<std::pair<V, V>> moves;
  for (const Carried& one : carried) {
    const LoopCarry& c = l.carries[one.carry];
    if (one.scalar.valid()) {
      moves.emplace_back(V{b_.gmove(scalar(c.next)).id}, V{});
      continue;
    }
    for (size_t k = 0; k < one.vectors.size(); k++) {
      moves.emplace_back(move(lane_of(c.carry), vector(c.next, static_cast<int>(k))), V{});
    }
  }
  size_t at = 0;
  for (const Carried& one : carried) {
    const LoopCarry& c = l.carries[one.carry];
    if (one.scalar.valid()) b_.gmove(G{moves[at++].first.id}, one.scalar);
    for (V v : one.vectors) move(lane_of(c.carry), moves[at++].first, v);
  }
}

// ---- what does not vary ----

// Computed already, or from such values alone.
bool Lowering::is_ready(ValueId id) const {
  if (id == kNoValue) return true;
  const Value& v = trace_[id];
  if (v.op == TraceOp::kConst || v.op == TraceOp::kParam) return true;
  const size_t slot = slot_of(id, 0);
  if (vectors_[slot] != kNoReg || scalars_[slot] != kNoReg) return true;
  if (!is_pure(v.op) || v.op <= TraceOp::kResult) return false;
  return is_ready(v.args[0]) && is_ready(v.args[1]) && is_ready(v.args[2]);
}

// Writes the invariant values of a loop's body in front of it: first those that need no memory,
// then, once it is certain that the loop runs, loads and what depends on them.
void Lowering::hoist_out_of(uint16_t number, bool with_loads) {
  std::vector<uint16_t> nest;
  hoist(number, trace_.loops[number].body, nest, with_loads);
  if (!with_loads) return;
  prepare_divisors(number, trace_.loops[number].body);
  prepare_streams(number, trace_.loops[number].body);
}

void Lowering::hoist(uint16_t number, const Body& body, std::vector<uint16_t>& nest,
                     bool with_loads) {
  nest.push_back(number);
  for (ValueId id : body) {
    const Value& v = trace_[id];
    if (v.op == TraceOp::kLoop) {
      if (a_.is_live_loop(v.index)) hoist(v.index, trace_.loops[v.index].body, nest, with_loads);
      continue;
    }
    if (!a_.is_live(id)) continue;
    // Arguments may stand further out and not have been needed so far.
    for (ValueId arg : v.args) {
      if (arg != kNoValue && trace_[arg].op != TraceOp::kLoad) hoist_value(arg, nest);
    }
    if (v.op == TraceOp::kLoad && (!with_loads || nest.size() > 1)) continue;  // it may not run
    hoist_value(id, nest);
  }
  nest.pop_back();
}

void Lowering::hoist_value(ValueId id, const std::vector<uint16_t>& nest) {
  const Value& v = trace_[id];
  if (v.type == TraceType::kI64 || v.type == TraceType::kNone) return;
  if (v.op == TraceOp::kConst || v.op == TraceOp::kCarry || v.op == TraceOp::kResult) return;
  for (uint16_t loop : nest) {
    if (a_.varying[loop].values[id]) return;
  }
  if (!is_hoistable(id)) return;
  const int copies = varies(id) ? at_.copies : 1;
  for (int copy = 0; copy < copies; copy++) {
    if (vector_slot(id, copy) != kNoReg) continue;
    if (v.type == TraceType::kBool) {
      mask(id, copy);
    } else {
      vector(id, copy);
    }
  }
}

// A load, or a pure value whose arguments are there.
bool Lowering::is_hoistable(ValueId id) const {
  const Value& v = trace_[id];
  for (ValueId arg : v.args) {
    if (!is_ready(arg)) return false;
  }
  return v.op == TraceOp::kLoad || is_pure(v.op);
}

// Divisors that stay the same while a vector loop, or a loop inside one, runs.
void Lowering::prepare_divisors(uint16_t number, const Body& body) {
  if (a_.loops[number].form == LoopForm::kCounted && at_.loop < 0) return;
  for (ValueId id : body) {
    const Value& v = trace_[id];
    if (v.op != TraceOp::kDiv || v.type != TraceType::kF32 || !a_.is_live(id)) continue;
    if (is_exact_[id]) continue;
    const Varying& varying = a_.varying[number];
    if (varying.values[v.args[1]] || !varying.values[v.args[0]]) continue;
    bool is_known = false;
    for (const Divisor& d : divisors_) is_known |= d.value == v.args[1];
    if (is_known || !is_ready(v.args[1])) continue;
    for (int copy = 0; copy < (varies(v.args[1]) ? at_.copies : 1); copy++) {
      divisors_.push_back({v.args[1], copy, math_prepare_division(b_, vector(v.args[1], copy))});
    }
  }
}

// Pointers of a vector loop's own accesses. Those of inner loops depend on the inner counters.
void Lowering::prepare_streams(uint16_t number, const Body& body) {
  if (a_.loops[number].form == LoopForm::kCounted) return;
  for (ValueId id : body) {
    const Value& v = trace_[id];
    if ((v.op != TraceOp::kLoad && v.op != TraceOp::kStore) || !a_.is_live(id)) continue;
    const AccessKind kind = a_.access[id].kind;
    if (kind != AccessKind::kUniform) stream(v.index, a_.access[id].rest);
  }
}

}  // namespace nrd::jit
