// SPDX-License-Identifier: MIT
// src/gemm/matrix_packer.h: packs a whole right-hand matrix, with code that was chosen before.
#pragma once

#include "gemm/column_sums.h"
#include "gemm/packer.h"

namespace nrd::gemm {

class MatrixPacker {
 public:
  // For matrices that lie like b, wherever they are.
  static Expected<MatrixPacker> make(const jit::Target& target, const PackedLayout& layout,
                                     const Matrix& b);
  // b[k][n] to `to`, 64-byte aligned, layout.bytes() long; `scales` of its blocks, if it has any.
  void run(const void* b, const float* scales, void* to, const Exec& exec) const;
  const PackedLayout& layout() const { return layout_; }

 private:
  PackedLayout layout_;
  Packer packer_;
  ColumnSums sums_;
};

}  // namespace nrd::gemm
