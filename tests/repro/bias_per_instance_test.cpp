// SPDX-License-Identifier: MIT
// tests/repro/bias_per_instance_test.cpp: a bias with leading axes belongs to the instances of the
// product. With as many instances as rows it was added row by row, or refused otherwise, wherever
// the steps of a composite ran one after the other.
#include <gtest/gtest.h>
#include <nereid/nereid.h>

#include <vector>

namespace {

using nereid::TensorView;

TEST(Repro, ABiasPerInstanceIsThatOfItsInstance) {
  for (int64_t rows : {2, 3}) {
    const std::vector<float> a(static_cast<size_t>(2 * rows)), b = {1, 1};
    const std::vector<float> bias = {1, 2, 10, 20};  // [2, 2]: instances by columns
    for (const char* backend : {"cpu", "autovec", "scalar"}) {
      std::vector<float> c(static_cast<size_t>(4 * rows), -1.0f);
      nereid::gemm_bias(TensorView(a, {2, rows, 1}), TensorView(b, {1, 2}),
                        TensorView(bias, {2, 2}), TensorView(c, {2, rows, 2}),
                        {.backend = backend});
      for (size_t i = 0; i < c.size(); i++) {
        const size_t instance = i / static_cast<size_t>(2 * rows);
        EXPECT_EQ(c[i], bias[instance * 2 + i % 2]) << backend << ", " << rows << " rows, " << i;
      }
    }
  }
}

// gated_mlp has four such operands.
TEST(Repro, ScalesAndBiasesOfAGatedMlpPerInstance) {
  const std::vector<float> x = {1, 1, 1, 1}, weight = {1, 1};  // [2 instances, 2 rows, 1], [2, 1]
  const std::vector<float> scale = {1, 2, 3, 4}, zero(4);      // [2, 2]
  for (const char* backend : {"cpu", "autovec", "scalar"}) {
    std::vector<float> out(8);
    nereid::gated_mlp(TensorView(x, {2, 2, 1}), TensorView(weight, {2, 1}),
                      TensorView(weight, {2, 1}), TensorView(out, {2, 2, 2}),
                      {.gate_bias = TensorView(zero, {2, 2}),
                       .gate_scale = TensorView(scale, {2, 2}),
                       .backend = backend});
    const float silu_of_one = out[0];
    for (size_t i = 0; i < out.size(); i++)
      EXPECT_FLOAT_EQ(out[i], scale[i / 4 * 2 + i % 2] * silu_of_one) << backend << ", " << i;
  }
}

}  // namespace
