// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_sides.h: the two sides of an 8-bit product made into what its kernels
// read: e4m3 codes with k contiguous, and scales.
#pragma once

#include <string>

#include "cuda/launch/fp8_gemm_problem.h"

namespace nrd::cuda {

// What has to happen to a side, and where the result goes: offsets into memory of `bytes`.
struct SidePlan {
  enum class Work {
    kNone,      // codes as they lie
    kCopy,      // codes, moved or transposed
    kQuantize,  // floats
  };
  bool right = false;  // b, whose rows are columns of c
  Work work = Work::kNone;
  bool transposes = false;  // the source is contiguous along rows, not along k
  int64_t rows = 0, k = 0;
  int64_t code_row = 0;  // bytes from row to row of the result
  size_t scales = 0;     // offset
  size_t workspace = 0;  // offset of what the quantising kernel needs for itself
  size_t bytes = 0;
};

// Codes and scales of one side of one product; given scales are left to the caller.
struct Side {
  const void* codes = nullptr;
  int64_t code_row = 0;
  const float* scale = nullptr;
  int64_t scale_row = 0, scale_k = 0;
};

// `aligned_rows`: the kernels want rows at multiples of 16 bytes.
SidePlan plan_side(const Fp8GemmProblem& problem, bool right, bool aligned_rows,
                   const Target& target);
// The same for codes whose strides are fine but whose address may not be: the copy that they need
// then. Other plans stay as they are.
SidePlan plan_move(const SidePlan& plan);

// The side of which `data` is the first element, after the work of the plan in `memory` (256-byte
// aligned).
Expected<Side> make_side(const Fp8GemmProblem& problem, const SidePlan& plan, const void* data,
                         void* memory, const Target& target, Stream stream);

std::string side_note(const SidePlan& plan);  // "b quantised and transposed", or nothing

}  // namespace nrd::cuda
