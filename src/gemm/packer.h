// SPDX-License-Identifier: MIT
// src/gemm/packer.h: packs panels of one matrix: chooses the way by family, strides and width.
#pragma once

#include <array>

#include "gemm/code_cache.h"
#include "gemm/group_pack.h"
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

// One side of a product in memory; strides in elements.
struct Side {
  DType dtype = DType::kF32;
  int64_t along_k = 0, across = 0;
  int64_t k = 0;
  BlockScales blocks = {};
};

class Packer {
 public:
  // Panels of A are as wide as their cut, but those that are tiles are all of the widest.
  static Expected<Packer> of_a(const jit::Target& target, const Family& family, const Side& a,
                               const Cut& rows);
  // Those of B are all of the family's width.
  static Expected<Packer> of_b(const jit::Target& target, const Family& family, const Side& b,
                               const Cut& columns);

  // Steps [first, first + steps) of a panel to `to`. Up to one vector behind it is overwritten
  // where the step is no multiple of the lanes.
  void pack(const void* matrix, int64_t panel, int64_t first, int64_t steps, void* to,
            const float* scales = nullptr) const;

 private:
  Expected<void> make_code(const jit::Target& target, const Side& side, const PackSpec& spec);
  void run_code(const char* from, int64_t panel, int64_t count, void* to,
                const float* factors = nullptr) const;
  void pack_aligned(const char* from, int64_t panel, int64_t steps, char* to) const;
  void pack_scaled(const char* from, int64_t panel, int64_t first, int64_t steps, char* to,
                   const float* scales) const;
  void pack_part(const char* from, int64_t panel, int part, int64_t k, int64_t steps,
                 char* to) const;

  const Family* family_ = nullptr;
  Cut cut_;
  int64_t k_ = 0;
  int64_t along_k_ = 0, across_ = 0;  // bytes
  int64_t vector_bytes_ = 0;  // of rows along k that begin alike in a vector; 0: they do not
  BlockScales blocks_;
  GroupPanel groups_;  // of elements narrower than a lane
  int parts_ = 1;      // of a step
  // Of elements as wide as a lane, and of groups that are, where they lie together.
  jit::Code::Entry wide_ = nullptr, narrow_ = nullptr;
};

// Rows of each panel of A, as packed.
int panel_rows(const Family& family, const Cut& rows, int64_t panel);

}  // namespace nrd::gemm
