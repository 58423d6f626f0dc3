// SPDX-License-Identifier: MIT
// src/gemm/packer.h: packs panels of one matrix: chooses the code by strides, dtype and width.
#pragma once

#include <array>

#include "gemm/code_cache.h"
#include "gemm/packed.h"

namespace nrd::gemm {

// How a matrix is cut across: rows of A, columns of B. Panels are `wide` or `narrow`; the first
// `wide_panels` are wide.
struct Cut {
  int64_t panels = 0, wide_panels = 0;
  int wide = 0, narrow = 0;

  // A's rows, as evenly as panels of at most `most` allow: 16 is 8 + 8 and not 14 + 2.
  static Cut even(int64_t size, int most);
  // B's columns: full panels and the rest.
  static Cut full(int64_t size, int width);

  int width(int64_t panel) const { return panel < wide_panels ? wide : narrow; }
  int64_t begin(int64_t panel) const {
    return panel <= wide_panels ? panel * wide
                                : wide_panels * wide + (panel - wide_panels) * narrow;
  }
};

class Packer {
 public:
  // `step` 0: a panel is as wide as its cut (A); else every panel has that step (B).
  static Expected<Packer> make(const jit::Target& target, DType dtype, int64_t along_k,
                               int64_t across, const Cut& cut, int step);

  // Steps [k, k + steps) of a panel to `to`. Up to one vector behind it is overwritten where the
  // step is no multiple of the lanes.
  void pack(const void* matrix, int64_t panel, int64_t k, int64_t steps, void* to) const;

 private:
  Cut cut_;
  int64_t along_k_ = 0, across_ = 0;  // bytes
  jit::Code::Entry wide_ = nullptr, narrow_ = nullptr;
};

}  // namespace nrd::gemm
