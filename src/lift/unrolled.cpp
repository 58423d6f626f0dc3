// SPDX-License-Identifier: MIT
// src/lift/unrolled.cpp: the blocks of an unrolled loop, how often it runs, and the edit.
//
//   fork --> main (n & -U, U at a time) --> join --> rest (n & (U - 1)) --> end
//    |                                      ^  |                            ^
//    +----------- fewer than U -------------+  +------ none are left -------+
//
// What `rest` stores and carries is looked for in main U times, counters moved by one each time:
// from the last copy back to the first, so that what one copy begins with is what the one before it
// must have made. Then main goes on with its first copy alone, n times, and rest is never reached.
#include "lift/unrolled.h"

#include <algorithm>
#include <bit>

#include "lift/roller.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int64_t kMostCopies = 16;

}  // namespace

bool Roller::run() {
  bool any = false;
  for (BlockId b = 0; b < f_.blocks.size(); b++) any = roll(b) || any;
  return any;
}

bool Roller::is_loop(BlockId b) const {
  const Block& at = block(b);
  return at.successors.size() == 2 && at.predecessors.size() == 2 &&
         (at.successors[0] == b) != (at.successors[1] == b) &&
         (at.predecessors[0] == b || at.predecessors[1] == b);
}

BlockId Roller::other(const std::vector<BlockId>& two, BlockId one) {
  return two[0] == one ? two[1] : two[0];
}

bool Roller::is_empty(BlockId b) const {
  const Block& at = block(b);
  return at.successors.size() == 1 && at.predecessors.size() == 1 && at.memory.empty() &&
         at.phis.empty();
}

// From `from` along the edge to `to`, over empty blocks: the block behind, `from` the last one
// before it.
BlockId Roller::follow(BlockId& from, BlockId to) const {
  for (; is_empty(to); to = block(to).successors[0]) from = to;
  return to;
}

size_t Roller::edge(BlockId b, BlockId from) const {
  const std::vector<BlockId>& list = block(b).predecessors;
  return static_cast<size_t>(std::find(list.begin(), list.end(), from) - list.begin());
}

NodeId Roller::argument(const Phi& phi, BlockId from) const {
  return phi.args[edge(f_[phi.node].index, from)];
}

bool Roller::find_shape(BlockId b) {
  s_ = Shape{.main = b};
  if (!is_loop(b)) return false;
  s_.entry = other(block(b).predecessors, b);
  s_.fork = s_.entry;
  while (is_empty(s_.fork)) s_.fork = block(s_.fork).predecessors[0];
  s_.from_main = b;
  s_.join = follow(s_.from_main, other(block(b).successors, b));
  const Block& fork = block(s_.fork);
  if (fork.successors.size() != 2 || block(s_.join).predecessors.size() != 2) return false;
  if (!block(s_.join).memory.empty() || block(s_.join).successors.size() != 2) return false;
  bool found = false;
  for (const BlockId next : fork.successors) {
    BlockId from = s_.fork;
    if (follow(from, next) != s_.join || from == s_.from_main) continue;
    s_.from_fork = from;
    found = true;
  }
  return found && find_rest();
}

bool Roller::find_rest() {
  for (const int i : {0, 1}) {
    s_.before_rest = s_.from_join = s_.join;
    s_.rest = follow(s_.before_rest, block(s_.join).successors[static_cast<size_t>(i)]);
    s_.end = follow(s_.from_join, block(s_.join).successors[static_cast<size_t>(1 - i)]);
    s_.rest_is_loop = is_loop(s_.rest);
    const Block& rest = block(s_.rest);
    if (!s_.rest_is_loop && (rest.successors.size() != 1 || rest.predecessors.size() != 1))
      continue;
    s_.from_rest = s_.rest;
    const BlockId out = s_.rest_is_loop ? other(rest.successors, s_.rest) : rest.successors[0];
    if (s_.rest != s_.end && follow(s_.from_rest, out) == s_.end) return true;
  }
  return false;
}

const Phi* Roller::phi_of(NodeId id, BlockId of) const {
  for (const Phi& phi : block(of).phis)
    if (phi.node == id) return &phi;
  return nullptr;
}

