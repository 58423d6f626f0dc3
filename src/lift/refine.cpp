// SPDX-License-Identifier: MIT
// src/lift/refine.cpp: regions in program order. See refine.h.
#include "lift/refine.h"

#include <utility>

#include "lift/congruence.h"
#include "lift/ifconvert.h"

namespace nrd::lift {

Refiner::Refiner(Function& function, NodeFactory& factory, const LoopTree& tree, Scev& scev,
                 const FlatParams& params)
    : function_(function),
      factory_(factory),
      tree_(tree),
      out_(tree),
      scev_(scev),
      facts_(function, scev),
      params_(params),
      needed_(function, tree),
      out_scopes_(function, out_),
      runs_at_least_once_(tree.regions.size(), false),
      inlined_(tree.regions.size(), false) {
  for (Region& region : out_.regions) {
    region.items.clear();
    region.guard = kNoNode;
  }
}

LoopTree Refiner::run() {
  walk(0);
  if (tree_.result != kNoNode) out_.result = rebuild(tree_.result);
  return std::move(out_);
}

void Refiner::walk(int region) {
  const int before = std::exchange(scope_, region);
  walk_items(region);
  relax_guards(region);
  scope_ = before;
}

void Refiner::walk_items(int region) {
  for (const Item& item : in(region).items) {
    if (item.kind == ItemKind::kStore) walk_store(item.id);
    if (item.kind == ItemKind::kLoad && needed_.nodes[item.id]) walk_load(item.id);
    if (item.kind == ItemKind::kLoop && needed_.regions[item.id])
      walk_loop(static_cast<int>(item.id));
  }
}

NodeId Refiner::refined_guard(NodeId guard) {
  if (guard == kNoNode) return kNoNode;
  const NodeId made = rebuild(guard);
  return is_always(made) ? kNoNode : made;
}

void Refiner::walk_loop(int region) {
  const NodeId guard = refined_guard(in(region).guard);
  start_carries(region);
  const size_t facts_before = facts_.mark(), memos_before = memo_log_.size();
  if (guard != kNoNode) facts_.assume(guard);
  set_extent(region, guard);
  const bool is_inline = runs_once(region) && guard == kNoNode;
  if (is_inline)
    walk_inline(region);
  else
    walk(region);
  const int home = std::exchange(scope_, is_inline ? scope_ : region);
  for (Carry& carry : out(region).carries)
    if (carry.init != kNoNode) carry.next = rebuild(carry.next);
  scope_ = home;
  facts_.pop(facts_before);
  forget_since(memos_before);
  if (is_inline) return finish_inline(region);
  if (guard != kNoNode) check_guard(region, guard);
  out(scope_).items.push_back({ItemKind::kLoop, static_cast<uint32_t>(region)});
  finish_loop(region);
}

void Refiner::finish_loop(int region) {
  if (!interchange(region)) return promote(region);
  const int around = out(region).parent;  // what was inside
  const int home = std::exchange(scope_, around);
  promote(region);
  scope_ = home;
  promote(around);
}

// Initial values belong in front of the loop: nothing may be assumed that only its body knows.
void Refiner::start_carries(int region) {
  const std::vector<size_t> first = equal_carries(function_, factory_, in(region));
  for (size_t i = 0; i < in(region).carries.size(); i++) {
    Carry& carry = out(region).carries[i];
    const bool is_counter = scev_.is_affine(carry.leaf);
    if (!is_counter && first[i] != i) {
      const Carry& same = in(region).carries[first[i]];
      const Type type = function_[carry.leaf].type;
      set_memo(carry.leaf, factory_.low(rebuild(same.leaf), type));
      set_memo(carry.result, factory_.low(rebuild(same.result), type));
    }
    const bool needed = !is_counter && first[i] == i && needed_.nodes[carry.leaf];
    carry.init = needed ? rebuild(carry.init) : kNoNode;
    if (!needed) carry.next = kNoNode;
  }
}

bool Refiner::runs_once(int region) {
  const Node& extent = function_[out(region).extent];
  return extent.kind == Kind::kConst && extent.bits == 1;
}

// The body of a loop that runs once belongs to the region around it.
void Refiner::walk_inline(int region) {
  set_memo(in(region).iv, factory_.constant(Type::kI64, 0));
  for (const Carry& carry : out(region).carries)
    if (carry.init != kNoNode) set_memo(carry.leaf, carry.init);
  inlined_[static_cast<size_t>(region)] = true;
  walk_items(region);
}

void Refiner::finish_inline(int region) {
  for (const Carry& carry : out(region).carries)
    if (carry.init != kNoNode) set_memo(carry.result, carry.next);
}

void Refiner::set_extent(int region, NodeId guard) {
  TripCount trips = scev_.trip_count(region);
  if (!trips.known) give_up(trips.reason);
  if (guard != kNoNode && function_[guard].kind == Kind::kConst) trips.count = IntPoly(0);
  IntPoly count = scev_.of(from_poly(trips.count, Type::kI64));
  if (in(region).bottom_tested && !trips.exact && !facts_.proves_at_least_one(count)) {
    count = scev_.larger(count, IntPoly(1));
    runs_at_least_once_[static_cast<size_t>(region)] = true;
  }
  count = facts_.narrowed(count);
  out(region).extent = scev_.node_of(count);
  facts_.assume(Fact{FactKind::kAtLeastZero, count - IntPoly(1)});
  facts_.set_extent(in(region).iv, std::move(count));
}

// A loop under a condition is one without, where the condition only says that there is something
// to do. Under any other condition on integers it runs nothing where that fails.
void Refiner::check_guard(int region, NodeId guard) {
  if (function_[guard].kind == Kind::kConst) return;
  std::vector<NodeId> parts{guard};
  while (!parts.empty()) {
    const NodeId part = parts.back();
    parts.pop_back();
    const Node n = function_[part];
    if (n.kind == Kind::kPure && n.op == TraceOp::kAnd) {
      parts.push_back(n.args[0]);
      parts.push_back(n.args[1]);
      continue;
    }
    std::vector<Fact> given;
    collect_facts(function_, scev_, part, false, given);
    if (given.empty()) refuse_guard(region);
    if (has_no_effect(region, given)) continue;
    // No size that is divided is negative (scev.h): unrolled loops do the rest of n by n % 4.
    assume_dividends(scev_.of(out(region).extent), given);
    if (has_no_effect(region, given)) continue;
    const NodeId nothing = factory_.constant(Type::kI64, 0);
    out(region).extent = choose(factory_, guard, out(region).extent, nothing);
    return;
  }
}

bool Refiner::is_size(NodeId id) const {
  const Node& n = function_[id];
  return n.kind == Kind::kArg || (n.kind == Kind::kSext && function_[n.args[0]].kind == Kind::kArg);
}

void Refiner::assume_dividends(const IntPoly& poly, std::vector<Fact>& given) {
  for (const PolyTerm& term : poly.terms())
    for (const NodeId atom : term.atoms) {
      if (atom == kNoNode) continue;
      const Node n = function_[atom];
      if (n.kind != Kind::kPure || (n.op != TraceOp::kDivFloor && n.op != TraceOp::kModFloor))
        continue;
      const IntPoly whole = scev_.of(n.args[0]);
      const NodeId size = whole.single_atom();
      if (size != kNoNode && is_size(size)) given.push_back({FactKind::kAtLeastZero, whole});
    }
}

void Refiner::refuse_guard(int region) {
  give_up("the loop at " + place(in(region).address) +
          " runs under a condition that is not about its size");
}

bool Refiner::has_no_effect(int region, std::span<const Fact> given) {
  const Region& loop = out(region);
  if (facts_.is_at_most_zero(scev_.of(loop.extent), given)) return true;
  for (const Item& item : loop.items) {
    if (item.kind == ItemKind::kStore && !writes_back(item.id, given)) return false;
    if (item.kind == ItemKind::kLoop && !has_no_effect(static_cast<int>(item.id), given))
      return false;
  }
  return true;
}

// An element that a loop carries is stored behind it; where the loop runs nothing that is what was
// loaded.
bool Refiner::writes_back(NodeId id, std::span<const Fact> given) {
  const Node store = function_[id];
  const Node value = function_[store.args[1]];
  if (!is_leaf(value) || leaf_role(value) != LeafRole::kResult) return false;
  const Region& loop = out(static_cast<int>(value.index));
  const NodeId init = loop.carries[leaf_number(value)].init;
  return init != kNoNode && function_[init].kind == Kind::kLoad &&
         function_[init].index == store.index &&
         overlap(function_[init].args[0], store.args[0]) == Overlap::kAlways &&
         facts_.is_at_most_zero(scev_.of(loop.extent), given);
}

}  // namespace nrd::lift
