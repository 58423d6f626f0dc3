// SPDX-License-Identifier: MIT
// src/gemm/finish_rows.h: writes the loop that takes a tile of sums from memory through the
// epilogue to C, row by row.
#pragma once

#include "gemm/micro_kernel.h"

namespace nrd::gemm {

// The sums lie at the block's `partial`, and may be C itself.
Expected<void> write_finish_rows(jit::Builder& b, const MicroKernelSpec& spec);

}  // namespace nrd::gemm
