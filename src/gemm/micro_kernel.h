// SPDX-License-Identifier: MIT
// src/gemm/micro_kernel.h: one tile of C from one panel of A and one of B, as generated code.
#pragma once

#include <cstdint>

#include "gemm/epilogue.h"
#include "gemm/family.h"

namespace nrd::gemm {

struct MicroKernelSpec {
  const jit::Target* target = nullptr;
  const Family* family = nullptr;
  int rows = 0;           // 1 .. family->rows; the panel of A is that wide
  int vectors = 0;        // 1 .. family->vectors that hold columns of C; a panel of B is whole
  bool has_tail = false;  // the last vector is not full
  Epilogue epilogue;

  std::string key() const;  // equal where the code is
};

// The argument block. Accumulators start at zero or at a partial result (f32) and end there, or go
// through the epilogue into C.
struct MicroKernelArgs {
  const jit::Helper* helpers = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* prefetch = nullptr;  // walks with b, one panel row a step
  int64_t steps = 0;               // of k
  int64_t is_first = 1, is_last = 1;
  float* partial = nullptr;
  int64_t partial_row = 0;  // bytes from row to row, here and below
  void* c = nullptr;
  int64_t c_row = 0, c_column = 0;
  const void* next_c = nullptr;  // the tile after this one
  int64_t tail = 0;              // columns of the last vector
  OperandMemory operands[kEpilogueOperands];
};

Expected<jit::Program> write_micro_kernel(const MicroKernelSpec& spec);

}  // namespace nrd::gemm
