// SPDX-License-Identifier: MIT
// src/trace/footprint.cpp: intervals of integer values, from sizes and loop extents.
#include "trace/footprint.h"

#include <algorithm>

namespace nrd {
namespace {

// Wide enough for any real index, narrow enough that products of two do not overflow.
constexpr int64_t kLimit = int64_t{1} << 40;

struct Interval {
  int64_t low = -kLimit, high = kLimit;
};

Interval clamp(__int128 low, __int128 high) {
  auto bound = [](__int128 v) {
    return static_cast<int64_t>(std::clamp<__int128>(v, -kLimit, kLimit));
  };
  return {bound(low), bound(high)};
}

class Scan {
 public:
  Scan(const OpTrace& trace, std::span<const int64_t> sizes, int64_t loaded)
      : trace_(trace),
        sizes_(sizes),
        loaded_(loaded),
        of_(trace.values.size()),
        known_(trace.values.size()) {
    size_t sized = 0;
    for (const TraceParam& p : trace.params) {
      const bool pointer = p.kind == TraceParamKind::kPointer;
      rank_.push_back(pointer ? pointers_ : sized);
      pointers_ += pointer;
      sized += p.kind == TraceParamKind::kSize;
    }
    elements_.assign(pointers_, 0);
  }

  std::vector<int64_t> run() {
    block(trace_.body);
    return elements_;
  }

 private:
  // Each counter has one interval, so a value has one too: computed when first asked for.
  Interval at(ValueId id) {
    if (id == kNoValue) return {};
    if (!known_[id]) {
      of_[id] = value(trace_[id]);
      known_[id] = true;
    }
    return of_[id];
  }

  void set(ValueId id, Interval interval) {
    of_[id] = interval;
    known_[id] = true;
  }

  void block(const std::vector<ValueId>& body) {
    for (ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop)
        loop(trace_.loops[v.index]);
      else
        at(id);
    }
  }

  void loop(const TraceLoop& l) {
    const Interval extent = at(l.extent);
    if (extent.high < 1) return;
    set(l.iv, {0, extent.high - 1});
    for (const LoopCarry& c : l.carries) set(c.carry, {}), set(c.result, {});
    block(l.body);
  }

  void touch(const Value& v) {
    const Interval index = at(v.args[0]);
    int64_t& most = elements_[rank_[v.index]];
    if (index.low < 0 || index.high >= kLimit)
      most = -1;
    else if (most >= 0)
      most = std::max(most, index.high + 1);
  }

  Interval value(const Value& v) {
    if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) touch(v);
    const Interval a = at(v.args[0]), b = at(v.args[1]), c = at(v.args[2]);
    using Wide = __int128;
    switch (v.op) {
      case TraceOp::kConst: {
        const int64_t n =
            v.type == TraceType::kI32 ? static_cast<int32_t>(v.bits) : static_cast<int64_t>(v.bits);
        return clamp(n, n);
      }
      case TraceOp::kParam: {
        if (trace_.params[v.index].kind != TraceParamKind::kSize) return {};
        const int64_t n = sizes_[rank_[v.index]];
        return {n, n};
      }
      case TraceOp::kLoad: return {0, loaded_ - 1};
      case TraceOp::kAdd: return clamp(Wide{a.low} + b.low, Wide{a.high} + b.high);
      case TraceOp::kSub: return clamp(Wide{a.low} - b.high, Wide{a.high} - b.low);
      case TraceOp::kNeg: return {-a.high, -a.low};
      case TraceOp::kMul: {
        const Wide p[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                          Wide{a.high} * b.high};
        return clamp(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
      }
      case TraceOp::kDivFloor:
        return a.low >= 0 && b.low > 0 ? Interval{a.low / b.high, a.high / b.low} : Interval{};
      case TraceOp::kModFloor: return b.low > 0 ? Interval{0, b.high - 1} : Interval{};
      case TraceOp::kMin: return {std::min(a.low, b.low), std::min(a.high, b.high)};
      case TraceOp::kMax: return {std::max(a.low, b.low), std::max(a.high, b.high)};
      case TraceOp::kShr:
      case TraceOp::kSar: return a.low >= 0 && b.low >= 0 ? Interval{0, a.high} : Interval{};
      case TraceOp::kAnd:
        return b.low >= 0 ? Interval{0, b.high} : a.low >= 0 ? Interval{0, a.high} : Interval{};
      case TraceOp::kSelect: return {std::min(b.low, c.low), std::max(b.high, c.high)};
      case TraceOp::kToI64:
      case TraceOp::kToI32:
      case TraceOp::kUToI64: return a;
      default: return {};
    }
  }

  const OpTrace& trace_;
  std::span<const int64_t> sizes_;
  int64_t loaded_;
  std::vector<Interval> of_;
  std::vector<bool> known_;
  std::vector<size_t> rank_;  // of a parameter among those of its kind
  size_t pointers_ = 0;
  std::vector<int64_t> elements_;
};

}  // namespace

std::vector<int64_t> footprint(const OpTrace& trace, std::span<const int64_t> sizes,
                               int64_t loaded) {
  return Scan(trace, sizes, loaded).run();
}

}  // namespace nrd
