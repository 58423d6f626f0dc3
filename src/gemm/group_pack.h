// SPDX-License-Identifier: MIT
// src/gemm/group_pack.h: panels whose elements are narrower than a lane, in groups along k.
#pragma once

#include <cstdint>

#include "gemm/family.h"

namespace nrd::gemm {

// A panel is [k / group][width][group]: `valid` of the width come from the matrix, the rest and the
// end of the last group are zero.
struct GroupPanel {
  DType dtype = DType::kI8;  // of the matrix: i8, u8, bf16
  int element = 1;           // bytes in the panel: i8 and u8 may widen to i16
  int group = 4, width = 0, valid = 0;
  bool inverts_top_bit = false;  // i8 as u8 and the reverse
};

// Groups [0, groups) of a panel from elements [0, k) of a matrix; strides in bytes.
void pack_groups(const GroupPanel& panel, const void* from, int64_t along_k, int64_t across,
                 int64_t k, int64_t groups, void* to);

}  // namespace nrd::gemm
