// SPDX-License-Identifier: MIT
// src/trace/extents.cpp: the ranges of all indices, and accesses as text.
#include "trace/extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/program.h"

namespace nrd {
namespace {

class Scan {
 public:
  Scan(const OpTrace& trace, std::span<const int64_t> sizes, std::span<const LoadedRange> loaded)
      : trace_(trace), bounds_(trace, sizes, loaded), rank_(param_ranks(trace)) {
    const auto pointers =
        std::count_if(trace.params.begin(), trace.params.end(),
                      [](const TraceParam& p) { return p.kind == TraceParamKind::kPointer; });
    extents_.resize(static_cast<size_t>(pointers));
  }

  std::vector<Extent> run() {
    block(trace_.body);
    return extents_;
  }

 private:
  void block(const std::vector<ValueId>& body) {
    for (const ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) touch(id, v);
      if (v.op != TraceOp::kLoop) continue;
      const TraceLoop& loop = trace_.loops[v.index];
      if (bounds_.range(loop.extent).high < 1) continue;
      scope_.push_back(v.index);
      block(loop.body);
      scope_.pop_back();
    }
  }

  void touch(ValueId id, const Value& v) {
    const ValueId guard = v.op == TraceOp::kLoad ? v.args[1] : v.args[2];
    const Range r = bounds_.range_where(v.args[0], guard, scope_);
    if (r.high < r.low) return;  // never
    Extent& e = extents_[rank_[v.index]];
    if (r.low < e.first) e.first = r.low, e.lowest = id;
    if (r.high >= e.end) e.end = r.high + 1, e.highest = id;
  }

  const OpTrace& trace_;
  Bounds bounds_;
  std::vector<size_t> rank_;
  std::vector<uint16_t> scope_;  // loops around, outermost first
  std::vector<Extent> extents_;
};

// Infix, with as few brackets as it takes.
std::string text_of(const OpTrace& trace, ValueId id, int depth, bool inside) {
  const Value& v = trace[id];
  if (depth > 12) return "...";
  auto arg = [&](int i, bool in) {
    return text_of(trace, v.args[static_cast<size_t>(i)], depth + 1, in);
  };
  auto infix = [&](std::string_view sign, bool tight) {
    const std::string text = arg(0, tight) + std::string(sign) + arg(1, true);
    return inside ? "(" + text + ")" : text;
  };
  switch (v.op) {
    case TraceOp::kConst:
      return fmt::format("{}", v.type == TraceType::kI32 ? static_cast<int32_t>(v.bits)
                                                         : static_cast<int64_t>(v.bits));
    case TraceOp::kParam: return trace.params[v.index].name;
    case TraceOp::kIv: return fmt::format("i{}", v.index);
    case TraceOp::kLoad: return trace.params[v.index].name + "[" + arg(0, false) + "]";
    case TraceOp::kAdd:
      if (const Value& b = trace[v.args[1]];
          b.op == TraceOp::kConst && static_cast<int64_t>(b.bits) < 0 && b.type == TraceType::kI64)
        return infix("", false);  // the sign is the constant's
      return infix("+", false);
    case TraceOp::kSub: return infix("-", false);
    case TraceOp::kMul: return infix("*", true);
    case TraceOp::kDivFloor: return infix("/", true);
    case TraceOp::kModFloor: return infix("%", true);
    case TraceOp::kShl: return infix("<<", true);
    case TraceOp::kShr:
    case TraceOp::kSar: return infix(">>", true);
    case TraceOp::kAnd: return infix("&", true);
    case TraceOp::kToI32:
    case TraceOp::kToI64:
    case TraceOp::kUToI64: return arg(0, inside);
    case TraceOp::kCarry:
    case TraceOp::kResult: return fmt::format("c{}", v.bits);
    default: {
      std::string list;
      for (int i = 0; i < trace_op_arity(v.op); i++)
        if (v.args[static_cast<size_t>(i)] != kNoValue) list += (i ? ", " : "") + arg(i, false);
      return fmt::format("{}({})", trace_op_word(v.op), list);
    }
  }
}

}  // namespace

std::vector<Extent> extents(const OpTrace& trace, std::span<const int64_t> sizes,
                            std::span<const LoadedRange> loaded) {
  return Scan(trace, sizes, loaded).run();
}

std::vector<bool> index_sources(const OpTrace& trace) {
  std::vector<bool> seen(trace.values.size()), params(trace.params.size());
  std::vector<ValueId> work;
  auto visit = [&](ValueId id) {
    if (id == kNoValue || seen[id]) return;
    seen[id] = true;
    work.push_back(id);
  };
  for (const Value& v : trace.values)
    if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) visit(v.args[0]);
  for (const TraceLoop& loop : trace.loops) visit(loop.extent);
  while (!work.empty()) {
    const Value& v = trace[work.back()];
    work.pop_back();
    if (v.op == TraceOp::kLoad) params[v.index] = true;
    for (const ValueId arg : v.args) visit(arg);
    if (v.op != TraceOp::kCarry && v.op != TraceOp::kResult) continue;
    const LoopCarry& carry = trace.loops[v.index].carries[v.bits];
    visit(carry.init), visit(carry.next);
  }
  std::vector<bool> sources;
  for (size_t p = 0; p < trace.params.size(); p++)
    if (trace.params[p].kind == TraceParamKind::kPointer) sources.push_back(params[p]);
  return sources;
}

std::string access_text(const OpTrace& trace, ValueId access) {
  const Value& v = trace[access];
  return fmt::format("{}[{}]", trace.params[v.index].name, text_of(trace, v.args[0], 0, false));
}

}  // namespace nrd
