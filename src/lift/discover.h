// SPDX-License-Identifier: MIT
// src/lift/discover.h: from an entry address to a control-flow graph of instructions, helpers
// inlined.
#pragma once

#include "lift/calls.h"

namespace nrd::lift {

constexpr size_t kMaxInstructions = 4096;
constexpr size_t kMaxBlocks = 256;
constexpr size_t kMaxSteps = 16384;  // instructions, those of a helper once a call
constexpr int kMaxInlineDepth = 4;

struct Step {
  Instruction instruction;
  const CallTarget* call = nullptr;  // of a call that is no helper's
};

// A run of steps. Ends by falling through or jumping to one successor, by branching to two
// ([0]: taken), or, the last block only, by returning.
struct CodeBlock {
  uint64_t address = 0;
  uint32_t first_step = 0, steps = 0;
  bool branches = false;       // the last step's condition chooses
  bool enters_helper = false;  // a call: what it pushes is pushed after the last step
  bool leaves_helper = false;  // the last step is a helper's return
  int left_out = -1;           // of a branch: the side that never returns, no successor any more
  std::vector<BlockId> predecessors, successors;
};

// Blocks in reverse post order. Block 0 is empty and has no predecessor; all returns lead to the
// last block, which is empty too. Paths that cannot reach it (they end in abort) are left out, so
// that a branch to them has become a jump. The graph is reducible.
struct Code {
  std::vector<Step> steps;
  std::vector<CodeBlock> blocks;
  size_t instructions = 0;  // decoded
};

// Instructions by block, for dumps; a refusal is part of the text.
std::string code_text(const LiftRequest& request, const Image& image, FrontEnd& front_end);

Code discover(uint64_t entry, const Image& image, FrontEnd& front_end, CallResolver& resolver);

}  // namespace nrd::lift
