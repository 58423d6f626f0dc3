// SPDX-License-Identifier: MIT
// src/jit/vectorize_ahead.cpp: loads of a vector loop's next iteration before this one's stores.
//
// Where an output lies a little more than a multiple of 4096 bytes behind an input (the tensors of
// a framework do, one allocation after the other), the load of the next vector looks as if it read
// what the store of this one writes: at first only the low bits of addresses are compared. A core
// holds such a load back until the store has its number, and a long formula then runs one vector
// after the other.
#include "jit/lowering.h"

namespace nrd::jit {
namespace {

// One instruction is done before it matters. Vectors that may wait in registers: beside a light
// body there is room for more.
constexpr int kShortBody = 1;
constexpr size_t kMostVectors = 8, kMostBesideLight = 12;

// Roughly in instructions.
int cost_of(const Value& v) {
  if (v.type == TraceType::kI64 || v.op <= TraceOp::kResult) return 0;
  if (v.op >= TraceOp::kExp && v.op <= TraceOp::kHypot) return 20;
  if (v.op == TraceOp::kRoundTo) return 8;
  if (v.op == TraceOp::kDiv) return 4;
  return 1;
}

}  // namespace

int Lowering::cost_of_body(uint16_t number) const {
  int cost = 0;
  for (ValueId id : trace_.loops[number].body) cost += a_.is_live(id) ? cost_of(trace_[id]) : 0;
  return cost;
}

// All loads that vary, if they are plain, something is stored and the registers suffice; those of
// the first iteration are written here.
Lowering::LoadsAhead Lowering::loads_ahead(uint16_t number, G iv, int copies) {
  LoadsAhead ahead{number, copies, {}, {}, {}};
  if (a_.loops[number].has_inner_loops || b_.target().vector_registers <= 16) return ahead;
  std::vector<ValueId> loads;
  bool stores = false;
  for (ValueId id : trace_.loops[number].body) {
    if (!a_.is_live(id)) continue;
    stores |= trace_[id].op == TraceOp::kStore;
    if (trace_[id].op != TraceOp::kLoad || a_.access[id].kind == AccessKind::kUniform) continue;
    if (a_.access[id].kind != AccessKind::kUnit || trace_[id].args[1] != kNoValue) return ahead;
    loads.push_back(id);
  }
  const int cost = cost_of_body(number);
  const bool fits = loads.size() * static_cast<size_t>(copies) <=
                    (cost <= kLightBody ? kMostBesideLight : kMostVectors);
  const int short_body = trace_.loops.size() > 1 ? kShortBody : kLightBody;
  if (!stores || !fits || cost <= short_body) return ahead;
  ahead.loads = std::move(loads);
  ahead.now = load_copies(ahead, iv);
  return ahead;
}

// Behind the last iteration there is nothing to load: it loads its own once more.
void Lowering::load_next(LoadsAhead& ahead, G iv, G last) {
  if (ahead.loads.empty()) return;
  const G next = b_.gop(Op::kGAdd, iv, ahead.copies * lanes_);
  ahead.next = load_copies(ahead, b_.gop(Op::kGMin, next, last));
}

void Lowering::advance(const LoadsAhead& ahead) {
  for (size_t i = 0; i < ahead.now.size(); i++)
    move(lane_of(ahead.loads[i % ahead.loads.size()]), ahead.next[i], ahead.now[i]);
}

std::vector<V> Lowering::load_copies(const LoadsAhead& ahead, G iv) {
  std::vector<V> vectors;
  for (int k = 0; k < ahead.copies; k++) {
    at_ = {ahead.loop, iv, 1, k, nullptr, false, nullptr};
    for (ValueId id : ahead.loads) vectors.push_back(vector_load(id, 0, nullptr, {}));
  }
  at_ = {};
  return vectors;
}

void Lowering::bind_loads_ahead() {
  if (at_.ahead == nullptr || at_.ahead->loads.empty()) return;
  const size_t count = at_.ahead->loads.size();
  for (size_t i = 0; i < count; i++)
    bind(at_.ahead->loads[i], 0, at_.ahead->now[static_cast<size_t>(at_.first) * count + i]);
}

}  // namespace nrd::jit
