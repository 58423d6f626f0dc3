// SPDX-License-Identifier: MIT
// src/lift/unrolled_copies.cpp: whether every copy in an unrolled loop is what the rest computes.
#include <algorithm>
#include <bit>

#include "lift/roller.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kDeepestExpression = 40;

}  // namespace

// A counter of join in terms of main's, as an iteration of main begins.
void Roller::find_counters() {
  counters_.clear();
  for (const Phi& phi : block(s_.join).phis) {
    if (!is_index_type(f_[phi.node].type)) continue;
    Affine behind = affine_.of(argument(phi, s_.from_main));
    Affine before = behind, begin = behind;
    bool counts = true;
    for (const auto& [leaf, factor] : behind.terms) {
      const Phi* of = phi_of(leaf, s_.main);
      if (of == nullptr) continue;
      const int64_t step = step_of(*of, s_.main);
      counts = counts && step % copies_ == 0 && step != 0;
      before.constant -= factor * step;
      begin = begin.with(leaf, affine_.of(argument(*of, s_.entry)));
      begin.constant -= factor * step;
    }
    if (counts && behind.terms.size() > 0 && begin == affine_.of(argument(phi, s_.from_fork)))
      counters_.push_back({phi.node, before});
  }
}

const Affine* Roller::counter_of_join(NodeId id) const {
  for (const auto& [node, value] : counters_)
    if (node == id) return &value;
  return nullptr;
}

bool Roller::find_carried() {
  carried_.clear();
  for (const Phi& phi : block(s_.main).phis) {
    const int64_t step = step_of(phi, s_.main);
    if (step != 0 && step % copies_ == 0) continue;
    if (step != 0) return false;
    const Carried made = carried_as(phi);
    if (made.next == kNoNode) return false;
    carried_.push_back(made);
  }
  return true;
}

// Join has it from main, or as main would have begun; end has what rest makes of that.
Carried Roller::carried_as(const Phi& phi) const {
  for (const Phi& joined : block(s_.join).phis) {
    if (argument(joined, s_.from_main) != argument(phi, s_.main) ||
        argument(joined, s_.from_fork) != argument(phi, s_.entry))
      continue;
    if (!s_.rest_is_loop) {
      for (const Phi& last : block(s_.end).phis)
        if (argument(last, s_.from_join) == joined.node)
          return {phi.node, joined.node, argument(last, s_.from_rest)};
      continue;
    }
    for (const Phi& in_rest : block(s_.rest).phis)
      if (argument(in_rest, s_.before_rest) == joined.node)
        return {phi.node, in_rest.node, argument(in_rest, s_.rest)};
  }
  return {};
}

// End gets from rest what it would get from a join behind all iterations.
bool Roller::end_agrees() const {
  for (const Phi& last : block(s_.end).phis) {
    const NodeId skipped = argument(last, s_.from_join), made = argument(last, s_.from_rest);
    if (skipped == made && !is_inside(made)) continue;
    const bool is_carried = std::any_of(carried_.begin(), carried_.end(), [&](const Carried& c) {
      const Phi* in_rest = s_.rest_is_loop ? phi_of(c.rest, s_.rest) : nullptr;
      const NodeId joined = in_rest ? argument(*in_rest, s_.before_rest) : c.rest;
      return c.next == made && joined == skipped;
    });
    if (!is_carried) return false;
  }
  return true;
}

bool Roller::is_inside(NodeId id) const {
  const Node& n = f_[id];
  const bool has_place = n.kind == Kind::kPhi || n.kind == Kind::kLoad;
  return has_place && (n.index == s_.main || n.index == s_.rest || n.index == s_.join);
}

bool Roller::reaches_inside(NodeId id, std::vector<bool>& seen) const {
  if (id == kNoNode || seen[id]) return false;
  seen[id] = true;
  if (is_inside(id)) return true;
  if (f_[id].kind == Kind::kPhi) return false;
  const auto& args = f_[id].args;
  return std::any_of(args.begin(), args.end(),
                     [&](NodeId arg) { return reaches_inside(arg, seen); });
}

