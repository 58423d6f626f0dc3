// SPDX-License-Identifier: MIT
// src/trace/interpret.cpp: decodes a trace into functions on slots, then runs them.
#include "trace/interpret.h"

#include <algorithm>
#include <limits>

#include "trace/program.h"
#include "trace/scalar_machine.h"

namespace nrd {
namespace {

using scalar::get;
using scalar::Machine;
using scalar::Op;
using scalar::put;
using scalar::Slot;

const Op* begin_loop(Machine& m, const Op* op) {
  const TraceLoop& loop = *op->loop;
  const bool runs = get<int64_t>(m.slots[loop.extent]) > 0;
  for (const LoopCarry& c : loop.carries) m.slots[runs ? c.carry : c.result] = m.slots[c.init];
  m.slots[loop.iv] = 0;
  return runs ? op + 1 : op->other;
}

const Op* end_loop(Machine& m, const Op* op) {
  const TraceLoop& loop = *op->loop;
  const int64_t iv = get<int64_t>(m.slots[loop.iv]) + 1;
  m.steps_left -= op->length;
  const bool again = iv < get<int64_t>(m.slots[loop.extent]);
  for (size_t i = 0; i < loop.carries.size(); i++) m.scratch[i] = m.slots[loop.carries[i].next];
  for (size_t i = 0; i < loop.carries.size(); i++)
    m.slots[again ? loop.carries[i].carry : loop.carries[i].result] = m.scratch[i];
  m.slots[loop.iv] = put(iv);
  if (m.steps_left < 0) return nullptr;
  return again ? op->other : op + 1;
}

const Op* finish(Machine&, const Op*) { return nullptr; }

Slot param_slot(const TraceParam& p, size_t at, const TraceArgs& args) {
  if (p.kind == TraceParamKind::kSize) return put(args.sizes[at]);
  if (p.kind == TraceParamKind::kInt) return put(args.ints[at]);
  const double number = args.numbers[at];
  return p.dtype == DType::kF64 ? put(number) : put(static_cast<float>(number));
}

// Constants and arguments; the last slot holds true, the guard of what has none.
void fill_slots(const OpTrace& trace, const TraceArgs& args, const std::vector<size_t>& rank,
                std::vector<Slot>& slots) {
  slots.assign(trace.values.size() + 1, 0);
  slots.back() = 1;
  for (ValueId id = 0; id < trace.values.size(); id++) {
    const Value& v = trace[id];
    if (v.op == TraceOp::kConst) slots[id] = v.bits;
    if (v.op == TraceOp::kParam) slots[id] = param_slot(trace.params[v.index], rank[v.index], args);
  }
}

Op decode_value(const OpTrace& trace, ValueId id, const TraceArgs& args, const int64_t* elements,
                const std::vector<size_t>& rank) {
  const Value& v = trace[id];
  const auto always = static_cast<uint32_t>(trace.values.size());
  auto slot = [&](size_t i) { return v.args[i] == kNoValue ? always : v.args[i]; };
  Op op{.run = scalar::run_of(trace, v), .to = id, .a = slot(0), .b = slot(1), .c = slot(2)};
  op.predicate = v.predicate;
  if (v.op == TraceOp::kLookup) op.table = &trace.tables[v.index];
  if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) {
    op.memory = static_cast<char*>(args.pointers[rank[v.index]]);
    op.dtype = trace.params[v.index].dtype;
    if (elements) op.elements = static_cast<uint64_t>(elements[rank[v.index]]);
  }
  return op;
}

std::vector<Op> decode_trace(const OpTrace& trace, const TraceArgs& args, const int64_t* elements,
                             const std::vector<size_t>& rank) {
  const std::vector<Step> steps = linearise(trace);
  std::vector<Op> ops(steps.size() + 1);
  for (size_t i = 0; i < steps.size(); i++) {
    const Step& step = steps[i];
    if (step.kind == StepKind::kValue) {
      ops[i] = decode_value(trace, step.value, args, elements, rank);
      continue;
    }
    ops[i].run = step.kind == StepKind::kBegin ? begin_loop : end_loop;
    ops[i].loop = &trace.loops[step.loop];
    ops[i].other = &ops[step.other];
    if (step.kind == StepKind::kEnd) ops[i].length = &ops[i] - ops[i].other + 1;
  }
  ops.back().run = finish;
  return ops;
}

}  // namespace

TraceRun interpret_within(const OpTrace& trace, const TraceArgs& args, const int64_t* elements,
                          int64_t most_steps) {
  const std::vector<size_t> rank = param_ranks(trace);
  Machine machine{.slots = {},
                  .scratch = {},
                  .round_to = args.round_to,
                  .nan_sign = args.nan_sign,
                  .steps_left = most_steps};
  fill_slots(trace, args, rank, machine.slots);
  size_t carries = 0;
  for (const TraceLoop& loop : trace.loops) carries = std::max(carries, loop.carries.size());
  machine.scratch.resize(carries);
  const std::vector<Op> ops = decode_trace(trace, args, elements, rank);
  for (const Op* op = ops.data(); op != nullptr;) op = op->run(machine, op);
  if (machine.outside) return TraceRun::kOutside;
  return machine.steps_left < 0 ? TraceRun::kTooLong : TraceRun::kDone;
}

void interpret(const OpTrace& trace, const TraceArgs& args) {
  static_cast<void>(interpret_within(trace, args, nullptr, std::numeric_limits<int64_t>::max()));
}

}  // namespace nrd
