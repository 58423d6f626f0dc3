// SPDX-License-Identifier: MIT
// src/compiler/prove_code.h: the second proof: the vector code computes the trace.
#pragma once

#include <vector>

#include "base/error.h"
#include "jit/ir.h"
#include "ops/evaluate.h"
#include "trace/assumption.h"
#include "trace/sample.h"

namespace nrd {

// Whether an output lies on an input while code is tried.
enum class Sharing : uint8_t {
  kNone,
  kFirst,  // the first output on the first input of its size, and nothing else is tried
  kEvery,  // each output on each input of its size, besides none
};

struct CodeProof {
  std::vector<DType> dtypes;  // of the pointers in memory; empty: as the trace has them
  std::vector<int> ints;      // empty: every rounding type f32
  std::vector<std::vector<int64_t>> sizes;  // empty: sample_sizes of most_points
  bool non_temporal = false;                // code whose outputs bypass the cache
  Sharing in_place = Sharing::kNone;
  int64_t most_points = kProofPoints;
  const Assumptions* assumptions = nullptr;  // of the trace's integers; null: none
};

// Runs a body on samples and compares every element it writes with the trace in double: at most
// four first-order bounds apart, plus the rounding of the storage dtype. What it must not write
// stays as it was. Code for several threads must give the same bits. Samples are those on which the
// function is defined. The error names the first difference.
Expected<void> prove_body(const Body& body, const OpTrace& trace, std::string_view isa,
                          const CodeProof& options);

// The same for code that is made for it and dropped again.
Expected<void> prove_code(const OpTrace& trace, const jit::Target& target,
                          const CodeProof& options = {});

}  // namespace nrd
