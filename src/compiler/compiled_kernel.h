// SPDX-License-Identifier: MIT
// src/compiler/compiled_kernel.h: generated code as a kernel of `cpu`.
#pragma once

#include <memory>

#include "machine/machine.h"
#include "ops/kernel.h"

namespace nrd {

// Compiles traces for the machine's best ISA. Composites run node by node, what cannot be
// compiled as the definition. Where this build or this system has no generated code, the error
// says why, and the log does once (level warning).
Expected<std::unique_ptr<Kernel>> make_compiled_kernel(const Machine& machine);

}  // namespace nrd
