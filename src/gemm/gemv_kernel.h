// SPDX-License-Identifier: MIT
// src/gemm/gemv_kernel.h: the loops of y[m] = a[m,n] x[n] as generated code.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "jit/ir.h"
#include "jit/lower.h"

namespace nrd::gemm {

// Elements of a row that are summed in 64 lanes before the next ones begin, as every reduction
// (ARCHITECTURE.md).
constexpr int64_t kGemvChunk = jit::kReductionChunk;
constexpr int kGemvLanes = 64;
// Columns that are read in turns, and columns whose sum is one chain; part of what a sum is.
constexpr int kGemvColumns = 5;
constexpr int64_t kGemvBlock = 512;

enum class GemvOrder : uint8_t {
  kRows,     // a's rows are contiguous: sums of 64 lanes
  kStrided,  // the same sums from elements anywhere
  kColumns,  // a's columns are contiguous: each y is a chain a block
};

struct GemvSpec {
  const jit::Target* target = nullptr;
  GemvOrder order = GemvOrder::kRows;
  DType a = DType::kF32;
  DType y = DType::kF32;  // f32 by columns
  int streams = 1;        // rows or columns

  std::string key() const;  // equal where the code is
};

// The argument block. Streams are rows, or by columns columns; they lie `far` from one another and
// `next` from those that follow them. Bytes, except `x_far` and counts.
struct GemvArgs {
  const jit::Helper* helpers = nullptr;
  const void* a = nullptr;
  int64_t next = 0, far = 0;
  int64_t element = 0;       // from element to element of a stream
  int64_t count = 0;         // elements of a stream, by rows at most kGemvChunk
  int64_t groups = 0;        // of streams, one after the other
  const float* x = nullptr;  // contiguous; by columns those of a group lie x_far elements apart
  int64_t x_far = 0;
  // By rows each y = before + sum, by columns all y += sum.
  const float* before = nullptr;
  int64_t before_next = 0, before_far = 0;
  void* y = nullptr;
  int64_t y_next = 0, y_far = 0;
};

// How many rows are read in turns; changes times, never bits.
int gemv_rows(const jit::Target& target);

jit::Program write_gemv_kernel(const GemvSpec& spec);

}  // namespace nrd::gemm
