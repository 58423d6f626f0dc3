// SPDX-License-Identifier: MIT
// src/lift/structure.h: a refined LoopTree to an OpTrace.
#pragma once

#include "lift/scev.h"

namespace nrd::lift {

// Only what stores or the result need. Every value stands in the outermost place where its
// operands are known. A function that returns a value becomes a map (lift.h).
OpTrace make_trace(Function& function, NodeFactory& factory, const LoopTree& tree, Scev& scev,
                   const FlatParams& params, const LiftRequest& request);

}  // namespace nrd::lift
