// SPDX-License-Identifier: MIT
// src/lift/emit_prepare.cpp: what must be known of the whole tree before it is written.
#include "lift/emitter.h"

namespace nrd::lift {

// An int that counts iterations or elements is a size; others are modes and types.
void Emitter::find_sizes() {
  is_size_.assign(params_.list.size(), false);
  std::vector<NodeId> pending;
  for (size_t r = 0; r < tree_.regions.size(); r++) {
    if (!needed_.regions[r]) continue;
    if (r > 0) pending.push_back(tree_.regions[r].extent);
    for (const Item& item : tree_.regions[r].items)
      if (item.kind != ItemKind::kLoop && needed_.nodes[item.id])
        pending.push_back(f_[item.id].args[0]);
  }
  std::vector<bool> seen(f_.nodes.size(), false);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (id == kNoNode || seen[id]) continue;
    seen[id] = true;
    const Node& n = f_[id];
    if (n.kind == Kind::kArg && n.index < is_size_.size()) is_size_[n.index] = true;
    if (n.kind == Kind::kLoad || n.kind == Kind::kPhi) continue;
    for (NodeId arg : n.args) pending.push_back(arg);
  }
}

// select(g, load if g, c) is the load with c as its other value.
void Emitter::find_guarded_choices() {
  const size_t count = needed_.nodes.size();
  otherwise_.assign(count, kNoNode);
  same_as_.assign(count, kNoNode);
  for (NodeId id = 0; id < count; id++) {
    const Node n = f_[id];
    if (!needed_.nodes[id] || n.kind != Kind::kPure || n.op != TraceOp::kSelect) continue;
    try_guarded_choice(id, n.args[0], n.args[1], n.args[2]);
    try_guarded_choice(id, factory_.invert(n.args[0]), n.args[2], n.args[1]);
  }
}

void Emitter::try_guarded_choice(NodeId select, NodeId guard, NodeId load, NodeId other) {
  const Node& n = f_[load];
  if (n.kind != Kind::kLoad || n.args[1] != guard || f_[other].kind != Kind::kConst) return;
  if (otherwise_[load] != kNoNode && otherwise_[load] != other) return;
  otherwise_[load] = other;
  same_as_[select] = load;
}

}  // namespace nrd::lift
