// SPDX-License-Identifier: MIT
// src/dispatch/gemm_kernel.h: the GEMM engine as a kernel of `cpu`.
#pragma once

#include <memory>

#include "dispatch/kernel.h"
#include "dispatch/registry.h"

namespace nrd {

// gemm, gemm_prepacked, gemm_bias, gemm_dequant and fp8_gemm on the machine's best ISA. Null where
// no code can be generated.
std::unique_ptr<Kernel> make_gemm_kernel(const Machine& machine);

}  // namespace nrd
