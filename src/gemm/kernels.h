// SPDX-License-Identifier: MIT
// src/gemm/kernels.h: what this folder exports: the GEMM engine and gemv as kernels of `cpu`.
#pragma once

#include <memory>

#include "gemm/describe.h"
#include "machine/machine.h"
#include "ops/kernel.h"

namespace nrd {

// gemm, gemm_prepacked, gemm_bias, gemm_dequant, fp8_gemm and products with epilogues
// (ops/epilogue.h) on the machine's best ISA. Null where no code can be generated.
std::unique_ptr<Kernel> make_gemm_kernel(const Machine& machine, TraceSource traces);
// Likewise.
std::unique_ptr<Kernel> make_gemv_kernel(const Machine& machine);

}  // namespace nrd
