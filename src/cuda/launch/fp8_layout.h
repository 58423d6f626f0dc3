// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_layout.h: how matrices of the 8-bit kernels lie, and what that allows.
#pragma once

#include "base/align.h"
#include "cuda/launch/fp8_kernels.h"

namespace nrd::cuda {

inline constexpr int64_t kFp8Block = 128;

inline bool is_aligned(const void* pointer, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(bytes) == 0;
}

// Of the transposed matrix.
Fp8Tile turned(Fp8Tile tile);
inline Fp8Strides turned(const Fp8Strides& s) { return {s.batch, s.col, s.row}; }

// Whether the rows are the axis along which memory runs.
bool runs_down(int64_t rows, int64_t cols, const Fp8Strides& strides);
// Steps that are never taken count as 0, those along a lone column as 1.
Fp8Strides without_idle_steps(Fp8Strides strides, int64_t batch, int64_t rows, int64_t cols);
// A scale is found at (row, col) of the tiles; an axis along which all share it has step 0.
Fp8Strides scale_steps(Fp8Strides strides, Fp8Tile tile);
// Every row runs along memory and starts at a multiple of `alignment` bytes.
bool has_groups(const void* data, int64_t element_bytes, const Fp8Strides& strides,
                int64_t alignment);
Fp8Stores stores_of(const uint8_t* codes, const Fp8Strides& strides);

}  // namespace nrd::cuda
