// SPDX-License-Identifier: MIT
// src/lift/emit_prepare.cpp: what must be known of the whole tree before it is written.
#include "lift/emitter.h"

namespace nrd::lift {

// An int that names a rounding type is fixed when the operator is bound; every other integer is an
// argument of the code: a size, or an attribute.
void Emitter::find_sizes() {
  is_size_.assign(params_.list.size(), true);
  for (size_t i = 0; i < params_.list.size(); i++)
    if (params_.list[i].name.starts_with("type_")) is_size_[i] = false;  // where nothing uses it
  for (NodeId id = 0; id < needed_.nodes.size(); id++) {
    const Node& n = f_[id];
    if (!needed_.nodes[id] || n.kind != Kind::kRoundToCall) continue;
    const Node& type = f_[n.args[1]];
    if (type.kind == Kind::kArg && type.index < is_size_.size()) is_size_[type.index] = false;
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
