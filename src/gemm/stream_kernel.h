// SPDX-License-Identifier: MIT
// src/gemm/stream_kernel.h: a few rows of A times rows of B as they lie, as generated code.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "jit/ir.h"
#include "jit/lower.h"

namespace nrd::gemm {

constexpr int kStreamRows = 4;  // of A that one kernel takes at most

struct StreamSpec {
  const jit::Target* target = nullptr;
  DType b = DType::kF32;  // f32, f16, bf16
  int rows = 1;           // of A
  int streams = 1;        // rows of B that are read side by side

  std::string key() const;  // equal where the code is
};

// The argument block. sums[rows][columns] += a[rows][k] b[k][columns] with k = groups * streams;
// each sum is a chain of multiply-adds in the order of k. Strides in bytes.
struct StreamArgs {
  const jit::Helper* helpers = nullptr;
  const void* a = nullptr;  // f32
  int64_t a_row = 0, a_step = 0;
  const void* b = nullptr;
  int64_t b_row = 0;
  int64_t groups = 0;
  float* sums = nullptr;
  int64_t sums_row = 0;
  int64_t columns = 0;
};

// As many as registers allow beside the sums; changes times, never bits.
int streams_of(const jit::Target& target, int rows);

jit::Program write_stream_kernel(const StreamSpec& spec);

}  // namespace nrd::gemm
