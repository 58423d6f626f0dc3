// SPDX-License-Identifier: MIT
// src/gemm/finish_rows.h: writes the way of sums through the epilogue to C: a vector's, and the
// loop that takes a tile from memory row by row.
#pragma once

#include "gemm/epilogue_writer.h"
#include "gemm/micro_kernel.h"

namespace nrd::gemm {

// Where a row of C is: its address, and the bytes from column to column where they are not
// together.
struct RowOfC {
  jit::G at, column;
};

// One vector of sums through the epilogue to its columns of a row of C.
Expected<void> write_finish_vector(jit::Builder& b, const MicroKernelSpec& spec,
                                   EpilogueWriter& steps, const RowOfC& row, int vector,
                                   const jit::Tail* tail, jit::V sums);

// The sums lie at the block's `partial`, and may be C itself.
Expected<void> write_finish_rows(jit::Builder& b, const MicroKernelSpec& spec);

}  // namespace nrd::gemm
