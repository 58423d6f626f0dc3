// SPDX-License-Identifier: MIT
// src/lift/graph_edit.h: phis, branches and blocks of a Function, changed in place. A phi that is
// found to be one value forwards to it: its node's args[0].
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// While a function is built, Node::bits of a phi is its place in Block::phis.
const std::vector<NodeId>& phi_args(const Function& function, NodeId phi);

// Lets phis forward whose arguments are all one value, or equal another phi's. Whether any did.
bool forward_phis(Function& function);
// Arguments, conditions and results name the values themselves again.
void apply_forwards(Function& function);
void drop_forwarded(Function& function);

// A branch on a constant becomes a jump. Whether any did.
bool fold_branches(Function& function);
std::vector<bool> reachable_blocks(const Function& function);
// Takes the edges of unreachable blocks away, and what is in them.
void empty_unreachable(Function& function, const std::vector<bool>& reached);
// Joins a block with its only successor where it is the only predecessor; numbers blocks anew.
void merge_blocks(Function& function);

}  // namespace nrd::lift
