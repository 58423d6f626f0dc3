// SPDX-License-Identifier: MIT
// tests/cuda/fp8_gemm_choice_test.cpp: which kernel of fp8_gemm runs, and how work is dealt out.
#include <gtest/gtest.h>

#include "cuda/config/fp8_gemm.h"

namespace nrd::cuda {
namespace {

const Fp8Kernel& kernel_of(const Fp8GemmConfig& config) {
  return fp8_kernels()[static_cast<size_t>(config.kernel)];
}

TEST(Fp8GemmChoice, DealsOutEveryBlockOfKOnce) {
  for (int64_t m : {1, 64, 128, 500, 4096})
    for (int64_t n : {1, 256, 2880, 11264})
      for (Fp8Sums sums : {Fp8Sums::kFast, Fp8Sums::kPrecise, Fp8Sums::kBlock}) {
        const Fp8GemmShape shape{.m = m, .n = n, .k = 4096, .sums = sums};
        for (const Fp8GemmConfig& config : all_fp8_gemm_configs(shape)) {
          const Fp8GemmGrid grid = lay_out(config, shape);
          const int64_t whole = grid.span_rows * grid.span_cols - grid.cut_spans;
          const int64_t most = int64_t{grid.whole_rounds} * grid.clusters;
          EXPECT_TRUE(grid.cut_spans > 0 ? whole == most : whole <= most) << config.kernel;
          EXPECT_GT(whole, int64_t{grid.whole_rounds - 1} * grid.clusters) << config.kernel;
          EXPECT_EQ(int64_t{grid.units_each} * grid.clusters + grid.units_extra,
                    int64_t{grid.cut_spans} * grid.k_blocks);
          EXPECT_LE(grid.clusters * grid.cluster, shape.multiprocessors);
        }
      }
}

TEST(Fp8GemmChoice, KeepsToTheRules) {
  for (int64_t m : {1, 16, 128, 2048}) {
    Fp8GemmShape shape{.m = m, .n = 2048, .k = 8192};
    EXPECT_NE(kernel_of(choose_fp8_gemm(shape)).sums, Fp8Sums::kFast);
    shape.whole_k = true;
    EXPECT_EQ(choose_fp8_gemm(shape).cut_rounds, 0);
    shape.sums = Fp8Sums::kBlock;
    EXPECT_EQ(kernel_of(choose_fp8_gemm(shape)).sums, Fp8Sums::kBlock);
  }
}

// Few tokens stream the weights: one warpgroup has them all, or they are the columns.
TEST(Fp8GemmChoice, StreamsWeightsForFewRows) {
  for (int64_t n : {2880, 4096, 5120, 11264, 14336, 201088})
    for (int64_t m : {1, 8, 16, 33, 64}) {
      const Fp8GemmShape shape{.m = m, .n = n, .k = 4096};
      const Fp8Kernel& kernel = kernel_of(choose_fp8_gemm(shape));
      EXPECT_TRUE(kernel.swapped ? m <= kernel.cols : kernel.rows == 64) << m << " x " << n;
      EXPECT_EQ(lay_out(choose_fp8_gemm(shape), shape).cut_spans, 0) << m << " x " << n;
    }
  EXPECT_EQ(kernel_of(choose_fp8_gemm({.m = 64, .n = 11264, .k = 4096})).cols, 88);
  EXPECT_TRUE(kernel_of(choose_fp8_gemm({.m = 8, .n = 14336, .k = 4096})).swapped);
  EXPECT_GT(kernel_of(choose_fp8_gemm({.m = 4096, .n = 4096, .k = 4096})).rows, 64);
}

}  // namespace
}  // namespace nrd::cuda
