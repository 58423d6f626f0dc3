// SPDX-License-Identifier: MIT
// src/lift/ssa_phis.cpp: phis: made, given their arguments, and forwarded where they are trivial.
#include "lift/ssa.h"

namespace nrd::lift {

NodeId SsaBuilder::new_phi(BlockId b, Type type) {
  std::vector<Phi>& phis = function_.blocks[b].phis;
  const NodeId id = factory_.append({.kind = Kind::kPhi, .type = type, .index = b});
  phis.push_back({.node = id});
  function_.nodes[id].bits = phis.size() - 1;
  return id;
}

NodeId SsaBuilder::fill_phi(NodeId phi, BlockId b, uint32_t variable, Facet facet) {
  const std::vector<BlockId>& predecessors = code_.blocks[b].predecessors;
  std::vector<NodeId> args;
  args.reserve(predecessors.size());
  for (const BlockId p : predecessors) args.push_back(read(p, variable, facet));
  function_.blocks[b].phis[function_[phi].bits].args = std::move(args);
  fresh_.push_back(phi);
  return forward_if_trivial(phi);
}

// Where a phi's arguments are all one value it becomes that value.
NodeId SsaBuilder::forward_if_trivial(NodeId phi) {
  const Node node = function_[phi];
  NodeId same = kNoNode;
  for (NodeId arg : function_.blocks[node.index].phis[node.bits].args) {
    arg = resolve(arg);
    if (arg == phi || arg == same) continue;
    if (same != kNoNode) return phi;
    same = arg;
  }
  if (same == kNoNode) same = factory_.undefined(node.type);
  function_.nodes[phi].args[0] = same;
  return same;
}

// Phis that one read made may use each other, so that one is seen to be trivial only after
// another is.
void SsaBuilder::settle_phis() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId phi : fresh_) {
      if (function_[phi].args[0] != kNoNode) continue;
      changed |= forward_if_trivial(phi) != phi;
    }
  }
}

}  // namespace nrd::lift