// The step of a phi that moves by a constant; 0 where it does not.
int64_t Roller::step_of(const Phi& phi, BlockId loop) const {
  if (!is_index_type(f_[phi.node].type)) return 0;
  const Affine next = plain_.of(argument(phi, loop)) - Affine::leaf(phi.node);
  return next.is_constant() ? next.constant : 0;
}

Roller::Exit Roller::exit_of(BlockId b) const {
  const Node& c = f_[block(b).condition];
  const Predicate stays = block(b).successors[0] == b ? Predicate::kNe : Predicate::kEq;
  if (c.kind != Kind::kPure || c.op != TraceOp::kCmp || c.predicate != stays) return {};
  for (const Phi& phi : block(b).phis) {
    const NodeId begin = argument(phi, b == s_.main ? s_.entry : s_.before_rest);
    const int64_t step = step_of(phi, b);
    if (step == 0 || f_[begin].kind != Kind::kConst || f_[begin].bits != 0) continue;
    for (const size_t i : {size_t{0}, size_t{1}})
      if (c.args[i] == argument(phi, b)) return {&phi, step, c.args[1 - i]};
  }
  return {};
}

// count & mask, perhaps widened: the count. Of a count that is not negative the mask may lack the
// sign.
NodeId Roller::masked(NodeId id, int64_t mask) const {
  const Node* n = &f_[id];
  if (n->kind == Kind::kZext || n->kind == Kind::kSext) n = &f_[n->args[0]];
  if (n->kind != Kind::kPure || n->op != TraceOp::kAnd) return kNoNode;
  const Node& by = f_[n->args[1]];
  if (by.kind != Kind::kConst) return kNoNode;
  const uint64_t wanted = static_cast<uint64_t>(mask) & type_mask(by.type);
  return by.bits == wanted || by.bits == (wanted & type_mask(by.type) >> 1) ? n->args[0] : kNoNode;
}

// The low 32 bits of `wide` are `word`.
bool Roller::is_low_word(NodeId wide, NodeId word) const {
  if (wide == word) return true;
  const Node &w = f_[wide], &l = f_[word];
  if (w.kind == Kind::kZext || w.kind == Kind::kSext) return w.args[0] == word;
  if (l.kind == Kind::kTrunc && l.args[0] == wide) return true;
  const bool sums = w.kind == Kind::kPure && l.kind == Kind::kPure && w.op == TraceOp::kAdd &&
                    l.op == TraceOp::kAdd && f_[w.args[1]].kind == Kind::kConst &&
                    f_[l.args[1]].kind == Kind::kConst;
  return sums && static_cast<uint32_t>(f_[w.args[1]].bits) == f_[l.args[1]].bits &&
         is_low_word(w.args[0], l.args[0]);
}

// All iterations: how many main does, U at a time, and how many are left.
bool Roller::find_count() {
  const Exit exit = exit_of(s_.main);
  if (exit.counter == nullptr || exit.step < 2 || exit.step > kMostCopies) return false;
  copies_ = exit.step;
  counter_ = exit.counter->node;
  if (!std::has_single_bit(static_cast<uint64_t>(copies_))) return false;
  const NodeId most = masked(exit.end, -copies_);
  if (most == kNoNode) return false;
  const NodeId left = left_in_rest();
  if (left == kNoNode || (!is_low_word(most, left) && !is_low_word(left, most))) return false;
  count_ = most;
  if (f_[count_].type != f_[counter_].type) count_ = factory_.convert(count_, f_[counter_].type);
  return forks_by_count(most) && joins_by_count(left);
}

NodeId Roller::left_in_rest() const {
  if (s_.rest_is_loop) {
    const Exit exit = exit_of(s_.rest);
    return exit.step == 1 ? masked(exit.end, copies_ - 1) : kNoNode;
  }
  const Node& c = f_[block(s_.join).condition];
  return c.kind == Kind::kPure && c.args[0] != kNoNode ? masked(c.args[0], copies_ - 1) : kNoNode;
}

