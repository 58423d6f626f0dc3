// SPDX-License-Identifier: MIT
// src/lift/loop_shape.cpp: see loop_shape.h.
#include "lift/loop_shape.h"

#include <algorithm>

namespace nrd::lift {
namespace {

bool is_inside(const Function& f, BlockId block, int loop) {
  int at = f.blocks[block].loop;
  while (at >= 0 && at != loop) at = f.loops[static_cast<size_t>(at)].parent;
  return at == loop;
}

bool dominates(const Function& f, BlockId upper, BlockId lower) {
  while (lower != kNoBlock && lower > upper) lower = f.blocks[lower].dominator;
  return lower == upper;
}

[[noreturn]] void refuse_loop(const Function& f, int loop, const char* why) {
  const uint64_t address = f.blocks[f.loops[static_cast<size_t>(loop)].header].address;
  give_up("the loop at " + place(address) + " " + why);
}

LoopShape find_exit(const Function& f, int loop) {
  LoopShape shape;
  for (BlockId b : f.loops[static_cast<size_t>(loop)].blocks)
    for (BlockId next : f.blocks[b].successors) {
      if (is_inside(f, next, loop)) continue;
      if (shape.exit_block != kNoBlock)
        refuse_loop(f, loop, "leaves early: it has more than one exit");
      shape.exit_block = b;
      shape.exit_target = next;
    }
  if (shape.exit_block == kNoBlock) refuse_loop(f, loop, "has no exit");
  return shape;
}

// Does anything happen in this loop at a block after the exit test (or, `before`, up to it)?
struct Work {
  bool loads = false, stores = false;
};

Work work_in(const Function& f, int loop, BlockId exit, bool before) {
  Work work;
  for (BlockId b : f.loops[static_cast<size_t>(loop)].blocks) {
    // In reverse post order a block that can reach the exit test within an iteration comes
    // before it or is not dominated by it.
    const bool after = b != exit && dominates(f, exit, b);
    if (after == before) continue;
    for (NodeId m : f.blocks[b].memory)
      (f[m].kind == Kind::kStore ? work.stores : work.loads) = true;
    if (f.blocks[b].loop != loop) work.stores = true;  // an inner loop
  }
  return work;
}

}  // namespace

std::vector<LoopShape> loop_shapes(const Function& f) {
  std::vector<LoopShape> shapes;
  for (int loop = 0; loop < static_cast<int>(f.loops.size()); loop++) {
    LoopShape shape = find_exit(f, loop);
    const Block& exit = f.blocks[shape.exit_block];
    if (exit.loop != loop) refuse_loop(f, loop, "is left from within an inner loop");
    for (BlockId latch : f.loops[static_cast<size_t>(loop)].latches)
      if (!dominates(f, shape.exit_block, latch))
        refuse_loop(f, loop, "leaves early: not every iteration tests the exit condition");
    shape.leaves_on_true = exit.successors[0] == shape.exit_target;
    const Work above = work_in(f, loop, shape.exit_block, true);
    const Work below = work_in(f, loop, shape.exit_block, false);
    const bool works_below = below.loads || below.stores;
    if (above.stores && works_below)
      refuse_loop(f, loop, "works both before and after its exit test");
    const std::vector<BlockId>& latches = f.loops[static_cast<size_t>(loop)].latches;
    const bool exit_is_latch =
        std::find(latches.begin(), latches.end(), shape.exit_block) != latches.end();
    shape.bottom_tested = !works_below && (above.stores || above.loads || exit_is_latch);
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace nrd::lift
