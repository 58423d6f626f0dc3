// SPDX-License-Identifier: MIT
// src/jit/encode.h: what a back end is. A new ISA is one emit file with one such table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "jit/allocate.h"
#include "jit/ir.h"
#include "machine/isa.h"

namespace nrd::jit {

struct Backend {
  Target target;
  IsaSet required;
  RegisterFile registers;
  Needs (*needs)(const Inst& inst);
  // The bytes of the whole function with its pool. `where` comes from allocate().
  Expected<std::vector<uint8_t>> (*emit)(const Program& program, const Target& target,
                                         const Allocation& where);
};

std::span<const Backend* const> backends();  // of this build, best first

}  // namespace nrd::jit
