// SPDX-License-Identifier: MIT
// src/gemm/gemv.h: y[m] = a[m,n] x[n] for one shape, prepared and run.
#pragma once

#include <array>

#include "base/threads.h"
#include "gemm/code_cache.h"

namespace nrd::gemm {

// Strides in elements.
struct GemvDesc {
  int64_t m = 0, n = 0;
  DType a = DType::kF32, x = DType::kF32, y = DType::kF32;
  int64_t a_row = 0, a_column = 0;
  int64_t x_step = 0, y_step = 0;
};

// Immutable; several threads may run it at once, each with its own workspace. A sum is 64 lanes a
// chunk of 16384 columns, as every sum of generated code. Only where a's columns are contiguous and
// its rows are not, it is a chain of multiply-adds for each block of 512 columns, in the order 0,
// q,
// .. 4q, 1, q+1, ... with q a fifth of the block, then the last up to four; blocks are added in
// their order. Neither depends on ISA, threads or rows.
class Gemv {
 public:
  // `cores`: threads that a run can make use of.
  static Expected<Gemv> make(const GemvDesc& desc, const jit::Target& target, int cores);
  size_t workspace_bytes() const {
    return x_bytes_ + sum_bytes_ + block_bytes_ * static_cast<size_t>(slots_);
  }
  // The workspace is aligned to 64 bytes.
  void run(const void* a, const void* x, void* y, void* workspace, const Exec& exec) const;
  GemvOrder order() const { return order_; }

 private:
  Gemv() = default;
  Expected<void> make_kernels(const jit::Target& target);
  const float* widen_x(const void* x, void* workspace) const;
  // One run: sums are those of rows in several chunks, or by columns all.
  struct Memory {
    const void* a;
    const float* x;
    void* y;
    float* sums;
    float* slots;  // sums of blocks
  };
  void by_rows(const Memory& at, const Exec& exec) const;
  // `groups` groups of `streams` rows from `row` on.
  void rows(const Memory& at, int64_t row, int64_t groups, int streams) const;
  void by_columns(const Memory& at, const Exec& exec) const;
  // The sums of rows [row, row + count) over one block.
  void column_block(const Memory& at, int64_t block, int64_t row, int64_t count, float* to) const;
  void store(const float* sums, void* y) const;

  GemvDesc desc_;
  GemvOrder order_ = GemvOrder::kRows;
  int streams_ = kGemvColumns;
  // By rows of all streams and of the few that are left, of all chunks but the last and of that; by
  // columns of a number of streams.
  struct Code {
    jit::Code::Entry chunk = nullptr, last = nullptr;
  };
  Code whole_, rest_;
  std::array<jit::Code::Entry, kGemvColumns + 1> columns_{};
  // In the workspace: x as f32, sums, and by columns those of some blocks.
  size_t x_bytes_ = 0, sum_bytes_ = 0, block_bytes_ = 0;
  int slots_ = 0;
};

}  // namespace nrd::gemm
