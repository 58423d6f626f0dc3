// SPDX-License-Identifier: MIT
// src/lift/unrolled.cpp: see unrolled.h.
//
//   fork --> main (n & -U iterations, U at a time) --> join --> rest (n & (U - 1) iterations) --> end
//    |                                                  ^ |                                        ^
//    +---------------- fewer than U --------------------+ +------------- none are left -----------+
//
// What `rest` stores and carries is looked for in main U times, counters moved by one each time: from
// the last copy back to the first, so that what one copy begins with is what the one before it must
// have made. Then main goes on with its first copy alone, n times, and rest is never reached.
#include "lift/unrolled.h"

#include <algorithm>
#include <bit>

#include "lift/affine.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int64_t kMostCopies = 16;
constexpr int kMaxUnrolledDepth = 40;

// The blocks of the picture above. `taken` is the last block before join or end on a way there.
struct Shape {
  BlockId fork = kNoBlock, main = kNoBlock, join = kNoBlock, rest = kNoBlock, end = kNoBlock;
  BlockId entry = kNoBlock;  // the predecessor of main outside of it
  BlockId from_main = kNoBlock, from_fork = kNoBlock;    // predecessors of join
  BlockId from_rest = kNoBlock, from_join = kNoBlock;    // predecessors of end
  BlockId before_rest = kNoBlock;                        // the predecessor of rest outside of it
  bool rest_is_loop = false;
};

// A value that is carried from copy to copy.
struct Carried {
  NodeId main = kNoNode;  // the phi of main
  NodeId rest = kNoNode;  // what it is in rest: a phi of that, or of join
  NodeId next = kNoNode;  // what rest makes of it
};

class Roller {
 public:
  explicit Roller(Function& function) : f_(function), factory_(function), affine_(function), plain_(function, true) {}

  bool run() {
    bool any = false;
    for (BlockId b = 0; b < f_.blocks.size(); b++) any = roll(b) || any;
    return any;
  }

 private:
  const Block& block(BlockId b) const { return f_.blocks[b]; }

  // ---- the blocks

  bool is_loop(BlockId b) const {
    const Block& at = block(b);
    return at.successors.size() == 2 && at.predecessors.size() == 2 &&
           (at.successors[0] == b) != (at.successors[1] == b) &&
           (at.predecessors[0] == b || at.predecessors[1] == b);
  }
  static BlockId other(const std::vector<BlockId>& two, BlockId one) {
    return two[0] == one ? two[1] : two[0];
  }
  bool is_empty(BlockId b) const {
    const Block& at = block(b);
    return at.successors.size() == 1 && at.predecessors.size() == 1 && at.memory.empty() &&
           at.phis.empty();
  }
  // From `from` along the edge to `to`, over empty blocks: the block behind, `from` the last one
  // before it.
  BlockId follow(BlockId& from, BlockId to) const {
    for (; is_empty(to); to = block(to).successors[0]) from = to;
    return to;
  }
  size_t edge(BlockId b, BlockId from) const {
    const std::vector<BlockId>& list = block(b).predecessors;
    return static_cast<size_t>(std::find(list.begin(), list.end(), from) - list.begin());
  }
  NodeId argument(const Phi& phi, BlockId from) const {
    return phi.args[edge(f_[phi.node].index, from)];
  }

