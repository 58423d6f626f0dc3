// SPDX-License-Identifier: MIT
// src/lift/cfg.h: orders, dominators and loops of a control-flow graph.
#pragma once

#include <cstdint>
#include <vector>

#include "lift/function.h"

namespace nrd::lift {

// Blocks that entry 0 reaches, in reverse post order; successors are visited last one first, so
// that of two branches the first comes first.
std::vector<BlockId> reverse_post_order(const std::vector<std::vector<BlockId>>& successors);

// Immediate dominators (Cooper, Harvey, Kennedy); blocks are numbered in reverse post order.
std::vector<BlockId> dominators(const std::vector<std::vector<BlockId>>& predecessors);

// Whether every cycle is entered at one block only. Same numbering.
bool is_reducible(const std::vector<std::vector<BlockId>>& predecessors,
                  const std::vector<BlockId>& dominator);

// Fills Block::dominator, Block::loop and Function::loops. Blocks are in reverse post order and
// the graph is reducible. Loops come outer ones first.
void find_loops(Function& function);

}  // namespace nrd::lift
