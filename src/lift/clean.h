// SPDX-License-Identifier: MIT
// src/lift/clean.h: after SSA construction: everything is simplified again now that phis have
// their arguments, and what no result depends on goes.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// Marks what stores, conditions and the result depend on, and with kTraps what can go wrong.
// Accesses of what the image knows to be instrumentation do not count.
std::vector<bool> live_nodes(const Function& function, const Image& image, Keep keep);

// Removes trivial phis, blocks behind constant conditions, dead nodes; gives floats that lived in
// integer registers their type (phis and loads), and whole vector registers the type of the lane
// that is read. Repeats until nothing changes.
Function clean(Function function, const Image& image, Keep keep);

}  // namespace nrd::lift
