// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/device.h: what the benchmark itself runs on the device.
#pragma once

#include <cstdint>

#include "cuda/launch/fp8_gemm.h"

namespace nrd::bench {

// e4m3 codes of normal values whose largest lies at 448, as a quantised tensor has them.
void fill_codes(void* codes, int64_t count, uint64_t seed, cuda::Stream stream);
// Between 0.5 and 1.5, times 2^-10.
void fill_scales(float* scales, int64_t count, uint64_t seed, cuda::Stream stream);

// Element (row, col) of c in double, the sum of its terms' magnitudes, and the bf16 that c holds.
struct Sample {
  int32_t row, col;
  double value, magnitude;
  uint16_t got;
};
void reference(const cuda::Fp8GemmArgs& args, Sample* samples, int count, cuda::Stream stream);

// Reads every byte once and keeps nothing: the bound of a product with few rows. `variant` 0 has
// many small blocks, 1 two large ones a multiprocessor.
constexpr int kReadVariants = 2;
void read_all(const void* bytes, int64_t count, int variant, int multiprocessors, float* sink,
              cuda::Stream stream);

}  // namespace nrd::bench
