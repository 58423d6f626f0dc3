// SPDX-License-Identifier: MIT
// src/trace/in_place.cpp: one walk in execution order.
#include "trace/in_place.h"

#include <algorithm>
#include <utility>

#include "trace/extents.h"
#include "trace/liveness.h"
#include "trace/poly.h"

namespace nrd {
namespace {

struct Place {
  uint32_t loop;  // innermost around it
  Poly index;
};

class PlaceWalk {
 public:
  explicit PlaceWalk(const OpTrace& trace) : trace_(trace), scopes_(scopes_of(trace)) {
    find_shared();
    for (ValueId id = 0; id < trace.values.size(); id++)
      if (trace[id].op == TraceOp::kStore) stores_.push_back(place_of(id));
  }

  bool run() {
    block(trace_.body);
    return good_;
  }

 private:
  // Inputs that may have an output's shape: of its dtype, and about as much is touched of them. So
  // it may be for some value only of an integer that is no size of the output (x[i >> s]).
  void find_shared() {
    constexpr int64_t kSizes[] = {23, 37, 41, 53, 61, 67};
    std::vector<int64_t> sizes;
    std::vector<uint16_t> pointers;
    for (uint16_t p = 0; p < trace_.params.size(); p++) {
      const TraceParamKind kind = trace_.params[p].kind;
      if (kind == TraceParamKind::kSize) sizes.push_back(kSizes[sizes.size() % std::size(kSizes)]);
      if (kind == TraceParamKind::kPointer) pointers.push_back(p);
    }
    const std::vector<Extent> touched = extents(trace_, sizes);
    shared_.assign(trace_.params.size(), false);
    share(pointers, touched, touched);
    for (int64_t& size : sizes)
      for (const int64_t value : {0, 1, 2}) {
        const int64_t before = std::exchange(size, value);
        share(pointers, extents(trace_, sizes), touched);
        size = before;
      }
  }

  void share(const std::vector<uint16_t>& pointers, const std::vector<Extent>& touched,
             const std::vector<Extent>& usual) {
    for (size_t in = 0; in < pointers.size(); in++)
      for (size_t out = 0; out < pointers.size(); out++) {
        const TraceParam &a = trace_.params[pointers[in]], &b = trace_.params[pointers[out]];
        const int64_t x = touched[in].end, y = touched[out].end;
        if (!a.written && b.written && a.dtype == b.dtype && y == usual[out].end && 2 * x > y &&
            2 * y > x)
          shared_[pointers[in]] = true;
      }
  }

  Place place_of(ValueId id) const {
    return {scopes_.loop_of_value[id], poly_of(trace_, trace_[id].args[0])};
  }

  bool has_store(const std::vector<ValueId>& body) const {
    return std::any_of(body.begin(), body.end(), [&](ValueId id) {
      const Value& v = trace_[id];
      return v.op == TraceOp::kStore ||
             (v.op == TraceOp::kLoop && has_store(trace_.loops[v.index].body));
    });
  }

  void block(const std::vector<ValueId>& body) {
    for (const ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop) {
        const std::vector<ValueId>& inner = trace_.loops[v.index].body;
        stored_ = stored_ || has_store(inner);  // its later iterations follow its stores
        block(inner);
      }
      if (v.op == TraceOp::kStore) stored_ = true;
      if (v.op == TraceOp::kLoad && stored_) good_ = good_ && is_harmless(id);
    }
  }

  bool is_harmless(ValueId id) const {
    if (!shared_[trace_[id].index]) return true;
    const Place load = place_of(id);
    return std::any_of(stores_.begin(), stores_.end(), [&](const Place& store) {
      return store.loop == load.loop && store.index == load.index;
    });
  }

  const OpTrace& trace_;
  Scopes scopes_;
  std::vector<bool> shared_;  // by parameter
  std::vector<Place> stores_;
  bool stored_ = false, good_ = true;
};

}  // namespace

bool reads_where_it_stores(const OpTrace& trace) { return PlaceWalk(trace).run(); }

}  // namespace nrd
