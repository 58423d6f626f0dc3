// SPDX-License-Identifier: MIT
// src/lift/ifconvert.h: control flow to data flow: a Function becomes a LoopTree.
#pragma once

#include "lift/loop_tree.h"

namespace nrd::lift {

// Phis of joins become selects, phis of loop headers carried values; accesses under a condition
// get it as a guard. Fields behind a struct pointer become arguments. New nodes are added to the
// function; its blocks are no longer needed afterwards.
LoopTree if_convert(Function& function, NodeFactory& factory, const CSignature& signature,
                    const FlatParams& params);

// a where the condition holds, else b; whichever is defined where one is not.
NodeId choose(NodeFactory& factory, NodeId condition, NodeId a, NodeId b);
// Conjunction of guards, either of which may be kNoNode: always.
NodeId both(NodeFactory& factory, NodeId a, NodeId b);

}  // namespace nrd::lift
