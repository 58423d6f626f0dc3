// SPDX-License-Identifier: MIT
// src/cuda/config/fp8_gemm.h: which kernel runs a product of e4m3 codes, and how.
#pragma once

#include <cstdint>

namespace nrd::cuda {

// Which operand the two blocks of a cluster have in common: each loads half of it for both.
enum class Fp8Share : int32_t { kNothing, kA, kB };

struct Fp8GemmConfig {
  int kernel = 0;                       // number in the list of instantiations
  Fp8Share share = Fp8Share::kNothing;  // clusters of two unless nothing is shared
  int raster = 8;                       // rows of tiles that are walked together
  bool overlap = false;                 // starts while the kernel in front of it ends
};

}  // namespace nrd::cuda
