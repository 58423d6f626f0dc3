// SPDX-License-Identifier: MIT
// src/lift/analyse.cpp: the steps from a Function to an OpTrace, in order.
#include "lift/ifconvert.h"
#include "lift/loop_exits.h"
#include "lift/refine.h"
#include "lift/structure.h"
#include "trace/canonical.h"

namespace nrd::lift {

Expected<OpTrace> analyse(Function function, const LiftRequest& request) {
  try {
    const FlatParams params(request.signature);
    NodeFactory factory(function);
    tidy_exits(function, factory);
    const LoopTree tree = if_convert(function, factory, request.signature, params);
    Scev scev(function, factory, tree, params);
    scev.solve();
    const LoopTree refined = Refiner(function, factory, tree, scev, params).run();
    return canonical_trace(make_trace(function, factory, refined, scev, params, request));
  } catch (const Refusal& refusal) {
    return refusal.error(request);
  }
}

}  // namespace nrd::lift
