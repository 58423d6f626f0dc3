// SPDX-License-Identifier: MIT
// src/gemm/matrix_packer.cpp: see matrix_packer.h.
#include "gemm/matrix_packer.h"

namespace nrd::gemm {

Expected<MatrixPacker> MatrixPacker::make(const jit::Target& target, const PackedLayout& layout,
                                          const Matrix& b) {
  const Family& family = *layout.family;
  const Cut cut = Cut::full(layout.n, family.columns());
  Expected<Packer> packer =
      Packer::of_b(target, family, {b.dtype, b.row, b.column, layout.k, b.blocks}, cut);
  if (!packer) return packer.error();
  Expected<ColumnSums> sums = ColumnSums::make(target, family);
  if (!sums) return sums.error();
  MatrixPacker all;
  all.layout_ = layout;
  all.packer_ = *packer;
  all.sums_ = *sums;
  return all;
}

void MatrixPacker::run(const void* b, const float* scales, void* to, const Exec& exec) const {
  const Family& family = *layout_.family;
  const int64_t steps = family.steps(layout_.k);
  auto* sums = reinterpret_cast<int32_t*>(static_cast<char*>(to) + layout_.sums_at());
  parallel_for(exec, layout_.panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; panel++) {
      char* packed = static_cast<char*>(to) + panel * layout_.panel_bytes();
      packer_.pack(b, panel, 0, steps, packed, scales);
      sums_.run(packed, steps, sums + panel * family.columns());
    }
  });
}

}  // namespace nrd::gemm
