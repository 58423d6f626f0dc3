// SPDX-License-Identifier: MIT
// src/trace/liveness.cpp: see liveness.h.
#include "trace/liveness.h"

namespace nrd {
namespace {

void place(const OpTrace& trace, const std::vector<ValueId>& body, uint32_t loop, Scopes& scopes) {
  for (ValueId id : body) {
    scopes.loop_of_value[id] = loop;
    if (trace[id].op == TraceOp::kLoop) scopes.loop_of_loop[trace[id].index] = loop;
  }
}

class Marker {
 public:
  Marker(const OpTrace& trace, Liveness& live)
      : trace_(trace), live_(live), scopes_(scopes_of(trace)) {}

  void value(ValueId id) {
    if (id == kNoValue || live_.values[id]) return;
    live_.values[id] = 1;
    work_.push_back(id);
  }

  void run() {
    while (!work_.empty()) {
      const ValueId id = work_.back();
      work_.pop_back();
      visit(id);
    }
  }

 private:
  void visit(ValueId id) {
    const Value& v = trace_[id];
    loop(scopes_.loop_of_value[id]);
    for (ValueId arg : v.args) value(arg);
    if (v.op == TraceOp::kIv) loop(v.index);
    if (v.op != TraceOp::kCarry && v.op != TraceOp::kResult) return;
    loop(v.index);
    const LoopCarry& carry = trace_.loops[v.index].carries[v.bits];
    for (ValueId part : {carry.carry, carry.init, carry.next, carry.result}) value(part);
  }

  void loop(uint32_t number) {
    if (number == kNoLoop || live_.loops[number]) return;
    live_.loops[number] = 1;
    value(trace_.loops[number].extent);
    value(trace_.loops[number].iv);
    loop(scopes_.loop_of_loop[number]);
  }

  const OpTrace& trace_;
  Liveness& live_;
  Scopes scopes_;
  std::vector<ValueId> work_;
};

}  // namespace

Scopes scopes_of(const OpTrace& trace) {
  Scopes scopes{std::vector<uint32_t>(trace.values.size(), kNoLoop),
                std::vector<uint32_t>(trace.loops.size(), kNoLoop)};
  place(trace, trace.body, kNoLoop, scopes);
  for (uint32_t loop = 0; loop < trace.loops.size(); loop++) {
    place(trace, trace.loops[loop].body, loop, scopes);
    scopes.loop_of_value[trace.loops[loop].iv] = loop;
    for (const LoopCarry& carry : trace.loops[loop].carries)
      scopes.loop_of_value[carry.carry] = loop;
  }
  for (uint32_t loop = 0; loop < trace.loops.size(); loop++) {
    for (const LoopCarry& carry : trace.loops[loop].carries)
      scopes.loop_of_value[carry.result] = scopes.loop_of_loop[loop];
  }
  return scopes;
}

bool Scopes::is_inside(uint32_t loop, uint32_t outer) const {
  while (loop != kNoLoop && loop != outer) loop = loop_of_loop[loop];
  return loop == outer;
}

Liveness live_values(const OpTrace& trace) {
  Liveness live{std::vector<uint8_t>(trace.values.size(), 0),
                std::vector<uint8_t>(trace.loops.size(), 0)};
  Marker marker(trace, live);
  for (ValueId id = 0; id < trace.values.size(); id++) {
    if (trace[id].op == TraceOp::kStore) marker.value(id);
  }
  marker.run();
  return live;
}

}  // namespace nrd