  bool find_shape(BlockId b) {
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

  bool find_rest() {
    for (const int i : {0, 1}) {
      s_.before_rest = s_.from_join = s_.join;
      s_.rest = follow(s_.before_rest, block(s_.join).successors[static_cast<size_t>(i)]);
      s_.end = follow(s_.from_join, block(s_.join).successors[static_cast<size_t>(1 - i)]);
      s_.rest_is_loop = is_loop(s_.rest);
      const Block& rest = block(s_.rest);
      if (!s_.rest_is_loop && (rest.successors.size() != 1 || rest.predecessors.size() != 1))
        continue;
      s_.from_rest = s_.rest;
      const BlockId out =
          s_.rest_is_loop ? other(rest.successors, s_.rest) : rest.successors[0];
      if (s_.rest != s_.end && follow(s_.from_rest, out) == s_.end) return true;
    }
    return false;
  }

  // ---- counters and counts

  const Phi* phi_of(NodeId id, BlockId of) const {
    for (const Phi& phi : block(of).phis)
      if (phi.node == id) return &phi;
    return nullptr;
  }

  // The step of a phi that moves by a constant; 0 where it does not.
  int64_t step_of(const Phi& phi, BlockId loop) const {
    if (!is_index_type(f_[phi.node].type)) return 0;
    const Affine next = plain_.of(argument(phi, loop)) - Affine::leaf(phi.node);
    return next.is_constant() ? next.constant : 0;
  }

  // A branch of `b` as: goes on in b while counter + step != end.
  struct Exit {
    const Phi* counter = nullptr;
    int64_t step = 0;
    NodeId end = kNoNode;
  };
  Exit exit_of(BlockId b) const {
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
  NodeId masked(NodeId id, int64_t mask) const {
    const Node* n = &f_[id];
    if (n->kind == Kind::kZext || n->kind == Kind::kSext) n = &f_[n->args[0]];
    if (n->kind != Kind::kPure || n->op != TraceOp::kAnd) return kNoNode;
    const Node& by = f_[n->args[1]];
    if (by.kind != Kind::kConst) return kNoNode;
    const uint64_t wanted = static_cast<uint64_t>(mask) & type_mask(by.type);
    return by.bits == wanted || by.bits == (wanted & type_mask(by.type) >> 1)
               ? n->args[0]
               : kNoNode;
  }

  // The low 32 bits of `wide` are `word`.
  bool is_low_word(NodeId wide, NodeId word) const {
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
  bool find_count() {
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

  NodeId left_in_rest() const {
    if (s_.rest_is_loop) {
      const Exit exit = exit_of(s_.rest);
      return exit.step == 1 ? masked(exit.end, copies_ - 1) : kNoNode;
    }
    const Node& c = f_[block(s_.join).condition];
    return c.kind == Kind::kPure && c.args[0] != kNoNode ? masked(c.args[0], copies_ - 1) : kNoNode;
  }

  // Main is entered where there are U iterations at least.
  bool forks_by_count(NodeId count) const {
    const Block& fork = block(s_.fork);
    const Node& c = f_[fork.condition];
    if (c.kind != Kind::kPure || c.op != TraceOp::kCmp || f_[c.args[1]].kind != Kind::kConst)
      return false;
    BlockId from = s_.fork;
    const bool on_true = follow(from, fork.successors[0]) == s_.main;
    const Predicate p = on_true ? c.predicate : inverse(c.predicate);
    const Affine apart = affine_.of(c.args[0]) - affine_.of(count);
    if (!apart.is_constant()) return false;
    const int64_t least =
        sign_extended(f_[c.args[1]].bits, f_[c.args[1]].type) - apart.constant +
        (p == Predicate::kGt || p == Predicate::kA ? 1 : 0);
    if (p == Predicate::kNe) return least == 1 && copies_ == 2;
    const bool is_order = p == Predicate::kGe || p == Predicate::kAe || p == Predicate::kGt ||
                          p == Predicate::kA;
    return is_order && least == copies_;
  }

  bool joins_by_count(NodeId left) const {
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

  // ---- what is carried

  // A counter of join in terms of main's, as an iteration of main begins.
  bool find_counters() {
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
    return true;
  }

  const Affine* counter_of_join(NodeId id) const {
    for (const auto& [node, value] : counters_)
      if (node == id) return &value;
    return nullptr;
  }

  bool find_carried() {
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
  Carried carried_as(const Phi& phi) const {
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
  bool end_agrees() const {
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

  // ---- nothing else sees the insides

  bool is_inside(NodeId id) const {
    const Node& n = f_[id];
    const bool has_place = n.kind == Kind::kPhi || n.kind == Kind::kLoad;
    return has_place && (n.index == s_.main || n.index == s_.rest || n.index == s_.join);
  }

  bool reaches_inside(NodeId id, std::vector<bool>& seen) const {
    if (id == kNoNode || seen[id]) return false;
    seen[id] = true;
    if (is_inside(id)) return true;
    if (f_[id].kind == Kind::kPhi) return false;
    const auto& args = f_[id].args;
    return std::any_of(args.begin(), args.end(),
                       [&](NodeId arg) { return reaches_inside(arg, seen); });
  }

  bool is_private() const {
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

  // ---- copies

  // Of an integer of rest: what it is in copy j of main.
  bool in_copy(NodeId id, int64_t j, Affine& value) const {
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
  int64_t steps_in(const Affine& of, int64_t j) const {
    int64_t sum = 0;
    for (const auto& [leaf, factor] : of.terms)
      if (const Phi* phi = phi_of(leaf, s_.main)) sum += factor * (step_of(*phi, s_.main) / copies_) * j;
    return sum;
  }

  bool same(NodeId rest, NodeId main, int64_t j, int depth) {
    if (depth > kMaxUnrolledDepth || rest == kNoNode || main == kNoNode) return rest == main;
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

  bool same_arguments(std::array<NodeId, 3> a, std::array<NodeId, 3> b, Node n, int64_t j, int depth) {
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

  bool depends_on_inside(NodeId id) const {
    std::vector<bool> seen(f_.nodes.size(), false);
    return reaches_inside(id, seen);
  }

  bool find_copies() {
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
    const auto stores = std::count_if(
        block(s_.main).memory.begin(), block(s_.main).memory.end(),
        [&](NodeId id) { return f_[id].kind == Kind::kStore; });
    return stores == static_cast<std::ptrdiff_t>(stores_.size()) && keeps_order();
  }

  bool find_store(NodeId rest, int64_t j) {
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
  bool keeps_order() const {
    const std::vector<NodeId>& memory = block(s_.main).memory;
    const auto place = [&](NodeId id) { return std::find(memory.begin(), memory.end(), id); };
    const auto in_order = [&](const auto& store, const auto& access) {
      if (store.second == access.second || store.first == access.first) return true;
      const bool before = place(store.first) < place(access.first);
      if (before == (store.second < access.second)) return true;
      const Affine apart =
          affine_.of(f_[store.first].args[0]) - affine_.of(f_[access.first].args[0]);
      if (apart.is_constant()) return apart.constant >= 8 || apart.constant <= -8 ||
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

  bool is_apart(int64_t distance, NodeId a, NodeId b) const {
    const auto bytes = [&](NodeId id) {
      const Node& n = f_[id];
      return static_cast<int64_t>(bytes_of(n.kind == Kind::kStore ? f_[n.args[1]].type : n.type));
    };
    return distance > 0 ? distance >= bytes(b) : -distance >= bytes(a);
  }

  // ---- the edit

  bool roll(BlockId b) {
    if (!find_shape(b) || !find_count() || !find_counters() || !find_carried() || !end_agrees() ||
        !is_private() || !find_copies())
      return false;
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

  void rewrite_main() {
    Block& main = f_.blocks[s_.main];
    std::erase_if(main.memory, [&](NodeId id) {
      const auto is_first = [&](const auto& access) { return access.first == id && access.second == 0; };
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

  void replace_in_join(NodeId old, NodeId by) {
    const size_t at = edge(s_.join, s_.from_main);
    for (Phi& phi : f_.blocks[s_.join].phis)
      if (phi.args[at] == old) phi.args[at] = by;
  }

  Function& f_;
  NodeFactory factory_;
  AffineForms affine_, plain_;
  Shape s_;
  int64_t copies_ = 0;
  NodeId counter_ = kNoNode, count_ = kNoNode;
  std::vector<std::pair<NodeId, Affine>> counters_;  // of join, in those of main
  std::vector<Carried> carried_;
  std::vector<NodeId> begins_, first_;  // of each carried value: before a copy, behind the first
  std::vector<std::pair<NodeId, int64_t>> used_, stores_;  // accesses of main, each in its copy
};

}  // namespace

bool roll_loops(Function& function) { return Roller(function).run(); }

}  // namespace nrd::lift
