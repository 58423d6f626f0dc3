// SPDX-License-Identifier: MIT
// src/lift/loop_exits.cpp: see loop_exits.h.
#include "lift/loop_exits.h"

#include <algorithm>

#include "lift/cfg.h"
#include "lift/flat_map.h"

namespace nrd::lift {
namespace {

constexpr int kMostEdits = 16;

struct Exit {
  BlockId from = kNoBlock, to = kNoBlock;
};

class ExitTidier {
 public:
  ExitTidier(Function& f, NodeFactory& factory) : f_(f), factory_(factory) {}

  // One edit; false where there is nothing to do.
  bool edit() {
    for (size_t i = 0; i < f_.loops.size(); i++) {
      loop_ = static_cast<int>(i);
      const std::vector<Exit> exits = find_exits();
      if (exits.size() < 2) continue;
      if (join_copies(exits)) return true;
      for (const Exit& exit : exits)
        if (exit.from == header() && move_out(exit)) return true;
    }
    return false;
  }

 private:
  BlockId header() const { return f_.loops[static_cast<size_t>(loop_)].header; }

  bool is_inside(BlockId b) const {
    int at = f_.blocks[b].loop;
    while (at >= 0 && at != loop_) at = f_.loops[static_cast<size_t>(at)].parent;
    return at == loop_;
  }

  std::vector<Exit> find_exits() const {
    std::vector<Exit> exits;
    for (BlockId b : f_.loops[static_cast<size_t>(loop_)].blocks)
      for (BlockId to : f_.blocks[b].successors)
        if (!is_inside(to)) exits.push_back({b, to});
    return exits;
  }

  // ---- edits of the graph

  // A new empty block, numbered `at`: those from there on move up by one.
  void insert_block(BlockId at, uint64_t address) {
    const auto moved = [at](BlockId b) { return b >= at && b != kNoBlock ? b + 1 : b; };
    for (Block& block : f_.blocks) {
      for (BlockId& b : block.predecessors) b = moved(b);
      for (BlockId& b : block.successors) b = moved(b);
    }
    for (Node& n : f_.nodes)
      if (n.kind == Kind::kPhi || n.kind == Kind::kLoad || n.kind == Kind::kStore)
        n.index = moved(n.index);
    f_.blocks.insert(f_.blocks.begin() + at, Block{.address = address});
  }

  void find_loops_again() {
    f_.loops.clear();
    for (Block& block : f_.blocks) block.loop = -1;
    find_loops(f_);
  }

  size_t index_of(BlockId block, BlockId predecessor) const {
    const std::vector<BlockId>& list = f_.blocks[block].predecessors;
    return static_cast<size_t>(std::find(list.begin(), list.end(), predecessor) - list.begin());
  }

  // A phi of `block`, or the one value that all its arguments are.
  NodeId merged(BlockId block, Type type, const std::vector<NodeId>& args) {
    if (std::all_of(args.begin(), args.end(), [&](NodeId arg) { return arg == args[0]; }))
      return args[0];
    const NodeId phi = factory_.append({.kind = Kind::kPhi, .type = type, .index = block});
    f_.blocks[block].phis.push_back({phi, args});
    return phi;
  }

  // In `block` the edges from several predecessors become one from `joint`, which has them now.
  void join_edges(BlockId block, const std::vector<BlockId>& from, BlockId joint) {
    std::vector<size_t> at;
    for (BlockId b : from) at.push_back(index_of(block, b));
    for (size_t i = 0; i < f_.blocks[block].phis.size(); i++) {
      std::vector<NodeId> args;
      for (size_t k : at) args.push_back(f_.blocks[block].phis[i].args[k]);
      const NodeId value = merged(joint, f_[f_.blocks[block].phis[i].node].type, args);
      erase_all(f_.blocks[block].phis[i].args, at);
      f_.blocks[block].phis[i].args.push_back(value);
    }
    erase_all(f_.blocks[block].predecessors, at);
    f_.blocks[block].predecessors.push_back(joint);
  }

  template <class T>
  static void erase_all(std::vector<T>& list, std::vector<size_t> at) {
    std::sort(at.rbegin(), at.rend());
    for (size_t k : at) list.erase(list.begin() + static_cast<ptrdiff_t>(k));
  }

  // ---- one test at the end of several paths

  NodeId stays(const Exit& exit) {
    const Block& block = f_.blocks[exit.from];
    return block.successors[0] == exit.to ? factory_.invert(block.condition) : block.condition;
  }

  bool join_copies(const std::vector<Exit>& exits) {
    const BlockId top = header(), out = exits[0].to;
    const NodeId condition = stays(exits[0]);
    for (const Exit& exit : exits) {
      const std::vector<BlockId>& next = f_.blocks[exit.from].successors;
      const bool goes_back = next.size() == 2 && (next[0] == top || next[1] == top);
      if (exit.to != out || !goes_back || stays(exit) != condition) return false;
    }
    BlockId last = 0;
    for (const Exit& exit : exits) last = std::max(last, exit.from);
    const BlockId joint = last + 1;
    insert_block(joint, f_.blocks[last].address);
    std::vector<BlockId> from;
    for (const Exit& exit : exits) from.push_back(exit.from);
    join_edges(top, from, joint);
    const BlockId target = out >= joint ? out + 1 : out;
    join_edges(target, from, joint);
    for (BlockId b : from) {
      f_.blocks[b].successors = {joint};
      f_.blocks[b].condition = kNoNode;
    }
    f_.blocks[joint].predecessors = from;
    f_.blocks[joint].successors = {top, target};
    f_.blocks[joint].condition = condition;
    find_loops_again();
    return true;
  }

