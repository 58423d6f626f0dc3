// SPDX-License-Identifier: MIT
// src/compiler/parts.h: what of the compiler this build and this system have.
#pragma once

#include <string>
#include <vector>

#include "machine/isa.h"

namespace nrd {

// One line each, for `nereid info`: what works, or what is missing and what that means.
std::vector<std::string> describe_compiler(const IsaSet& isa);

// Why no code can be generated for these ISAs in this process; empty where it can.
std::string missing_code(const IsaSet& isa);

}  // namespace nrd