bool Roller::is_private() const {
  std::vector<bool> seen(f_.nodes.size(), false);
  const auto leaks = [&](NodeId id) { return reaches_inside(id, seen); };
  if (leaks(f_.result)) return false;
  for (BlockId b = 0; b < f_.blocks.size(); b++) {
    if (b == s_.main || b == s_.rest) continue;
    const Block& at = block(b);
    for (const NodeId access : at.memory)
      if (leaks(access)) return false;
    if (b != s_.join && leaks(at.condition)) return false;
    for (const Phi& phi : at.phis)
      for (size_t i = 0; i < phi.args.size(); i++) {
        const BlockId from = at.predecessors[i];
        const bool known = (b == s_.join && from == s_.from_main) ||
                           (b == s_.end && (from == s_.from_rest || from == s_.from_join));
        if (!known && leaks(phi.args[i])) return false;
      }
  }
  return true;
}

// Of an integer of rest: what it is in copy j of main.
bool Roller::in_copy(NodeId id, int64_t j, Affine& value) const {
  value = affine_.of(id);
  for (int round = 0; round < 2; round++) {  // a counter of rest may begin with one of join
    const Affine before = value;
    for (const auto& [leaf, factor] : before.terms) {
      if (const Affine* of = counter_of_join(leaf)) {
        value = value.with(leaf, *of);
        if (!s_.rest_is_loop) value.constant += factor * steps_in(*of, j);
      } else if (const Phi* phi = s_.rest_is_loop ? phi_of(leaf, s_.rest) : nullptr) {
        const int64_t step = step_of(*phi, s_.rest);
        if (step == 0) return false;
        value = value.with(leaf, affine_.of(argument(*phi, s_.before_rest)));
        value.constant += factor * step * j;
      }
    }
  }
  return std::none_of(value.terms.begin(), value.terms.end(), [&](const auto& term) {
    return is_inside(term.first) && phi_of(term.first, s_.main) == nullptr;
  });
}

// By how much an expression of main's counters moves in j copies.
int64_t Roller::steps_in(const Affine& of, int64_t j) const {
  int64_t sum = 0;
  for (const auto& [leaf, factor] : of.terms)
    if (const Phi* phi = phi_of(leaf, s_.main))
      sum += factor * (step_of(*phi, s_.main) / copies_) * j;
  return sum;
}

bool Roller::same(NodeId rest, NodeId main, int64_t j, int depth) {
  if (depth > kDeepestExpression || rest == kNoNode || main == kNoNode) return rest == main;
  const Node &r = f_[rest], &m = f_[main];
  if (r.type != m.type) return false;
  for (size_t i = 0; i < carried_.size(); i++)
    if (carried_[i].rest == rest) {
      if (begins_[i] == kNoNode) begins_[i] = main;
      return begins_[i] == main;
    }
  if (is_index_type(r.type)) {
    Affine here;
    if (in_copy(rest, j, here) && here == affine_.of(main)) return true;
  }
  if (rest == main) return !depends_on_inside(rest);
  if (r.kind != m.kind || r.op != m.op || r.predicate != m.predicate || r.flags != m.flags)
    return false;
  if (r.kind == Kind::kLoad) {
    const bool inside = r.index == s_.rest && m.index == s_.main;
    if (!inside || !same(r.args[0], m.args[0], j, depth + 1)) return false;
    used_.push_back({main, j});
    return true;
  }
  if (r.kind == Kind::kPhi || r.kind == Kind::kConst || r.kind == Kind::kArg ||
      r.kind == Kind::kStore || r.bits != m.bits || r.high != m.high)
    return false;
  return same_arguments(r.args, m.args, r, j, depth);
}

