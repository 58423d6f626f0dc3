// SPDX-License-Identifier: MIT
// src/lift/graph_edit.cpp: what clean.cpp does to phis, branches and blocks in place.
#include "lift/graph_edit.h"

#include <algorithm>

namespace nrd::lift {
namespace {

NodeId forwarded(const Function& f, NodeId id) {
  while (id != kNoNode && f[id].kind == Kind::kPhi && f[id].args[0] != kNoNode) id = f[id].args[0];
  return id;
}

// The value a phi always has, or kNoNode. An undefined argument may be anything, so it is no
// obstacle to a value that exists everywhere.
NodeId only_value(const Function& f, NodeId phi) {
  NodeId same = kNoNode, undefined = kNoNode;
  for (NodeId arg : phi_args(f, phi)) {
    arg = forwarded(f, arg);
    if (arg == phi || arg == same) continue;
    if (f[arg].kind == Kind::kUndef) {
      undefined = arg;
      continue;
    }
    if (same != kNoNode) return kNoNode;
    same = arg;
  }
  if (same == kNoNode) return undefined;
  const bool everywhere = f[same].kind == Kind::kConst || f[same].kind == Kind::kArg;
  return undefined == kNoNode || everywhere ? same : kNoNode;
}

NodeId equal_phi_before(const Function& f, const Block& block, size_t index) {
  const Phi& phi = block.phis[index];
  for (size_t i = 0; i < index; i++) {
    const Phi& other = block.phis[i];
    if (f[other.node].args[0] != kNoNode || f[other.node].type != f[phi.node].type) continue;
    const bool equal =
        std::equal(phi.args.begin(), phi.args.end(), other.args.begin(), other.args.end(),
                   [&](NodeId a, NodeId b) { return forwarded(f, a) == forwarded(f, b); });
    if (equal) return other.node;
  }
  return kNoNode;
}

// Takes the edge from block `from` to `to` away, with the phis' arguments for it.
void remove_edge(Function& f, BlockId from, BlockId to) {
  Block& block = f.blocks[to];
  const auto at = std::find(block.predecessors.begin(), block.predecessors.end(), from);
  if (at == block.predecessors.end()) return;
  const auto index = at - block.predecessors.begin();
  block.predecessors.erase(at);
  for (Phi& phi : block.phis) phi.args.erase(phi.args.begin() + index);
}

}  // namespace

const std::vector<NodeId>& phi_args(const Function& f, NodeId phi) {
  return f.blocks[f[phi].index].phis[f[phi].bits].args;
}

bool forward_phis(Function& f) {
  bool any = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block& block : f.blocks)
      for (size_t i = 0; i < block.phis.size(); i++) {
        const NodeId phi = block.phis[i].node;
        if (f[phi].args[0] != kNoNode) continue;
        NodeId value = only_value(f, phi);
        if (value == kNoNode) value = equal_phi_before(f, block, i);
        if (value == kNoNode) continue;
        f.nodes[phi].args[0] = value;
        changed = any = true;
      }
  }
  return any;
}

void apply_forwards(Function& f) {
  const auto mend = [&](NodeId& id) { id = forwarded(f, id); };
  for (Node& node : f.nodes)
    if (node.kind != Kind::kPhi)
      for (NodeId& arg : node.args) mend(arg);
  for (Block& block : f.blocks) {
    mend(block.condition);
    for (NodeId& trap : block.traps) mend(trap);
    for (Phi& phi : block.phis)
      for (NodeId& arg : phi.args) mend(arg);
  }
  mend(f.result);
}

bool fold_branches(Function& f) {
  bool changed = false;
  for (BlockId b = 0; b < f.blocks.size(); b++) {
    Block& block = f.blocks[b];
    if (block.successors.size() != 2 || f[block.condition].kind != Kind::kConst) continue;
    const size_t dead = f[block.condition].bits != 0 ? 1 : 0;
    remove_edge(f, b, block.successors[dead]);
    block.successors.erase(block.successors.begin() + static_cast<ptrdiff_t>(dead));
    block.condition = kNoNode;
    changed = true;
  }
  return changed;
}

std::vector<bool> reachable_blocks(const Function& f) {
  std::vector<bool> reached(f.blocks.size(), false);
  std::vector<BlockId> work{0};
  reached[0] = true;
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId s : f.blocks[b].successors) {
      if (reached[s]) continue;
      reached[s] = true;
      work.push_back(s);
    }
  }
  return reached;
}

void empty_unreachable(Function& f, const std::vector<bool>& reached) {
  for (BlockId b = 0; b < f.blocks.size(); b++) {
    if (reached[b]) continue;
    for (const BlockId s : f.blocks[b].successors) remove_edge(f, b, s);
    f.blocks[b].successors.clear();
    f.blocks[b].memory.clear();
    f.blocks[b].traps.clear();
    f.blocks[b].condition = kNoNode;
  }
}

void drop_forwarded(Function& f) {
  for (Block& block : f.blocks) {
    std::erase_if(block.phis, [&](const Phi& phi) { return f[phi.node].args[0] != kNoNode; });
    for (size_t i = 0; i < block.phis.size(); i++) f.nodes[block.phis[i].node].bits = i;
  }
}

void merge_blocks(Function& f) {
  std::vector<BlockId> home(f.blocks.size());
  std::vector<size_t> ways_out;
  for (const Block& block : f.blocks) ways_out.push_back(block.successors.size());
  std::vector<Block> kept;
  for (BlockId b = 0; b < f.blocks.size(); b++) {
    Block& block = f.blocks[b];
    const bool joins = block.predecessors.size() == 1 && block.predecessors[0] < b &&
                       ways_out[block.predecessors[0]] == 1;
    if (!joins) {
      home[b] = static_cast<BlockId>(kept.size());
      kept.push_back(std::move(block));
      continue;
    }
    home[b] = home[block.predecessors[0]];
    Block& into = kept[home[b]];
    if (into.address == 0) into.address = block.address;
    into.successors = std::move(block.successors);
    into.condition = block.condition;
    into.memory.insert(into.memory.end(), block.memory.begin(), block.memory.end());
    into.traps.insert(into.traps.end(), block.traps.begin(), block.traps.end());
  }
  for (Block& block : kept) {
    for (BlockId& p : block.predecessors) p = home[p];
    for (BlockId& s : block.successors) s = home[s];
  }
  for (Node& node : f.nodes) {
    const bool placed =
        node.kind == Kind::kPhi || node.kind == Kind::kLoad || node.kind == Kind::kStore;
    if (placed) node.index = home[node.index];
  }
  f.blocks = std::move(kept);
}

}  // namespace nrd::lift
