// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8.h: to and from 8-bit floats with scales, as plain calls.
//
// The operators fp8_quantize and fp8_dequantize and the products that quantise their operands call
// these functions. Every stride is free: q with q_strides {.., 1, rows} is the transposed, for a
// product's right side K-contiguous, form of a row-major x, written by the same call.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// What shares a scale. The last is kBlock1x128 of the transposed matrix; no operator asks for it by
// name.
enum class Fp8Tile : int { kTensor, kRow, kColumn, kBlock1x128, kBlock128x128, kBlock128x1 };

// In elements. Of scales: `row` steps from one row of tiles to the next, `col` to the tile beside
// it (both are unused where a tile is as high or as wide as the matrix).
struct Fp8Strides {
  int64_t batch = 0, row = 0, col = 0;
};

// The scales of a contiguous array of them, for a matrix of that many columns.
Fp8Strides contiguous_scales(Fp8Tile tile, int64_t rows, int64_t cols);

// q = round(x / scale) with the bits of src/ops/scalar/fp8.c. `batch` matrices of the same form.
struct Fp8QuantizeArgs {
  const void* x = nullptr;
  DType x_dtype = DType::kBF16;  // f32, f16 or bf16
  uint8_t* q = nullptr;
  DType q_dtype = DType::kF8E4M3;   // or f8e5m2
  float* scale = nullptr;           // written
  const float* scale_in = nullptr;  // given scales; null: from the data
  bool saturate = false;            // given scales are kept, not raised where they overflow
  Fp8Tile tile = Fp8Tile::kTensor;
  int64_t batch = 1, rows = 0, cols = 0;
  Fp8Strides x_strides, q_strides, scale_strides, scale_in_strides;
  void* workspace = nullptr;  // of fp8_quantize_workspace() bytes; no defined content
};

// out = q * scale.
struct Fp8DequantizeArgs {
  const uint8_t* q = nullptr;
  DType q_dtype = DType::kF8E4M3;
  void* out = nullptr;
  DType out_dtype = DType::kBF16;  // f32, f16 or bf16
  const float* scale = nullptr;
  Fp8Tile tile = Fp8Tile::kTensor;
  int64_t batch = 1, rows = 0, cols = 0;
  Fp8Strides q_strides, out_strides, scale_strides;
};

// Codes (any bytes) from one layout to another: transposes where the strides say so.
struct Fp8CopyArgs {
  const uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  int64_t batch = 1, rows = 0, cols = 0;
  Fp8Strides from_strides, to_strides;
};

size_t fp8_quantize_workspace(const Fp8QuantizeArgs& args, const Target& target);
// How args whose pointers are aligned are quantised: "rows, 32 threads with 16 vectors".
std::string fp8_quantize_note(const Fp8QuantizeArgs& args, const Target& target);
cudaError_t fp8_quantize(const Fp8QuantizeArgs& args, const Target& target, Stream stream);
cudaError_t fp8_dequantize(const Fp8DequantizeArgs& args, const Target& target, Stream stream);
cudaError_t fp8_copy(const Fp8CopyArgs& args, const Target& target, Stream stream);

}  // namespace nrd::cuda
