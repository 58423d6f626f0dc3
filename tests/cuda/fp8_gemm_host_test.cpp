// SPDX-License-Identifier: MIT
// tests/cuda/fp8_gemm_host_test.cpp: fp8_gemm of the catalogue in all its variants and layouts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "op_case.h"
#include "tests/seed.h"

namespace nrd::cuda {
namespace {

const char* const kScales[] = {"tensor", "row_column", "block"};

struct Form {
  std::string scales = "row_column";
  std::string a = "f8e4m3", b = "f8e4m3", c = "f32";
  std::string bias = {};  // its dtype, if there is one
  std::string accumulate = "precise";
};

OpCase gemm_case(int64_t m, int64_t n, int64_t k, const Form& form) {
  OpCase c{.op = "fp8_gemm", .sizes = {{"m", m}, {"n", n}, {"k", k}}};
  c.attributes = {{"scales", form.scales}, {"accumulate", form.accumulate}};
  c.dtypes = form.a + "," + form.b;
  if (form.a == "f8e4m3") c.dtypes += ",f32";
  if (form.b == "f8e4m3") c.dtypes += ",f32";
  if (!form.bias.empty()) {
    c.dtypes += "," + form.bias;
    c.optional = {"bias"};
  }
  c.dtypes += "->" + form.c;
  return c;
}

class Fp8Gemm : public TargetTest {};

TEST_P(Fp8Gemm, TakesEveryVariant) {
  for (const char* scales : kScales)
    for (const char* a : {"f8e4m3", "bf16"})
      for (const char* b : {"f8e4m3", "bf16"})
        for (const char* bias : {"", "f32"})
          EXPECT_TRUE(is_right(
              target(), gemm_case(37, 140, 208, {.scales = scales, .a = a, .b = b, .bias = bias})));
}

TEST_P(Fp8Gemm, TakesEveryDtype) {
  const std::vector<std::string> floats = {"f32", "f16", "bf16"};
  for (size_t i = 0; i < 3; i++)
    EXPECT_TRUE(is_right(target(), gemm_case(5, 48, 160,
                                             {.a = floats[i],
                                              .b = floats[(i + 1) % 3],
                                              .c = floats[(i + 2) % 3],
                                              .bias = floats[i],
                                              .accumulate = i ? "precise" : "fast"})));
  for (const char* side : {"a", "b"}) {
    OpCase c = gemm_case(5, 48, 160, {});
    c.dtypes =
        side == std::string("a") ? "f8e5m2,f8e4m3,f32,f32->f32" : "f8e4m3,f8e5m2,f32,f32->f32";
    EXPECT_TRUE(is_refused(target(), c, "f8e5m2"));
  }
}

TEST_P(Fp8Gemm, TakesAnySize) {
  for (int64_t size : {0, 1, 7, 129}) {
    EXPECT_TRUE(is_right(target(), gemm_case(size, 24, 48, {})));
    EXPECT_TRUE(is_right(target(), gemm_case(20, size, 48, {.scales = "block"})));
    for (const char* scales : kScales)
      for (const char* b : {"f8e4m3", "bf16"})
        EXPECT_TRUE(is_right(
            target(),
            gemm_case(18, 24, size, {.scales = scales, .a = "bf16", .b = b, .bias = "f16"})));
  }
}

// Wherever operands lie, the result has the same bits.
TEST_P(Fp8Gemm, ReadsAndWritesAnyLayout) {
  for (const char* dtype : {"f8e4m3", "bf16"}) {
    for (const char* scales : {"row_column", "block"}) {
      const OpCase plain =
          gemm_case(35, 50, 160, {.scales = scales, .a = dtype, .b = dtype, .c = "bf16"});
      std::map<std::string, std::vector<Layout>> layouts;
      layouts["a"] = {{.transposed = true}, {.row_padding = 3}, {.misalignment = 2}, {.step = 2}};
      layouts["b"] = {{.strides = {50, 1}},
                      {.strides = {53, 1}},
                      {.strides = {1, 171}},
                      {.misalignment = 2},
                      {.strides = {2, 400}}};
      layouts["c"] = {{.transposed = true}, {.row_padding = 1}, {.misalignment = 2}, {.step = 3}};
      for (const auto& [name, list] : layouts) {
        for (const Layout& layout : list) {
          OpCase c = plain;
          c.layouts[name] = layout;
          EXPECT_TRUE(gives_same_bits(target(), plain, c));
        }
      }
    }
  }
  OpCase scattered = gemm_case(35, 50, 160, {.scales = "block", .bias = "f32"});
  const OpCase plain = scattered;
  scattered.layouts["a_scale"] = {.transposed = true};
  scattered.layouts["b_scale"] = {.step = 2};
  scattered.layouts["bias"] = {.step = 5};
  EXPECT_TRUE(gives_same_bits(target(), plain, scattered));
}

TEST_P(Fp8Gemm, RowsDoNotChangeBitsWhereAsked) {
  const auto values = [&](int64_t m) {
    OpCase c = gemm_case(m, 40, 640, {.scales = "tensor"});
    c.batch_invariant = true;
    c.values["a"].assign(static_cast<size_t>(m * 640), 0);
    for (size_t i = 0; i < c.values["a"].size(); i++)
      c.values["a"][i] = std::sin(static_cast<double>(i)) * 100;
    const Expected<OpRun> run = run_op(target(), c);
    EXPECT_TRUE(run) << run.error().message();
    return run ? output_values(*run, "c") : std::vector<double>();
  };
  const std::vector<double> few = values(2), many = values(70);
  ASSERT_FALSE(few.empty() || many.empty());
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

// A product of scales may lie beyond f32 where what is scaled does not: sums of 0 stay 0, and small
// scales of one side undo large ones of the other.
TEST_P(Fp8Gemm, ScalesDoNotLeaveTheRangeOfF32) {
  for (const char* scales : kScales)
    for (int64_t m : {3, 70})
      for (const char* bias : {"", "f32"}) {
        const int64_t n = 40, k = 160;
        OpCase c = gemm_case(m, n, k, {.scales = scales, .bias = bias});
        const auto fill = [&](const char* name, int64_t count, double value) {
          c.values[name].assign(static_cast<size_t>(count),
                                static_cast<double>(static_cast<float>(value)));
        };
        const bool is_block = scales == std::string("block"),
                   is_one = scales == std::string("tensor");
        const int64_t of_a = is_one     ? 1
                             : is_block ? 2 * m
                                        : m,
                      of_b = is_one     ? 1
                             : is_block ? 2
                                        : n;
        fill("a", m * k, 0), fill("b", k * n, 1);
        fill("a_scale", of_a, 1e30), fill("b_scale", of_b, 1e30);
        if (*bias) fill("bias", n, 0.5);
        Expected<OpRun> run = run_op(target(), c);
        ASSERT_TRUE(run) << run.error().message();
        for (double x : output_values(*run, "c")) ASSERT_EQ(x, *bias ? 0.5 : 0) << c.text();
        fill("a", m * k, 1);
        fill("a_scale", of_a, 1e30), fill("b_scale", of_b, 1e-31);
        run = run_op(target(), c);
        ASSERT_TRUE(run) << run.error().message();
        for (double x : output_values(*run, "c"))
          ASSERT_NEAR(x, 16 + (*bias ? 0.5 : 0), 1e-4) << c.text();
      }
}

// Codes that lie as the kernels read them take no workspace, wherever they begin.
TEST_P(Fp8Gemm, ReservesNoCopiesThatNoCallNeeds) {
  for (size_t misalignment : {0, 2}) {
    OpCase c = gemm_case(70, 96, 256, {});
    c.batch_invariant = true;  // nor parts of sums
    c.layouts["a"].misalignment = c.layouts["b"].misalignment = misalignment;
    const Expected<OpRun> run = run_op(target(), c);
    ASSERT_TRUE(run) << run.error().message();
    EXPECT_EQ(run->workspace_bytes, 0u);
  }
}

// ---- how good the results are ----

using Matrix = std::vector<double>;

// c[m,n] of a[m,k] and b[k,n].
Matrix product(const Matrix& a, const Matrix& b, int64_t m, int64_t n, int64_t k) {
  Matrix c(static_cast<size_t>(m * n), 0);
  for (int64_t i = 0; i < m; i++)
    for (int64_t l = 0; l < k; l++)
      for (int64_t j = 0; j < n; j++)
        c[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return c;
}

struct Difference {
  double root_mean_square = 0, largest = 0, relative = 0;  // relative: L2
};
Difference difference(const Matrix& got, const Matrix& want) {
  Difference d;
  double errors = 0, squares = 0;
  for (size_t i = 0; i < want.size(); i++) {
    errors += (got[i] - want[i]) * (got[i] - want[i]);
    squares += want[i] * want[i];
    d.largest = std::max(d.largest, std::fabs(want[i]));
  }
  d.root_mean_square = std::sqrt(errors / static_cast<double>(want.size()));
  d.relative = std::sqrt(errors / squares);
  return d;
}

TEST_P(Fp8Gemm, EqualsTheProductOfItsCodes) {
  const int64_t m = 24, n = 40, k = 1024;
  for (const char* accumulate : {"precise", "fast"}) {
    OpCase c = gemm_case(m, n, k, {.accumulate = accumulate});
    std::mt19937_64 random(test_seed(3));
    std::normal_distribution<double> normal(0.5);
    const auto codes = [&](int64_t count) {
      Matrix values;
      // What e4m3 holds exactly: up to 15 quarters.
      for (int64_t i = 0; i < count; i++) {
        const double x = std::round(normal(random) * 4);
        values.push_back(std::min(15.0, std::max(-15.0, x)) / 4);
      }
      return values;
    };
    c.values["a"] = codes(m * k);
    c.values["b"] = codes(k * n);
    c.values["a_scale"] = Matrix(static_cast<size_t>(m), 0.25);
    c.values["b_scale"] = Matrix(static_cast<size_t>(n), 3);
    const Expected<OpRun> run = run_op(target(), c);
    ASSERT_TRUE(run) << run.error().message();
    Matrix want = product(c.values["a"], c.values["b"], m, n, k);
    for (double& x : want) x *= 0.75;
    EXPECT_LE(difference(output_values(*run, "c"), want).relative,
              accumulate == std::string("fast") ? 2e-2 : 1e-3);
  }
}

double draw_weight(const std::string& kind, int64_t channel, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 0.02);
  if (kind == "laplace") {
    const double u = std::uniform_real_distribution<double>(-0.5, 0.5)(random);
    return -0.02 * std::copysign(std::log1p(-2 * std::fabs(u)), u);
  }
  return normal(random) * (kind == "outliers" && channel % 64 == 5 ? 20 : 1);
}

// The error is some 3.7 % of the result's standard deviation (the limit of e4m3), and it is
// measured against the largest value: a matter of how many values there are. Four standard
// deviations want about 20000; of a few hundred the largest is nearer and the ratio above 1 %.
TEST_P(Fp8Gemm, StaysWithinOnePercentOfF16) {
  const int64_t m = 128, n = 160, k = 256;
  for (const char* weights : {"normal", "laplace", "outliers"}) {
    for (const char* scales : kScales) {
      OpCase c = gemm_case(m, n, k, {.scales = scales, .a = "f16", .b = "f16"});
      std::mt19937_64 random(11);  // always the same: how large the largest of 20480 is varies
      std::normal_distribution<double> normal;
      for (int64_t i = 0; i < m * k; i++) c.values["a"].push_back(normal(random));
      for (int64_t i = 0; i < k * n; i++)
        c.values["b"].push_back(draw_weight(weights, i / n, random));
      const Expected<OpRun> run = run_op(target(), c);
      ASSERT_TRUE(run) << run.error().message();
      const Difference d =
          difference(output_values(*run, "c"), product(c.values["a"], c.values["b"], m, n, k));
      EXPECT_LE(d.root_mean_square, 0.01 * d.largest)
          << weights << " " << scales << ": relative L2 " << d.relative;
      RecordProperty(std::string(weights) + "_" + scales, std::to_string(d.relative));
    }
  }
}

NRD_ON_EVERY_TARGET(Fp8Gemm);

}  // namespace
}  // namespace nrd::cuda
