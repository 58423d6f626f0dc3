// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/problem.h: one product in device memory, in several copies.
#pragma once

#include <string>
#include <vector>

#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/memory.h"

namespace nrd::bench {

struct Mode {
  int64_t m = 0, n = 0, k = 0;
  bool fast = false, block = false, one_scale = true;
  std::string text() const;  // "4096x4096x4096 fast tensor"
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

class Problem {
 public:
  // As many copies of the weights as make `cold_bytes` in all, at least one.
  static Expected<Problem> make(const Mode& mode, int64_t cold_bytes, int multiprocessors,
                                cuda::Stream stream);

  const Mode& mode() const { return mode_; }
  // The arguments of call `i`.
  cuda::Fp8GemmArgs args(int i) const;
  int copies() const { return static_cast<int>(b_.size()); }
  int64_t weight_bytes() const { return mode_.n * row_; }
  int64_t operand_bytes() const { return (mode_.n + mode_.m) * row_; }

  // Compares c of copy 0 with the reference at 4096 places, tile edges among them. The largest
  // error over the sum of magnitudes.
  Expected<double> worst_error(cuda::Stream stream) const;
  Expected<void> poison(cuda::Stream stream) const;

 private:
  Mode mode_;
  int64_t row_ = 0;
  int multiprocessors_ = 132;
  std::vector<cuda::DeviceMemory> b_;
  cuda::DeviceMemory a_, c_, a_scale_, b_scale_;
};

}  // namespace nrd::bench