bool Roller::same_arguments(std::array<NodeId, 3> a, std::array<NodeId, 3> b, Node n, int64_t j,
                            int depth) {
  const std::vector<NodeId> begins = begins_;
  const size_t used = used_.size();
  const auto all = [&] {
    return same(a[0], b[0], j, depth + 1) && same(a[1], b[1], j, depth + 1) &&
           same(a[2], b[2], j, depth + 1);
  };
  if (all()) return true;
  const bool commutes = n.kind == Kind::kPure &&
                        (n.op == TraceOp::kAdd || n.op == TraceOp::kMul || n.op == TraceOp::kAnd ||
                         n.op == TraceOp::kOr || n.op == TraceOp::kXor);
  if (!commutes) return false;
  begins_ = begins;
  used_.resize(used);
  std::swap(b[0], b[1]);
  return all();
}

bool Roller::depends_on_inside(NodeId id) const {
  std::vector<bool> seen(f_.nodes.size(), false);
  return reaches_inside(id, seen);
}

bool Roller::find_copies() {
  used_.clear();
  stores_.clear();
  std::vector<NodeId> made;
  for (const Carried& c : carried_) made.push_back(argument(*phi_of(c.main, s_.main), s_.main));
  for (int64_t j = copies_; j-- > 0;) {
    begins_.assign(carried_.size(), kNoNode);
    for (size_t i = 0; i < carried_.size(); i++)
      if (!same(carried_[i].next, made[i], j, 0)) return false;
    for (const NodeId access : block(s_.rest).memory)
      if (f_[access].kind == Kind::kStore && !find_store(access, j)) return false;
    if (j == 0) first_ = made;
    if (std::find(begins_.begin(), begins_.end(), kNoNode) != begins_.end()) return false;
    made = begins_;
  }
  for (size_t i = 0; i < carried_.size(); i++)
    if (made[i] != carried_[i].main) return false;
  const auto stores = std::count_if(block(s_.main).memory.begin(), block(s_.main).memory.end(),
                                    [&](NodeId id) { return f_[id].kind == Kind::kStore; });
  return stores == static_cast<std::ptrdiff_t>(stores_.size()) && keeps_order();
}

bool Roller::find_store(NodeId rest, int64_t j) {
  for (const NodeId access : block(s_.main).memory) {
    if (f_[access].kind != Kind::kStore) continue;
    if (!same(f_[rest].args[0], f_[access].args[0], j, 0)) continue;
    if (!same(f_[rest].args[1], f_[access].args[1], j, 0)) return false;
    stores_.push_back({access, j});
    return true;
  }
  return false;
}

// What one copy stores another does not touch, unless they stand in the order of the copies.
bool Roller::keeps_order() const {
  const std::vector<NodeId>& memory = block(s_.main).memory;
  const auto place = [&](NodeId id) { return std::find(memory.begin(), memory.end(), id); };
  const auto in_order = [&](const auto& store, const auto& access) {
    if (store.second == access.second || store.first == access.first) return true;
    const bool before = place(store.first) < place(access.first);
    if (before == (store.second < access.second)) return true;
    const Affine apart = affine_.of(f_[store.first].args[0]) - affine_.of(f_[access.first].args[0]);
    if (apart.is_constant())
      return apart.constant >= 8 || apart.constant <= -8 ||
             is_apart(apart.constant, store.first, access.first);
    return std::count_if(apart.terms.begin(), apart.terms.end(), [&](const auto& term) {
             return f_[term.first].kind == Kind::kArg && (term.second == 1 || term.second == -1);
           }) >= 2;  // of two pointers, which are never to the same memory
  };
  for (const auto& store : stores_) {
    for (const auto& load : used_)
      if (!in_order(store, load)) return false;
    for (const auto& other_store : stores_)
      if (!in_order(store, other_store)) return false;
  }
  return true;
}

bool Roller::is_apart(int64_t distance, NodeId a, NodeId b) const {
  const auto bytes = [&](NodeId id) {
    const Node& n = f_[id];
    return static_cast<int64_t>(bytes_of(n.kind == Kind::kStore ? f_[n.args[1]].type : n.type));
  };
  return distance > 0 ? distance >= bytes(b) : -distance >= bytes(a);
}

}  // namespace nrd::lift
