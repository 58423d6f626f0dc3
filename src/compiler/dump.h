// SPDX-License-Identifier: MIT
// src/compiler/dump.h: NEREID_DUMP=trace,ir,asm.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/lower.h"

namespace nrd {

// Writes the stages that the variable names to standard error.
void dump_stages(const jit::Lowered& lowered, const std::vector<uint8_t>& bytes,
                 const jit::Target& target);

}  // namespace nrd
