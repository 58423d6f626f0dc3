// SPDX-License-Identifier: MIT
// src/gemm/gemv.h: y[m] = a[m,n] x[n] for one shape, prepared and run.
#pragma once

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
// its rows are not, it is one chain of multiply-adds over the columns 0, q, 2q, 3q, 1, q+1, ...
// with q = n/5, then the last n mod 5. Neither depends on ISA, threads or rows.
class Gemv {
 public:
  static Expected<Gemv> make(const GemvDesc& desc, const jit::Target& target);
  size_t workspace_bytes() const { return x_bytes_ + sum_bytes_; }
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
  };
  void by_rows(const Memory& at, const Exec& exec) const;
  // `groups` groups of `streams` rows from `row` on.
  void rows(const Memory& at, int64_t row, int64_t groups, int streams) const;
  void by_columns(const Memory& at, const Exec& exec) const;
  void store(const float* sums, void* y) const;

  GemvDesc desc_;
  GemvOrder order_ = GemvOrder::kRows;
  int streams_ = kGemvColumns;
  // Of all streams and of the few that are left; of all chunks but the last, and of that.
  struct Code {
    jit::Code::Entry chunk = nullptr, last = nullptr;
  };
  Code whole_, rest_;
  size_t x_bytes_ = 0, sum_bytes_ = 0;
};

}  // namespace nrd::gemm
