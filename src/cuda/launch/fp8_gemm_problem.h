// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_problem.h: a Desc of fp8_gemm as one list of products of the same shape.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/operation.h"

namespace nrd::cuda {

// What shares a scale, as the catalogue's choice `scales` says.
enum class Fp8Grain { kTensor, kRowColumn, kBlock };

// Steps in elements. `outer` is m of a and c, n of b; `inner` is k of a and b, n of c. What an
// operand lacks has step 0.
struct ProblemOperand {
  int index = -1;  // in desc.operands; -1: absent
  DType dtype = DType::kF32;
  int64_t outer = 0, inner = 0;
  std::vector<int64_t> leading;

  bool present() const { return index >= 0; }
};

struct Fp8GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  Fp8Grain grain = Fp8Grain::kTensor;
  bool fast = false;
  bool batch_invariant = false;
  // A side that has no scales is quantised here. Scales step by rows of their side (`outer`; for b
  // of kBlock by 128 columns) and by blocks of 128 of k (`inner`).
  ProblemOperand a, b, a_scale, b_scale, bias, c;
  std::vector<int64_t> leading;  // sizes of the axes that could not become rows

  int64_t products() const;
  // Steps from the first element of an operand to that of a product's.
  int64_t offset(const ProblemOperand& operand, int64_t product) const;
};

// Leading axes along which everything lies like further rows of one product are folded into m.
Fp8GemmProblem read_fp8_gemm(const Desc& desc);

}  // namespace nrd::cuda
