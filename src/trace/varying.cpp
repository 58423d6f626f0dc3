// SPDX-License-Identifier: MIT
// src/trace/varying.cpp: what depends on a loop's counter or on a carried value.
#include "trace/poly.h"

namespace nrd {
namespace {

// Spreads marks from arguments to users, in execution order.
class Spreader {
 public:
  explicit Spreader(const OpTrace& trace)
      : marks{std::vector<uint8_t>(trace.values.size(), 0),
              std::vector<uint8_t>(trace.params.size(), 0)},
        trace_(trace) {}

  // Marks of carried values and memory travel from one iteration of an inner loop to the next, and
  // of memory from one of this loop to the next.
  void spread(const std::vector<ValueId>& body) {
    do {
      changed_ = false;
      pass(body);
    } while (changed_);
  }

  void mark_stored(const std::vector<ValueId>& body) {
    for (ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kStore) marks.params[v.index] = 1;
      if (v.op == TraceOp::kLoop) mark_stored(trace_.loops[v.index].body);
    }
  }

  Varying marks;

 private:
  bool is_marked(ValueId id) const { return id != kNoValue && marks.values[id]; }

  void mark(uint8_t& flag) {
    changed_ |= !flag;
    flag = 1;
  }

  void pass(const std::vector<ValueId>& body) {
    for (ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop) {
        loop(trace_.loops[v.index]);
        continue;
      }
      bool any = v.op == TraceOp::kLoad && marks.params[v.index];
      for (ValueId arg : v.args) any |= is_marked(arg);
      if (!any) continue;
      mark(marks.values[id]);
      if (v.op == TraceOp::kStore) mark(marks.params[v.index]);
    }
  }

  void loop(const TraceLoop& l) {
    const bool length = is_marked(l.extent);
    for (const LoopCarry& c : l.carries) {
      if (is_marked(c.init) || is_marked(c.next)) mark(marks.values[c.carry]);
    }
    pass(l.body);
    for (const LoopCarry& c : l.carries) {
      if (length || is_marked(c.init) || is_marked(c.next)) mark(marks.values[c.result]);
    }
  }

  const OpTrace& trace_;
  bool changed_ = false;
};

}  // namespace

Varying varying_in(const OpTrace& trace, uint16_t loop) {
  const TraceLoop& l = trace.loops[loop];
  Spreader spreader(trace);
  spreader.marks.values[l.iv] = 1;
  for (const LoopCarry& c : l.carries) {
    if (c.next != c.carry) spreader.marks.values[c.carry] = 1;
  }
  spreader.mark_stored(l.body);
  spreader.spread(l.body);
  return std::move(spreader.marks);
}

Varying reached_from(const OpTrace& trace, uint16_t loop, ValueId seed) {
  Spreader spreader(trace);
  spreader.marks.values[seed] = 1;
  spreader.spread(trace.loops[loop].body);
  return std::move(spreader.marks);
}

}  // namespace nrd
