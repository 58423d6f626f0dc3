// SPDX-License-Identifier: MIT
// src/lift/promote.cpp: an element that a loop reads and writes at a fixed place becomes a carried
// value, loaded before the loop and stored behind it. See refine.h.
#include "lift/refine.h"

namespace nrd::lift {

void Refiner::promote(int region) {
  for (size_t i = 0; i < out(region).items.size(); i++) {
    const Item item = out(region).items[i];
    if (item.kind != ItemKind::kStore) continue;
    const Node store = function_[item.id];
    const Place where{store.index, store.args[0]};
    if (!is_promotable(region, where)) continue;
    promote_place(region, where);
    i = static_cast<size_t>(-1);  // the items have moved: look again
  }
}

bool Refiner::is_promotable(int region, const Place& where) {
  if (out_scopes_.varies_in(where.index, region)) return false;
  bool stored = false;
  for (const Item& item : out(region).items) {
    if (item.kind == ItemKind::kLoop) {
      if (touches(static_cast<int>(item.id), where.param, false)) return false;
      continue;
    }
    if (function_[item.id].index != where.param) continue;
    const Overlap meets = overlap(function_[item.id].args[0], where.index);
    if (meets == Overlap::kMaybe) return false;
    if (meets == Overlap::kNever) continue;
    if (item.kind == ItemKind::kLoad && stored) return false;  // of a store under a condition
    stored |= item.kind == ItemKind::kStore;
  }
  return true;
}

void Refiner::promote_place(int region, const Place& where) {
  const int home = scope_;
  const Item loop = out(home).items.back();
  out(home).items.pop_back();
  const NodeId init = load_element(where, kNoNode, out(region).address);
  out(home).items.push_back(loop);

  const Type type = function_[init].type;
  const size_t number = out(region).carries.size();
  const Node leaf = make_leaf(LeafRole::kCarry, type, region, number);
  Carry carry;
  carry.init = init;
  std::vector<Item> kept;
  for (const Item& item : out(region).items) {
    const bool meets = item.kind != ItemKind::kLoop && function_[item.id].index == where.param &&
                       overlap(function_[item.id].args[0], where.index) == Overlap::kAlways;
    if (!meets) {
      kept.push_back(item);
      continue;
    }
    if (item.kind == ItemKind::kLoad) {
      // Everybody who uses the load finds the carried value in its place.
      function_.nodes[item.id] = leaf;
      if (carry.leaf == kNoNode) carry.leaf = carry.next = item.id;
      continue;
    }
    if (carry.leaf == kNoNode) carry.leaf = carry.next = factory_.append(leaf);
    const Node store = function_[item.id];
    carry.next =
        store.args[2] == kNoNode ? store.args[1] : choice(store.args[2], store.args[1], carry.next);
  }
  out(region).items = std::move(kept);
  // Code may keep the value in a register as well, and only store it in each iteration.
  for (const Carry& other : out(region).carries)
    if (other.init == carry.init && other.next == carry.next) carry.result = other.result;
  if (carry.result == kNoNode) {
    carry.result = factory_.append(make_leaf(LeafRole::kResult, type, region, number));
    out(region).carries.push_back(carry);
  }
  store_element(where, carry.result, kNoNode, out(region).address);
}

}  // namespace nrd::lift
