// SPDX-License-Identifier: MIT
// src/gemm/family.h: the families of micro-kernels: how much of C one call computes, and from what.
#pragma once

#include <string_view>

#include "base/error.h"
#include "jit/ir.h"
#include "ops/desc.h"

namespace nrd::gemm {

// A tile is `rows` x `vectors` vectors of accumulators. Panels of A hold [k][rows], those of B
// [k][columns], both as `element`; a step takes `depth` elements of k at once.
struct Family {
  std::string_view isa;
  Numerics numerics = Numerics::kPlain;
  DType element = DType::kF32;
  int rows = 0, vectors = 0, lanes = 0;
  int depth = 1;
  int columns() const { return vectors * lanes; }
};

// The family that serves a target and a numerics class.
Expected<const Family*> find_family(const jit::Target& target, Numerics numerics);

}  // namespace nrd::gemm
