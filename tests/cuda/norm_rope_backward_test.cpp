// SPDX-License-Identifier: MIT
// tests/cuda/norm_rope_backward_test.cpp: gradients of rmsnorm_rope against the catalogue's
// reference and against differences of the forward operator.
#include <gtest/gtest.h>

#include <cmath>

#include "op_case.h"

namespace nrd::cuda {
namespace {

class NormRopeBackward : public TargetTest {};
NRD_ON_EVERY_TARGET(NormRopeBackward);

OpCase backward(int64_t batch, int64_t seq, int64_t hidden, int64_t head_dim,
                const std::string& dtypes = "bf16") {
  return {.op = "rmsnorm_rope_backward",
          .sizes = {{"batch", batch}, {"seq", seq}, {"hidden", hidden}, {"head_dim", head_dim}},
          .dtypes = dtypes};
}

TEST_P(NormRopeBackward, AnySize) {
  for (const char* dtypes : {"bf16", "f16", "f32"}) {
    for (int64_t seq : {0, 1, 3})
      EXPECT_TRUE(is_right(target(), backward(2, seq, 128, 64, dtypes)));
    for (int64_t head_dim : {64, 80, 128})
      EXPECT_TRUE(is_right(target(), backward(1, 2, head_dim * 3, head_dim, dtypes)));
    for (int64_t head_dim : {6, 24})
      EXPECT_TRUE(is_right(target(), backward(1, 2, head_dim * 3, head_dim, dtypes)));
  }
  EXPECT_TRUE(is_right(target(), backward(1, 2, 2880, 64)));
  EXPECT_TRUE(is_right(target(), backward(0, 2, 128, 64)));
  EXPECT_TRUE(is_right(target(), backward(1, 2, 0, 64)));
}

TEST_P(NormRopeBackward, PairsPositionsAndDtypes) {
  for (const char* pairs : {"half", "interleaved"})
    for (const char* dtypes :
         {"bf16", "f32", "bf16,bf16,bf16,bf16,bf16->bf16,f32", "bf16,f32,f32,f32,bf16->bf16,f32"})
      for (bool positions : {false, true}) {
        OpCase c = backward(2, 3, 256, 64, dtypes);
        c.attributes["pairs"] = pairs;
        if (positions) {
          c.sizes["table"] = 9;
          c.optional = {"positions"};
          if (std::string(dtypes).find(',') != std::string::npos) continue;
        }
        EXPECT_TRUE(is_right(target(), c));
      }
}

// More rows than blocks: each block adds several.
TEST_P(NormRopeBackward, ManyRows) {
  EXPECT_TRUE(is_right(target(), backward(1, 1100, 64, 64, "f32")));
  EXPECT_TRUE(is_right(target(), backward(3, 400, 64, 64)));
}

TEST_P(NormRopeBackward, LayoutDoesNotMatter) {
  for (const char* dtypes : {"bf16", "f32"}) {
    const OpCase plain = backward(2, 3, 320, 64, dtypes);
    for (const char* name : {"x", "weight", "cos", "dy", "dx", "dw"}) {
      OpCase c = plain;
      c.layouts[name] = {.misalignment = 4};
      EXPECT_TRUE(gives_same_bits(target(), plain, c)) << name;
      c.layouts[name] = {.step = 3};
      EXPECT_TRUE(gives_same_bits(target(), plain, c)) << name;
    }
    OpCase c = plain;
    for (const char* input : {"x", "dy"}) {
      c.in_place = input;
      EXPECT_TRUE(gives_same_bits(target(), plain, c)) << input;
    }
  }
}

TEST_P(NormRopeBackward, OrderOfThreadsDoesNotMatter) {
  EXPECT_TRUE(is_right_in_any_order(target(), backward(1, 4, 2048, 64), 3));
}

// The gradients are those of the forward operator: along a direction, the difference of sum(y * dy)
// is the product of the direction and the gradient.
TEST_P(NormRopeBackward, AgreesWithDifferences) {
  for (const char* pairs : {"half", "interleaved"}) {
    OpCase c = backward(1, 2, 128, 64, "f32");
    c.attributes["pairs"] = pairs;
    auto some = [](size_t count, double phase) {
      std::vector<double> v;
      for (size_t i = 0; i < count; i++)
        v.push_back(static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i))));
      return v;
    };
    c.values = {{"x", some(256, 0)},
                {"weight", some(128, 1)},
                {"cos", some(128, 2)},
                {"sin", some(128, 3)},
                {"dy", some(256, 4)}};
    const Expected<OpRun> run = run_op(target(), c);
    ASSERT_TRUE(run) << run.error().message();
    auto value = [&](const char* name, const std::vector<double>& input) {
      OpCase forward = c;
      forward.op = "rmsnorm_rope";
      forward.values.erase("dy");
      forward.values[name] = input;
      const Expected<OpRun> y = run_op(target(), forward);
      EXPECT_TRUE(y);
      double sum = 0;
      const std::vector<double> out = output_values(*y, "out");
      for (size_t i = 0; i < out.size(); i++) sum += out[i] * c.values["dy"][i];
      return sum;
    };
    for (const auto& [name, gradient] : {std::pair{"x", "dx"}, std::pair{"weight", "dw"}}) {
      const std::vector<double> at = c.values[name], along = some(at.size(), 5);
      const std::vector<double> g = output_values(*run, gradient);
      double expected = 0;
      std::vector<double> above = at, below = at;
      constexpr double kStep = 1.0 / 64;
      for (size_t i = 0; i < at.size(); i++) {
        expected += along[i] * g[i];
        above[i] += kStep * along[i];
        below[i] -= kStep * along[i];
      }
      const double difference = (value(name, above) - value(name, below)) / (2 * kStep);
      EXPECT_NEAR(difference, expected, 2e-3 * std::max(1.0, std::fabs(expected))) << name;
    }
  }
}

}  // namespace
}  // namespace nrd::cuda
