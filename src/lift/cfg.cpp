// SPDX-License-Identifier: MIT
// src/lift/cfg.cpp: see cfg.h.
#include "lift/cfg.h"

#include <algorithm>

namespace nrd::lift {
namespace {

using Edges = std::vector<std::vector<BlockId>>;

bool dominates(BlockId a, BlockId b, const std::vector<BlockId>& dominator) {
  while (b > a) b = dominator[b];  // a dominator has a smaller number
  return a == b;
}

// The blocks that reach a latch without passing the header.
std::vector<BlockId> loop_blocks(const Function& function, const NaturalLoop& loop) {
  std::vector<bool> inside(function.blocks.size(), false);
  inside[loop.header] = true;
  std::vector<BlockId> blocks{loop.header}, work;
  const auto enter = [&](BlockId b) {
    if (inside[b]) return;
    inside[b] = true;
    blocks.push_back(b);
    work.push_back(b);
  };
  for (const BlockId latch : loop.latches) enter(latch);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId p : function.blocks[b].predecessors) enter(p);
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace

std::vector<BlockId> reverse_post_order(const Edges& successors) {
  std::vector<BlockId> order;
  std::vector<bool> seen(successors.size(), false);
  struct Frame {
    BlockId block;
    size_t left;
  };
  std::vector<Frame> stack{{0, successors[0].size()}};
  seen[0] = true;
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.left == 0) {
      order.push_back(top.block);
      stack.pop_back();
      continue;
    }
    const BlockId next = successors[top.block][--top.left];
    if (seen[next]) continue;
    seen[next] = true;
    stack.push_back({next, successors[next].size()});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<BlockId> dominators(const Edges& predecessors) {
  std::vector<BlockId> dominator(predecessors.size(), kNoBlock);
  dominator[0] = 0;
  const auto common = [&](BlockId a, BlockId b) {
    while (a != b) {
      while (a > b) a = dominator[a];
      while (b > a) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockId b = 1; b < predecessors.size(); b++) {
      BlockId best = kNoBlock;
      for (const BlockId p : predecessors[b]) {
        if (dominator[p] == kNoBlock) continue;
        best = best == kNoBlock ? p : common(p, best);
      }
      changed |= best != dominator[b];
      dominator[b] = best;
    }
  }
  return dominator;
}

bool is_reducible(const Edges& predecessors, const std::vector<BlockId>& dominator) {
  for (BlockId b = 0; b < predecessors.size(); b++)
    for (const BlockId p : predecessors[b])
      if (p >= b && !dominates(b, p, dominator)) return false;
  return true;
}

void find_loops(Function& function) {
  std::vector<Block>& blocks = function.blocks;
  Edges predecessors(blocks.size());
  for (BlockId b = 0; b < blocks.size(); b++) predecessors[b] = blocks[b].predecessors;
  const std::vector<BlockId> dominator = dominators(predecessors);

  function.loops.clear();
  for (BlockId b = 0; b < blocks.size(); b++) {
    blocks[b].dominator = b == 0 ? kNoBlock : dominator[b];
    blocks[b].loop = -1;
    NaturalLoop loop{.header = b};
    for (const BlockId p : blocks[b].predecessors)
      if (p >= b) loop.latches.push_back(p);
    if (loop.latches.empty()) continue;
    loop.blocks = loop_blocks(function, loop);
    function.loops.push_back(std::move(loop));
  }
  // Headers ascend, so an outer loop is met before those inside it and these overwrite its mark.
  for (size_t i = 0; i < function.loops.size(); i++) {
    NaturalLoop& loop = function.loops[i];
    loop.parent = blocks[loop.header].loop;
    loop.depth = loop.parent < 0 ? 1 : function.loops[static_cast<size_t>(loop.parent)].depth + 1;
    for (const BlockId b : loop.blocks) blocks[b].loop = static_cast<int>(i);
  }
}

}  // namespace nrd::lift
