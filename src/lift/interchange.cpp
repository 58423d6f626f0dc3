// SPDX-License-Identifier: MIT
// src/lift/interchange.cpp: for (p) for (j) c[j] += a[p] * b[p, j] with the loops the other way
// round, so that each sum is carried by its own loop. Every element sees the same operations in
// the same order. See refine.h.
#include <algorithm>
#include <utility>

#include "lift/refine.h"

namespace nrd::lift {

// The only loop in a loop that otherwise only loads, or -1.
int Refiner::only_inner_loop(int region) {
  const std::vector<Item>& items = out(region).items;
  if (items.empty() || items.back().kind != ItemKind::kLoop) return -1;
  const bool only_loads = std::all_of(items.begin(), items.end() - 1, [](const Item& item) {
    return item.kind == ItemKind::kLoad;
  });
  return only_loads ? static_cast<int>(items.back().id) : -1;
}

bool Refiner::carries_nothing(int region) {
  const std::vector<Carry>& carries = out(region).carries;
  return std::all_of(carries.begin(), carries.end(),
                     [](const Carry& carry) { return carry.init == kNoNode; });
}

// Whether `outer` may become the inner one: what the inner loop stores it also loads, at the same
// element, which is another one in each iteration of it and the same in each of the outer loop.
bool Refiner::is_interchangeable(int outer, int inner) {
  if (!carries_nothing(outer) || !carries_nothing(inner)) return false;
  if (out_scopes_.varies_in(out(inner).extent, outer)) return false;
  bool accumulates = false;
  for (const Item& item : out(inner).items) {
    if (item.kind == ItemKind::kLoop) return false;
    if (item.kind != ItemKind::kStore) continue;
    const Node store = function_[item.id];
    const auto split = scev_.of(store.args[0]).linear_in(out(inner).iv);
    if (!split || !split->slope.is_constant() || split->slope.is_zero() ||
        out_scopes_.varies_in(scev_.node_of(split->rest), outer))
      return false;
    for (const Item& other : out(inner).items) {
      const Node access = function_[other.id];
      if (access.index != store.index) continue;
      if (overlap(access.args[0], store.args[0]) != Overlap::kAlways) return false;
      accumulates |= other.kind == ItemKind::kLoad;
    }
    for (const Item& other : out(outer).items)
      if (other.kind == ItemKind::kLoad && function_[other.id].index == store.index) return false;
  }
  return accumulates;
}

// Called when `outer` is complete, the last item of the present scope.
bool Refiner::interchange(int outer) {
  const int inner = only_inner_loop(outer);
  if (inner < 0 || !is_interchangeable(outer, inner)) return false;
  std::vector<Item> body = std::move(out(outer).items);
  body.pop_back();
  body.insert(body.end(), out(inner).items.begin(), out(inner).items.end());
  for (const Item& item : body)
    if (item.kind == ItemKind::kLoad) function_.nodes[item.id].bits = static_cast<uint64_t>(outer);
  out(outer).items = std::move(body);
  out(inner).items = {{ItemKind::kLoop, static_cast<uint32_t>(outer)}};
  out(scope_).items.back().id = static_cast<uint32_t>(inner);
  std::swap(out(outer).depth, out(inner).depth);
  out(inner).parent = out(outer).parent;
  out(outer).parent = inner;
  out_scopes_.forget_all();
  return true;
}

}  // namespace nrd::lift
