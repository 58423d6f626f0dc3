// SPDX-License-Identifier: MIT
// src/gemm/packed.h: the layout of a packed right-hand matrix, and packing into it.
//
// panels[n / columns] of the family's form (family.h), the last padded with zeros; then, where the
// family corrects offsets, the corrections, an i32 a column. The layout says for which family it
// was made; a product refuses any other.
#pragma once

#include <cstdint>
#include <memory>

#include "base/threads.h"
#include "gemm/family.h"

namespace nrd::gemm {

// Factors that blocks of a matrix share: k_block elements of k (0: there are none) by across_block
// rows of A or columns of B. Strides from block to block, in elements.
struct BlockScales {
  int k_block = 0, across_block = 1;
  int64_t along_k = 0, across = 0;
};

// A matrix in memory; strides in elements.
struct Matrix {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t row = 0, column = 0;
  BlockScales blocks = {};
  const float* scales = nullptr;
};

struct PackedLayout {
  const Family* family = nullptr;
  DType source = DType::kF32;  // of what was packed
  int64_t k = 0, n = 0;

  int64_t panels() const { return (n + family->columns() - 1) / family->columns(); }
  int64_t panel_bytes() const {
    return family->steps(k) * family->columns() * family->step_bytes();
  }
  int64_t sums_at() const { return panels() * panel_bytes(); }  // bytes from the beginning
  size_t bytes() const {
    const int64_t sums = family->offsets() ? panels() * family->columns() * 4 : 0;
    return static_cast<size_t>(sums_at() + sums);
  }
};

// The error: sizes whose bytes leave int64, a dtype that does not widen to the family's.
Expected<PackedLayout> make_packed_layout(const Family& family, DType source, int64_t k, int64_t n);

// Whether a matrix of layout `has` serves a product of k x n; the error says what differs.
Expected<void> check_packed(const PackedLayout& has, const Family& family, int64_t k, int64_t n);

// Memory of a packed matrix: huge pages where the system gives them, because a product streams
// through it.
class PackedMatrix {
 public:
  static Expected<PackedMatrix> make(const jit::Target& target, const PackedLayout& layout,
                                     const Matrix& b, const Exec& exec);
  const PackedLayout& layout() const { return layout_; }
  const void* data() const { return data_.get(); }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(void* data) const;
  };
  PackedLayout layout_;
  std::unique_ptr<void, Unmap> data_;
};

// Packs b[k][n] to `to`, 64-byte aligned, layout.bytes() long.
Expected<void> pack_b(const jit::Target& target, const PackedLayout& layout, const Matrix& b,
                      void* to, const Exec& exec);
// The reverse, to [k][n] contiguous, of the dtype that was packed.
void unpack_b(const PackedLayout& layout, const void* packed, void* to);

}  // namespace nrd::gemm
