// SPDX-License-Identifier: MIT
// src/dispatch/gemv_kernel.h: the engine's matrix-vector product as a kernel of `cpu`.
#pragma once

#include <memory>

#include "dispatch/kernel.h"
#include "dispatch/registry.h"

namespace nrd {

// gemv of f32, f16 and bf16 on the machine's best ISA. Null where no code can be generated.
std::unique_ptr<Kernel> make_gemv_kernel(const Machine& machine);

}  // namespace nrd
