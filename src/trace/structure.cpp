// SPDX-License-Identifier: MIT
// src/trace/structure.cpp: see structure.h.
#include "trace/structure.h"

#include <algorithm>

namespace nrd {

Structure::Structure(const OpTrace& t)
    : trace(t), live(live_values(t)), scopes(scopes_of(t)), carries(classify_carries(t)) {
  for (uint16_t loop = 0; loop < t.loops.size(); loop++) varying.push_back(varying_in(t, loop));
  for (ValueId id = 0; id < t.values.size(); id++) {
    const Value& v = t[id];
    if (!live.values[id] || (v.op != TraceOp::kLoad && v.op != TraceOp::kStore)) continue;
    auto& list = v.op == TraceOp::kLoad ? loads : stores;
    list.push_back({id, scopes.loop_of_value[id], poly_of(t, v.args[0])});
  }
}

std::vector<uint16_t> Structure::nest(uint32_t loop) const {
  std::vector<uint16_t> loops;
  for (; loop != kNoLoop; loop = scopes.loop_of_loop[loop])
    loops.push_back(static_cast<uint16_t>(loop));
  std::reverse(loops.begin(), loops.end());
  return loops;
}

bool Structure::is_carry_live(uint16_t loop, size_t carry) const {
  return live.loops[loop] && live.values[trace.loops[loop].carries[carry].carry];
}

bool Structure::has_kind(uint16_t loop, CarryKind kind) const {
  for (size_t i = 0; i < carries[loop].size(); i++) {
    if (is_carry_live(loop, i) && carries[loop][i].kind == kind) return true;
  }
  return false;
}

bool Structure::reduces(uint16_t loop) const {
  for (size_t i = 0; i < carries[loop].size(); i++) {
    if (is_carry_live(loop, i) && carries[loop][i].kind != CarryKind::kConstant) return true;
  }
  return false;
}

bool Structure::has_reduction_inside(uint32_t scope) const {
  for (uint16_t loop = 0; loop < trace.loops.size(); loop++) {
    if (loop != scope && live.loops[loop] && reduces(loop) && scopes.is_inside(loop, scope))
      return true;
  }
  return false;
}

}  // namespace nrd
