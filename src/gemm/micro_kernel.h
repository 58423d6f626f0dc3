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
  int rows = 0;             // 1 .. family->rows
  int panel_rows = 0;       // as the panel of A was packed: these, or some that do not count more
  bool reads_rows = false;  // of A as it lies: f32 along k, args.a_row apart
  int vectors = 0;          // 1 .. family->vectors that hold columns of C; a panel of B is whole
  bool has_tail = false;    // the last vector is not full
  DType a = DType::kF32;    // as it was given, before packing
  int prefetch_lines = 0;   // tiles: of `prefetch` a step
  // What is announced of B comes to L2 and no further (tiles: always). L1 would give up lines of A
  // and of B for what most panels of A still have to pass before; a single one uses it at once.
  bool announces_to_l2 = false;
  Epilogue epilogue;

  std::string key() const;  // equal where the code is
};

// The argument block. Accumulators start at zero or at a partial result and end there, or go
// through the epilogue into C. Tiles of AMX always pass through `partial`.
struct MicroKernelArgs {
  const jit::Helper* helpers = nullptr;
  const void* a = nullptr;
  int64_t a_row = 0;  // bytes from row to row, where they are read as they lie
  const void* b = nullptr;
  const void* prefetch = nullptr;  // walks with b: a step's bytes, or spec.prefetch_lines, a step
  int64_t steps = 0;               // of k
  int64_t is_first = 1, is_last = 1;
  const int32_t* sums = nullptr;  // of the panel's columns, where the family corrects offsets
  void* partial = nullptr;        // f32 or i32
  int64_t partial_row = 0;        // bytes from row to row, here and below
  void* c = nullptr;
  int64_t c_row = 0, c_column = 0;
  const void* announced_c = nullptr;  // a tile whose lines come nearer meanwhile
  int64_t tail = 0;                   // columns of the last vector
  OperandMemory operands[kEpilogueOperands];
};

Expected<jit::Program> write_micro_kernel(const MicroKernelSpec& spec);

// ---- tiles of AMX (tile_kernel.cpp) ----

Expected<jit::Program> write_tile_kernel(const MicroKernelSpec& spec);

// How many rows each of the two tiles across A has, for panels of `rows`.
struct TileRows {
  int first = 0, second = 0;
  static TileRows of(int rows);
};

// Before the first tile and after the last one of a thread; the argument is a TileArgs.
struct TileArgs {
  const jit::Helper* helpers = nullptr;
  alignas(8) uint8_t config[64] = {};
};
TileArgs tile_config(int rows);
jit::Program write_tile_configure(const jit::Target& target, bool is_release);

}  // namespace nrd::gemm
