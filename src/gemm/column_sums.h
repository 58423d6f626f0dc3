// SPDX-License-Identifier: MIT
// src/gemm/column_sums.h: what a product of offset bytes is too large by, column by column.
#pragma once

#include "gemm/code_cache.h"

namespace nrd::gemm {

class ColumnSums {
 public:
  // For families that offset A; does nothing for others.
  static Expected<ColumnSums> make(const jit::Target& target, const Family& family);

  // Of a packed panel of B, to `sums`, an i32 a column: the product of the panel and a row of the
  // offset, 128 as the family's instruction reads it. To be subtracted.
  void run(const void* panel, int64_t steps, int32_t* sums) const;

 private:
  const Family* family_ = nullptr;
  jit::Code::Entry kernel_ = nullptr;
};

}  // namespace nrd::gemm
