// SPDX-License-Identifier: MIT
// src/compiler/prove_code.h: the second proof of SPEC 4: the vector code computes the trace.
#pragma once

#include <vector>

#include "base/error.h"
#include "jit/ir.h"
#include "trace/sample.h"

namespace nrd {

struct CodeProof {
  std::vector<DType> dtypes;  // of the pointers in memory; empty: as the trace has them
  std::vector<int> ints;      // empty: every rounding type f32
  std::vector<std::vector<int64_t>> sizes;  // empty: sample_sizes of most_points
  bool non_temporal = false;                // code whose outputs bypass the cache
  bool in_place = false;                    // the first output is the first input of its shape
  int64_t most_points = kProofPoints;
};

// Runs the code on samples and compares every element it writes with the trace in double: at most
// four first-order bounds apart, plus the rounding of the storage dtype. What it must not write
// stays as it was. Code for several threads must give the same bits. The error names the first
// difference.
Expected<void> prove_code(const OpTrace& trace, const jit::Target& target,
                          const CodeProof& options = {});

}  // namespace nrd
