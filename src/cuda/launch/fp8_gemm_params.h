// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_params.h: what a kernel of launch/fp8_gemm.h is told.
//
// Rows and columns are those of the tiles: a's rows and c's columns, or the other way round in a
// swapped kernel. "Span" is one tile, or the two neighbours of a cluster.
#pragma once

#include <cstdint>

#include "cuda/config/fp8_gemm.h"
#include "cuda/launch/division.h"
#include "cuda/launch/tensor_map.h"

namespace nrd::cuda {

enum class Fp8Out : int32_t { kF32, kF16, kBF16 };

struct Fp8GemmParams {
  TensorMap row_codes, col_codes;  // boxes of 128 of k
  TensorMap out, out_rest;         // boxes of 128 bytes of c, and of what a tile's width leaves

  void* c = nullptr;
  int64_t c_row = 0;  // elements
  Fp8Out c_type = Fp8Out::kBF16;
  int32_t store_by_threads = 0;  // c is not aligned as TMA wants it
  int32_t c_rows = 0, c_cols = 0;

  const float* row_scale = nullptr;
  int64_t row_scale_step = 0, row_scale_k = 0;
  const float* col_scale = nullptr;
  int64_t col_scale_step = 0, col_scale_k = 0;
  const void* bias = nullptr;
  int64_t bias_step = 0;
  Fp8Out bias_type = Fp8Out::kF32;
  int32_t one_scale = 0;   // for all of a, and one for all of b
  int32_t one_factor = 0;  // that, and no bias

  int32_t rows = 0, cols = 0, k_blocks = 0;
  int32_t stage_bytes = 0;   // that the copies of a block of k bring
  int32_t half_tail = 0;     // the last block of k is half empty
  int32_t early_codes = 0;   // b's codes may be read before the kernel in front has ended
  int32_t weights_once = 0;  // no two spans need the same codes of b
  int32_t cluster = 1;
  Fp8Share share = Fp8Share::kNothing;
  int32_t span_rows = 0, span_cols = 0;  // the grid of spans
  // Walked in bands of `raster` rows; the last band may be lower.
  int32_t raster = 8;
  Division band_spans, band_height, last_height;
  // Clusters take whole spans in turn for `whole_rounds` rounds. The k blocks of the spans that
  // are left are dealt out evenly: units_each to every cluster, one more to the first units_extra.
  int32_t clusters = 1, whole_rounds = 0, units_each = 0, units_extra = 0;
  float* partials = nullptr;
  uint64_t* counters = nullptr;  // of arrived parts, above the tag that says that they are ours
  uint64_t tag = 0;              // unlike any other launch's; the low 16 bits are 0
};

struct Fp8GemmLaunch {
  int kernel = 0;
  bool overlap = false;
  Fp8GemmParams params;
};

}  // namespace nrd::cuda
