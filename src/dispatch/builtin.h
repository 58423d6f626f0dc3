// SPDX-License-Identifier: MIT
// src/dispatch/builtin.h: the backends that are always there.
#pragma once

#include <memory>
#include <vector>

#include "dispatch/registry.h"

namespace nrd {

// cpu: always the best we have; which kernels it chooses from is listed in builtin.cpp.
// autovec: the definitions as a compiler vectorises them, one kernel an ISA level.
// scalar: the definitions as they are written, one thread of plain scalar code an instance.
// cuda: our kernels for CUDA devices; says why where it cannot be used.
std::vector<std::unique_ptr<Backend>> make_builtin_backends(const Machine& machine);

}  // namespace nrd
