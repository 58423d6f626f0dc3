// SPDX-License-Identifier: MIT
// src/compiler/dump.h: NEREID_DUMP=lift,trace,ir,asm.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/lower.h"
#include "lift/lift.h"

namespace nrd {

// Writes the stages that the variable names to standard error.
void dump_stages(const jit::Lowered& lowered, const std::vector<uint8_t>& bytes,
                 const jit::Target& target);

// The lifter's forms of a user's function; the catalogue was lifted when the library was built.
void dump_lifted(const lift::LiftRequest& request);

}  // namespace nrd
