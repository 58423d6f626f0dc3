// SPDX-License-Identifier: MIT
// src/lift/tidy.h: choices and tests that code makes with bits, said plainly.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// The node that `node`, not yet added, reduces to, or kNoNode. Exact, like simplify.h; these rules
// look further and so are left to the last step, when control flow is gone.
NodeId tidied(const Node& node, NodeFactory& factory);

}  // namespace nrd::lift
