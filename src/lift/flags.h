// SPDX-License-Identifier: MIT
// src/lift/flags.h: what a condition means after the instruction that set the flags.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// The condition as a bool, or kNoNode where these flags do not answer it. `flags` is of kind
// kFlags or kFlagsIf.
NodeId resolve_condition(NodeFactory& factory, NodeId flags, Cond cond);

std::string_view cond_word(Cond cond);

}  // namespace nrd::lift
