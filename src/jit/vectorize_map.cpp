// SPDX-License-Identifier: MIT
// src/jit/vectorize_map.cpp: vector loops that carry nothing.
//
// Whole vectors, several an iteration, then a masked rest. The copies of a plain body follow each
// other, which keeps few registers busy; the machine overlaps them anyway. Where the body has loops
// of its own (columns of a matrix) the copies advance together, so that each row is read in one go.
#include <algorithm>

#include "jit/lowering.h"

namespace nrd::jit {
namespace {

// Beyond these a longer loop body gains nothing over its overhead.
constexpr int kHeavyBody = 60;
// A light body moves this much in an iteration: what the loop itself costs is then hidden behind
// the stores, and a short array soon reaches its rest.
constexpr int kLightBytes = 128;

}  // namespace

int Lowering::copies_for(uint16_t number) const {
  const TraceLoop& l = trace_.loops[number];
  int copies = b_.target().vector_registers > 16 ? 4 : 2;
  if (!a_.loops[number].has_inner_loops) {
    const int cost = cost_of_body(number);
    const int light = std::clamp(kLightBytes / b_.target().vector_bytes, 1, kMaxCopies);
    copies = cost <= kLightBody ? light : cost <= kHeavyBody ? 2 : 1;
  }
  if (const auto extent = poly_of(trace_, l.extent).as_constant()) {
    copies = static_cast<int>(std::clamp<int64_t>(*extent / lanes_, 1, copies));
  }
  return copies;
}

void Lowering::map_loop(uint16_t number) {
  for (const LoopCarry& c : trace_.loops[number].carries) {
    if (!a_.is_live(c.carry)) continue;
    bind(c.carry, 0, vector(c.init, 0));
    bind(c.result, 0, vector(c.init, 0));
  }
  hoist_out_of(number, false);
  G iv, end;
  begin_counter(number, iv, end);
  const Label done = b_.label();
  b_.branch(Predicate::kGe, iv, end, done);
  const Mark outside = mark();
  hoist_out_of(number, true);
  const int copies = copies_for(number);
  const bool past_cache = store_past_cache(number) != kNoValue;
  if (past_cache) {
    steps_past_cache(number, iv, end, copies);
  } else {
    whole_steps(number, iv, end, copies);
  }
  if (past_cache || (copies > 1 && !b_.target().cheap_masks)) whole_steps(number, iv, end, 1);
  masked_steps(number, iv, end);
  forget(outside);
  b_.bind(done);
}

void Lowering::whole_steps(uint16_t number, G iv, G end, int copies, bool past_cache) {
  const Label top = b_.label(), done = b_.label();
  const int step = copies * lanes_;
  const G last = b_.gop(Op::kGSub, end, step);
  b_.branch(Predicate::kGt, iv, last, done);
  LoadsAhead ahead = loads_ahead(number, iv, copies);
  b_.loop_begin();
  b_.bind(top);
  load_next(ahead, iv, last);
  const bool is_joint = a_.loops[number].has_inner_loops;
  for (int k = 0; k < (is_joint ? 1 : copies); k++) {
    vector_body(number, {number, iv, is_joint ? copies : 1, k, nullptr, past_cache, &ahead});
  }
  advance(ahead);
  b_.gop(Op::kGAdd, iv, step, iv);
  b_.branch(Predicate::kLe, iv, last, top);
  b_.loop_end();
  b_.bind(done);
}

void Lowering::masked_steps(uint16_t number, G iv, G end) {
  const Label top = b_.label(), done = b_.label();
  b_.branch(Predicate::kGe, iv, end, done);
  b_.loop_begin();
  b_.bind(top);
  const G count = b_.gop(Op::kGMin, b_.gop(Op::kGSub, end, iv), lanes_);
  const Tail tail = b_.tail(count);
  vector_body(number, {number, iv, 1, 0, &tail, false});
  b_.gop(Op::kGAdd, iv, lanes_, iv);
  b_.branch(Predicate::kLt, iv, end, top);
  b_.loop_end();
  b_.bind(done);
}

// ---- stores that bypass the cache ----

bool Lowering::is_read(uint16_t param) const {
  for (ValueId id = 0; id < trace_.values.size(); id++)
    if (trace_[id].op == TraceOp::kLoad && trace_[id].index == param && a_.is_live(id)) return true;
  return false;
}

// The only store of the loop, if the binding asks for it and whole vectors of it can be aligned.
// What is read again must stay in the cache.
ValueId Lowering::store_past_cache(uint16_t number) const {
  if (!binding_.non_temporal || a_.loops[number].has_inner_loops) return kNoValue;
  ValueId found = kNoValue;
  for (ValueId id : trace_.loops[number].body) {
    const Value& v = trace_[id];
    if (!a_.is_live(id) || (v.op != TraceOp::kLoad && v.op != TraceOp::kStore)) continue;
    // A block's elements serve whole vectors only while these begin at multiples of the lanes.
    if (a_.access[id].kind == AccessKind::kBlock) return kNoValue;
    if (v.op == TraceOp::kLoad) continue;
    const bool is_plain = a_.access[id].kind == AccessKind::kUnit && v.args[2] == kNoValue;
    const int lane_bytes = lane_of(v.args[1]) == Lane::kF64 ? 8 : 4;
    if (found != kNoValue || !is_plain || bytes_of(v.index) != lane_bytes) return kNoValue;
    if (is_read(v.index)) return kNoValue;
    found = id;
  }
  return found;
}

// A few elements up to the first aligned one, then whole vectors.
void Lowering::steps_past_cache(uint16_t number, G iv, G end, int copies) {
  const ValueId store = store_past_cache(number);
  const int size = bytes_of(trace_[store].index);
  at_.iv = iv;
  const G address = b_.gaddress(linear_address(store, 0));
  at_ = {};
  const Label aligned = b_.label(), done = b_.label();
  b_.branch(Predicate::kNe, b_.gop(Op::kGAnd, address, size - 1), 0, done);
  const G missing = b_.gop(Op::kGAnd, b_.gop(Op::kGSub, b_.gconst(0), address), lanes_ * size - 1);
  const G elements = b_.gop(Op::kGSar, missing, size == 8 ? 3 : 2);
  const G count = b_.gop(Op::kGMin, elements, b_.gop(Op::kGSub, end, iv));
  b_.branch(Predicate::kLe, count, 0, aligned);
  const Tail tail = b_.tail(count);
  vector_body(number, {number, iv, 1, 0, &tail, false});
  b_.gop(Op::kGAdd, iv, count, iv);
  b_.bind(aligned);
  whole_steps(number, iv, end, copies, true);
  b_.fence();
  b_.bind(done);
}

void Lowering::vector_body(uint16_t number, const VectorLoop& at) {
  const Mark inside = mark();
  at_ = at;
  bind_loads_ahead();
  statements(trace_.loops[number].body);
  at_ = {};
  forget(inside);
}

}  // namespace nrd::jit
