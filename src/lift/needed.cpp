// SPDX-License-Identifier: MIT
// src/lift/needed.cpp: see needed.h.
#include "lift/needed.h"

namespace nrd::lift {
namespace {

class NeedMarker {
 public:
  NeedMarker(const Function& f, const LoopTree& tree, Needed& needed)
      : f_(f), tree_(tree), needed_(needed) {}

  void run() {
    region(0);
    for (size_t r = 0; r < tree_.regions.size(); r++)
      for (const Item& item : tree_.regions[r].items)
        if (item.kind == ItemKind::kStore) {
          node(item.id);
          region(static_cast<int>(r));
        }
    node(tree_.result);
    while (!pending_.empty()) {
      const NodeId id = pending_.back();
      pending_.pop_back();
      visit(f_[id]);
    }
  }

 private:
  void node(NodeId id) {
    if (id == kNoNode || needed_.nodes[id]) return;
    needed_.nodes[id] = true;
    pending_.push_back(id);
  }

  void visit(const Node& n) {
    for (NodeId arg : n.args) node(arg);
    if (n.kind == Kind::kLoad) region(static_cast<int>(n.bits));
    if (!is_leaf(n)) return;
    const Region& home = tree_.regions[n.index];
    region(static_cast<int>(n.index));
    const LeafRole role = leaf_role(n);
    if (role != LeafRole::kCarry && role != LeafRole::kResult) return;
    if (leaf_number(n) >= home.carries.size()) return;
    node(home.carries[leaf_number(n)].leaf);
    node(home.carries[leaf_number(n)].init);
    node(home.carries[leaf_number(n)].next);
  }

  void region(int r) {
    for (; r >= 0 && !needed_.regions[static_cast<size_t>(r)];
         r = tree_.regions[static_cast<size_t>(r)].parent) {
      needed_.regions[static_cast<size_t>(r)] = true;
      const Region& loop = tree_.regions[static_cast<size_t>(r)];
      node(loop.guard);
      node(loop.extent);
      if (loop.extent == kNoNode) node(loop.stays);
    }
  }

  const Function& f_;
  const LoopTree& tree_;
  Needed& needed_;
  std::vector<NodeId> pending_;
};

}  // namespace

Needed::Needed(const Function& function, const LoopTree& tree)
    : nodes(function.nodes.size(), false), regions(tree.regions.size(), false) {
  NeedMarker(function, tree, *this).run();
}

}  // namespace nrd::lift
