// SPDX-License-Identifier: MIT
// src/trace/contraction.cpp: finds the product over k of gemm and gemv, whatever the transposes.
#include <algorithm>

#include "trace/structure.h"

namespace nrd {
namespace {

// The load behind conversions, or kNoValue.
ValueId plain_load(const OpTrace& trace, ValueId id) {
  while (trace[id].op == TraceOp::kToF32 || trace[id].op == TraceOp::kToF64 ||
         trace[id].op == TraceOp::kToI32)
    id = trace[id].args[0];
  const Value& v = trace[id];
  return v.op == TraceOp::kLoad && v.args[1] == kNoValue ? id : kNoValue;
}

// The two loads that are multiplied and added to the carry.
std::optional<std::pair<ValueId, ValueId>> factors(const OpTrace& trace, const CarryInfo& info) {
  if (info.kind != CarryKind::kSum || info.chain.size() != 1) return std::nullopt;
  const Value& step = trace[info.chain[0]];
  if (step.op == TraceOp::kSub) return std::nullopt;
  const Value& product = step.op == TraceOp::kFma ? step : trace[info.element];
  if (product.op != TraceOp::kFma && product.op != TraceOp::kMul) return std::nullopt;
  if (step.op != TraceOp::kFma && product.op == TraceOp::kFma) return std::nullopt;
  const ValueId a = plain_load(trace, product.args[0]);
  const ValueId b = plain_load(trace, product.args[1]);
  if (a == kNoValue || b == kNoValue) return std::nullopt;
  return std::pair(a, b);
}

// The one loop that reduces, if nothing but the loops around it is live beside it.
std::optional<uint16_t> only_reduction(const Structure& s) {
  std::optional<uint16_t> k;
  for (uint16_t loop = 0; loop < s.trace.loops.size(); loop++) {
    if (!s.live.loops[loop] || !s.reduces(loop)) continue;
    if (k || s.carries[loop].size() != 1) return std::nullopt;
    k = loop;
  }
  if (!k) return std::nullopt;
  for (uint16_t loop = 0; loop < s.trace.loops.size(); loop++) {
    if (s.live.loops[loop] && !s.scopes.is_inside(*k, loop)) return std::nullopt;
  }
  return k;
}

bool varies(const Structure& s, ValueId load, uint16_t loop) {
  return depends_on(poly_of(s.trace, s.trace[load].args[0]), s.varying[loop]);
}

bool is_linear(const Structure& s, ValueId load, uint16_t loop) {
  const Poly index = poly_of(s.trace, s.trace[load].args[0]);
  return linear_in(index, s.trace.loops[loop].iv, s.varying[loop]).has_value();
}

// Neighbours in memory along this loop?
bool is_contiguous(const Structure& s, const Access& store, uint16_t loop) {
  const auto linear = linear_in(store.index, s.trace.loops[loop].iv, s.varying[loop]);
  return linear && linear->coefficient == Poly::constant(1);
}

}  // namespace

std::optional<Contraction> contraction_of(const Structure& s) {
  const std::optional<uint16_t> k = only_reduction(s);
  if (!k) return std::nullopt;
  const uint32_t around = s.scopes.loop_of_loop[*k];
  const std::vector<uint16_t> outer = s.nest(around);
  if (outer.empty() || outer.size() > 2) return std::nullopt;
  for (const Access& store : s.stores) {
    if (store.loop != around) return std::nullopt;
  }
  const auto loads = factors(s.trace, s.carries[*k][0]);
  if (!loads) return std::nullopt;
  Contraction c{.m = outer[0], .n = outer.back(), .k = *k, .is_gemv = outer.size() == 1};
  if (!c.is_gemv && is_contiguous(s, s.stores[0], c.m)) std::swap(c.m, c.n);
  c.a = loads->first;
  c.b = loads->second;
  c.result = s.trace.loops[*k].carries[0].result;
  if (!varies(s, c.a, c.m)) std::swap(c.a, c.b);
  const bool roles = varies(s, c.a, c.m) && !varies(s, c.b, c.m) &&
                     (c.is_gemv || (!varies(s, c.a, c.n) && varies(s, c.b, c.n)));
  if (!roles) return std::nullopt;
  for (const ValueId load : {c.a, c.b}) {
    if (!varies(s, load, c.k)) return std::nullopt;
    for (const uint16_t loop : {c.m, c.n, c.k}) {
      if (!is_linear(s, load, loop)) return std::nullopt;
    }
  }
  return c;
}

std::optional<Contraction> contraction_of(const OpTrace& trace) {
  return contraction_of(Structure(trace));
}

}  // namespace nrd