  // ---- a test that every iteration decides alike

  bool varies(NodeId id) {
    if (const uint32_t known = varies_.find(id); known != FlatMap::kMissing) return known != 0;
    varies_.set(id, 0);
    const Node n = f_[id];
    bool result = false;
    if (n.kind == Kind::kPhi || n.kind == Kind::kLoad)
      result = is_inside(n.index);
    else
      for (NodeId arg : n.args) result = result || (arg != kNoNode && varies(arg));
    varies_.set(id, result ? 1 : 0);
    return result;
  }

  // The value that a node of the header has in the first iteration.
  NodeId at_first(NodeId id) {
    if (const uint32_t known = first_.find(id); known != FlatMap::kMissing) return known;
    Node n = f_[id];
    NodeId made = id;
    if (n.kind != Kind::kPhi && n.kind != Kind::kLoad) {
      for (NodeId& arg : n.args)
        if (arg != kNoNode) arg = at_first(arg);
      if (n.args != f_[id].args) made = factory_.add(n);
    }
    first_.set(id, made);
    return made;
  }

  bool dominates(BlockId upper, BlockId lower) const {
    while (lower != kNoBlock && lower > upper) lower = f_.blocks[lower].dominator;
    return lower == upper;
  }

  bool move_out(const Exit& exit) {
    varies_ = FlatMap();
    first_ = FlatMap();
    if (!f_.blocks[exit.from].memory.empty() || varies(f_.blocks[exit.from].condition))
      return false;
    if (f_.result != kNoNode && varies(f_.result)) return false;
    std::vector<BlockId> behind = only_behind(exit);
    std::vector<BlockId> entries;
    for (BlockId b : f_.blocks[exit.from].predecessors)
      if (!is_inside(b)) entries.push_back(b);
    // From here on the new block has the header's number, and the header one more.
    const BlockId test = exit.from, top = test + 1;
    const BlockId target = exit.to > test ? exit.to + 1 : exit.to;
    insert_block(test, f_.blocks[exit.from].address);
    for (BlockId& b : behind) b += b >= test ? 1 : 0;
    join_edges(top, entries, test);
    for (const Phi& phi : f_.blocks[top].phis) first_.set(phi.node, phi.args.back());
    redirect(entries, test, top, target);
    for (BlockId b : behind) rename_uses(b);
    find_loops_again();
    return true;
  }

  // Blocks that nothing but this exit leads to.
  std::vector<BlockId> only_behind(const Exit& exit) const {
    const std::vector<BlockId>& before = f_.blocks[exit.to].predecessors;
    const bool has_other_way_in = std::any_of(before.begin(), before.end(), [&](BlockId b) {
      return b != exit.from && !dominates(exit.to, b);
    });
    std::vector<BlockId> behind;
    for (BlockId b = exit.to; b < f_.blocks.size() && !has_other_way_in; b++)
      if (dominates(exit.to, b)) behind.push_back(b);
    return behind;
  }

  void redirect(const std::vector<BlockId>& entries, BlockId test, BlockId top, BlockId target) {
    for (BlockId b : entries)
      std::replace(f_.blocks[b].successors.begin(), f_.blocks[b].successors.end(), top, test);
    Block& head = f_.blocks[top];
    f_.blocks[test].predecessors = entries;
    f_.blocks[test].condition = head.condition;
    f_.blocks[test].successors = head.successors;
    for (BlockId& to : f_.blocks[test].successors)
      if (to != target) to = top;
    head.successors.erase(std::find(head.successors.begin(), head.successors.end(), target));
    head.condition = kNoNode;
    const size_t at = index_of(target, top);
    f_.blocks[target].predecessors[at] = test;
    rename_arguments(target, at);
  }

  // Blocks that only this exit leads to see the values of the first iteration.
  void rename_uses(BlockId b) {
    for (NodeId access : f_.blocks[b].memory) {
      Node n = f_[access];
      for (NodeId& arg : n.args)
        if (arg != kNoNode) arg = at_first(arg);
      f_.nodes[access] = n;
    }
    if (f_.blocks[b].condition != kNoNode)
      f_.blocks[b].condition = at_first(f_.blocks[b].condition);
    for (BlockId next : f_.blocks[b].successors) rename_arguments(next, index_of(next, b));
  }

  void rename_arguments(BlockId block, size_t predecessor) {
    for (size_t i = 0; i < f_.blocks[block].phis.size(); i++) {
      const NodeId value = at_first(f_.blocks[block].phis[i].args[predecessor]);
      f_.blocks[block].phis[i].args[predecessor] = value;
    }
  }

  Function& f_;
  NodeFactory& factory_;
  int loop_ = -1;
  FlatMap varies_, first_;
};

}  // namespace

void tidy_exits(Function& function, NodeFactory& factory) {
  ExitTidier tidier(function, factory);
  for (int i = 0; i < kMostEdits && tidier.edit(); i++) {
  }
}

}  // namespace nrd::lift