// Main is entered where there are U iterations at least.
bool Roller::forks_by_count(NodeId count) const {
  const Block& fork = block(s_.fork);
  const Node& c = f_[fork.condition];
  if (c.kind != Kind::kPure || c.op != TraceOp::kCmp || f_[c.args[1]].kind != Kind::kConst)
    return false;
  BlockId from = s_.fork;
  const bool on_true = follow(from, fork.successors[0]) == s_.main;
  const Predicate p = on_true ? c.predicate : inverse(c.predicate);
  const Affine apart = affine_.of(c.args[0]) - affine_.of(count);
  if (!apart.is_constant()) return false;
  const int64_t least = sign_extended(f_[c.args[1]].bits, f_[c.args[1]].type) - apart.constant +
                        (p == Predicate::kGt || p == Predicate::kA ? 1 : 0);
  if (p == Predicate::kNe) return least == 1 && copies_ == 2;
  const bool is_order =
      p == Predicate::kGe || p == Predicate::kAe || p == Predicate::kGt || p == Predicate::kA;
  return is_order && least == copies_;
}

bool Roller::joins_by_count(NodeId left) const {
  const Block& join = block(s_.join);
  const Node& c = f_[join.condition];
  if (c.kind != Kind::kPure || c.op != TraceOp::kCmp) return false;
  if (masked(c.args[0], copies_ - 1) != left || f_[c.args[1]].kind != Kind::kConst ||
      f_[c.args[1]].bits != 0)
    return false;
  BlockId from = s_.join;
  const bool ends_on_true = follow(from, join.successors[0]) == s_.end;
  return c.predicate == (ends_on_true ? Predicate::kEq : Predicate::kNe);
}

bool Roller::roll(BlockId b) {
  if (!find_shape(b) || !find_count()) return false;
  find_counters();
  if (!find_carried() || !end_agrees() || !is_private() || !find_copies()) return false;
  rewrite_main();
  const NodeId zero = factory_.constant(f_[count_].type, 0);
  BlockId from = s_.fork;
  const bool on_true = follow(from, block(s_.fork).successors[0]) == s_.main;
  f_.blocks[s_.fork].condition =
      factory_.compare(on_true ? Predicate::kNe : Predicate::kEq, count_, zero);
  from = s_.join;
  const bool ends_on_true = follow(from, block(s_.join).successors[0]) == s_.end;
  f_.blocks[s_.join].condition = factory_.constant(Type::kBool, ends_on_true ? 1 : 0);
  return true;
}

void Roller::rewrite_main() {
  Block& main = f_.blocks[s_.main];
  std::erase_if(main.memory, [&](NodeId id) {
    const auto is_first = [&](const auto& access) {
      return access.first == id && access.second == 0;
    };
    return std::none_of(stores_.begin(), stores_.end(), is_first) &&
           std::none_of(used_.begin(), used_.end(), is_first);
  });
  for (size_t p = 0; p < f_.blocks[s_.main].phis.size(); p++) {
    const Phi phi = f_.blocks[s_.main].phis[p];
    NodeId next = kNoNode;
    for (size_t i = 0; i < carried_.size(); i++)
      if (carried_[i].main == phi.node) next = first_[i];
    if (next == kNoNode) {
      const Type type = f_[phi.node].type;
      const int64_t step = step_of(phi, s_.main) / copies_;
      next = factory_.pure(TraceOp::kAdd, type, phi.node,
                           factory_.constant(type, static_cast<uint64_t>(step)));
    }
    replace_in_join(argument(phi, s_.main), next);
    f_.blocks[s_.main].phis[p].args[edge(s_.main, s_.main)] = next;
    if (phi.node == counter_) {
      const Predicate stays = main.successors[0] == s_.main ? Predicate::kNe : Predicate::kEq;
      f_.blocks[s_.main].condition = factory_.compare(stays, next, count_);
    }
  }
}

void Roller::replace_in_join(NodeId old, NodeId by) {
  const size_t at = edge(s_.join, s_.from_main);
  for (Phi& phi : f_.blocks[s_.join].phis)
    if (phi.args[at] == old) phi.args[at] = by;
}

bool roll_loops(Function& function) { return Roller(function).run(); }

}  // namespace nrd::lift
