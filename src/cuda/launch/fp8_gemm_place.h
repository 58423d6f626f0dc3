// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_place.h: c where no product writes it: its columns are not contiguous,
// or there is nothing to sum up.
#pragma once

#include <driver_types.h>

#include <cstdint>

#include "base/dtype.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// c[row * row_stride + column * column_stride] = from[row * n + column], or bias[column], or 0.
struct PlaceArgs {
  int64_t m = 0, n = 0;
  void* c = nullptr;
  DType dtype = DType::kBF16;  // of c and of `from`: f32, f16 or bf16
  int64_t row_stride = 0, column_stride = 1;
  const void* from = nullptr;  // may be absent
  const void* bias = nullptr;  // may be absent; taken where `from` is
  DType bias_dtype = DType::kF32;
  int64_t bias_step = 1;
};

struct PlaceKernels {
  cudaError_t (*place)(const PlaceArgs& args, Stream stream);
};

}  // namespace nrd::cuda
