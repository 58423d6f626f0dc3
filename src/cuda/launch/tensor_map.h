// SPDX-License-Identifier: MIT
// src/cuda/launch/tensor_map.h: how TMA sees a matrix: its place, its sizes and the box of a copy.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace nrd::cuda {

enum class Swizzle : int32_t { kNone, k32B, k64B, k128B };

// A matrix of `height` rows of `width` elements, and the box that one copy moves.
struct MatrixMapSpec {
  const void* base = nullptr;  // device memory, 16-byte aligned
  uint64_t width = 0;          // elements of a row
  uint64_t height = 0;         // rows
  uint64_t row_bytes = 0;      // from row to row: a multiple of 16
  uint32_t box_width = 0;      // elements; the bytes are a multiple of 16 and within the swizzle
  uint32_t box_height = 0;     // rows, at most 256
  uint32_t element_bytes = 1;  // 1, 2 or 4
  Swizzle swizzle = Swizzle::k128B;
};

// What the hardware reads; opaque. A kernel takes it as a `const __grid_constant__` parameter.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// By the driver, which is found at run time: no link to libcuda. The error names the call and its
// code. The emulator of the tests has its own encoder: a map there holds the specification.
Expected<TensorMap> encode_matrix_map(const MatrixMapSpec& spec);

static_assert(sizeof(MatrixMapSpec) <= sizeof(TensorMap));

}  // namespace nrd::cuda
