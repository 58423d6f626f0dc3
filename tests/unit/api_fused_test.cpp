// SPDX-License-Identifier: MIT
// tests/unit/api_fused_test.cpp: packed products, the fused functions and FP8 of the C++ API.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "nereid/nereid.h"
#include "tests/seed.h"

namespace {

using nereid::Tensor;
using nereid::TensorView;

std::vector<float> normal(size_t n, unsigned seed = 1) {
  std::mt19937 random(nrd::test_seed(seed));
  std::normal_distribution<float> distribution;
  std::vector<float> v(n);
  for (float& x : v) x = distribution(random);
  return v;
}

Tensor as(const TensorView& x, nereid::DType dtype) {
  Tensor to(dtype, x.sizes());
  nereid::cast(x, to);
  return to;
}

void expect_near(const Tensor& got, const std::vector<float>& expected, float tolerance) {
  const Tensor values = as(got, nereid::f32);
  ASSERT_EQ(static_cast<size_t>(values.count()), expected.size());
  for (size_t i = 0; i < expected.size(); i++)
    ASSERT_NEAR(values.data<float>()[i], expected[i],
                tolerance * std::max(1.0f, std::abs(expected[i])))
        << i;
}

// The distance between the codes around x.
double unit_at(double x, nereid::DType format) {
  const bool is_e5m2 = format == nereid::f8e5m2;
  const int exponent = std::max(x == 0 ? -1000 : std::ilogb(x), is_e5m2 ? -14 : -6);
  return std::ldexp(1.0, exponent - (is_e5m2 ? 2 : 3));
}

// Each element lies within half a unit of what was quantised, and no scale is larger than its
// elements need. `off`: how far the quantised value may have been from x, beside the largest; the
// quotient and the product with the scale are rounded to f32 in any case.
void expect_within_half_a_unit(const Tensor& q, const Tensor& scale, const std::vector<float>& x,
                               double off = 0) {
  const Tensor back = nereid::dequantize_fp8(q, scale), ones(q.dtype(), q.sizes());
  const bool is_e5m2 = q.dtype() == nereid::f8e5m2;
  std::memset(ones.data<char>(), is_e5m2 ? 0x3c : 0x38, static_cast<size_t>(ones.count()));
  const Tensor scales = nereid::dequantize_fp8(ones, scale);  // of each element
  ASSERT_EQ(static_cast<size_t>(back.count()), x.size());
  std::map<float, double> largest;  // of what shares a scale
  for (size_t i = 0; i < x.size(); i++) {
    double& most = largest[scales.data<float>()[i]];
    most = std::max(most, std::abs(static_cast<double>(x[i])));
  }
  for (const auto& [s, most] : largest)
    EXPECT_NEAR(most / (is_e5m2 ? 57344 : 448) / s, 1, 0x1p-22 + off);
  for (size_t i = 0; i < x.size(); i++) {
    const double s = scales.data<float>()[i], given = x[i];
    const double bound =
        0.5 * unit_at(given / s, q.dtype()) * s + 0x1p-22 * std::abs(given) + off * largest[s];
    ASSERT_NEAR(back.data<float>()[i], given, bound) << i << ", scale " << s;
  }
}

TEST(Packed, EqualsGemm) {
  const std::vector<float> a = normal(5 * 19), w = normal(7 * 19, 2);
  std::vector<float> plain(5 * 7), packed(5 * 7);
  const TensorView av(a, {5, 19}), b = TensorView(w, {7, 19}).t();
  nereid::gemm(av, b, TensorView(plain, {5, 7}));
  const nereid::PackedMatrix p = nereid::pack_b(b);
  EXPECT_EQ(p.k(), 19);
  EXPECT_EQ(p.n(), 7);
  nereid::gemm(av, p, TensorView(packed, {5, 7}));
  EXPECT_EQ(plain, packed);
}

TEST(Packed, Epilogue) {
  const std::vector<float> a = normal(3 * 8), b = normal(8 * 6, 2), bias = normal(6, 3);
  const std::vector<float> residual = normal(3 * 6, 4);
  const nereid::PackedMatrix p = nereid::pack_b(TensorView(b, {8, 6}));
  std::vector<float> expected(18);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 6; j++) {
      float v = bias[j];
      for (int k = 0; k < 8; k++) v += a[i * 8 + k] * b[k * 6 + j];
      expected[i * 6 + j] = std::max(v, 0.0f) + residual[i * 6 + j];
    }
  const Tensor c(nereid::f32, {3, 6});
  nereid::gemm(TensorView(a, {3, 8}), p, c,
               {.bias = bias, .activation = "relu", .residual = TensorView(residual, {3, 6})});
  expect_near(c, expected, 1e-5f);

  // bf16, and the residual is c itself: rounded once at the end.
  const Tensor half = as(TensorView(residual, {3, 6}), nereid::bf16);
  const Tensor start = as(half, nereid::f32);
  for (size_t i = 0; i < 18; i++) expected[i] += start.data<float>()[i] - residual[i];
  nereid::gemm(TensorView(a, {3, 8}), p, half,
               {.bias = bias, .activation = "relu", .residual = half});
  expect_near(half, expected, 0.04f);
}

TEST(Packed, Integers) {
  const std::vector<int8_t> a = {1, -2, 3, 4}, b = {1, 2, 3, -4};
  std::vector<int32_t> c(4);
  const nereid::PackedMatrix p = nereid::pack_b(TensorView(b, {2, 2}));
  nereid::gemm(TensorView(a, {2, 2}), p, TensorView(c, {2, 2}));
  EXPECT_EQ(c, (std::vector<int32_t>{-5, 10, 15, -10}));
}

TEST(Packed, Refusals) {
  const std::vector<float> a(8), b(8), bias(3);
  std::vector<float> c(4);
  const nereid::PackedMatrix p = nereid::pack_b(TensorView(b, {4, 2}));
  const TensorView av(a, {2, 4}), cv(c, {2, 2});
  EXPECT_THROW(nereid::gemm(av, p, cv, {.bias = bias}), nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::gemm(av, p, cv, {.activation = "softmax"}), nereid::KernelError);
  EXPECT_THROW(nereid::gemm(TensorView(a, {4, 2}), p, cv), nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::pack_b(b), nereid::ShapeMismatchError);
  const nereid::Context other({.isa = "baseline"});
  if (std::string(p.info().isa) != "baseline") {
    EXPECT_THROW(nereid::gemm(av, p, cv, {.context = &other}), nereid::KernelError);
  }
}

struct RopeCase {
  static constexpr int64_t kBatch = 2, kSeq = 5, kHeads = 3, kDim = 8, kHidden = kHeads * kDim;
  std::vector<float> x = normal(kBatch * kSeq * kHidden), weight = normal(kHidden, 2);
  nereid::RopeTable table = make_table();

  static nereid::RopeTable make_table() {
    std::vector<int32_t> positions(kSeq);
    std::iota(positions.begin(), positions.end(), 0);
    return nereid::rope_table(positions, kDim);
  }
  TensorView view() const { return TensorView(x, {kBatch, kSeq, kHidden}); }

  std::vector<float> expected(const std::vector<float>& input) const {
    std::vector<float> y(input.size());
    for (int64_t row = 0; row < kBatch * kSeq; row++) {
      const float* in = &input[row * kHidden];
      double squares = 0;
      for (int64_t i = 0; i < kHidden; i++) squares += in[i] * in[i];
      const double scale = 1 / std::sqrt(squares / kHidden + 1e-6);
      for (int64_t i = 0; i < kHidden; i++) {
        const int64_t d = i % kDim, head = i - d, half = kDim / 2;
        const int64_t pair = head + (d < half ? d + half : d - half);
        const int64_t at = row % kSeq * kDim + d;
        const double own = in[i] * scale * weight[i], other = in[pair] * scale * weight[pair];
        y[row * kHidden + i] =
            static_cast<float>(own * table.cos.data<float>()[at] +
                               (d < half ? -other : other) * table.sin.data<float>()[at]);
      }
    }
    return y;
  }
};

TEST(Fused, RmsnormRopeEqualsItsSteps) {
  const RopeCase c;
  const auto plain = nereid::fused_rmsnorm_rope(c.view(), c.weight, c.table.cos, c.table.sin);
  expect_near(plain.out, c.expected(c.x), 1e-5f);
  EXPECT_FALSE(plain.sum);

  const std::vector<float> residual = normal(c.x.size(), 5);
  std::vector<float> sum(c.x.size());
  for (size_t i = 0; i < sum.size(); i++) sum[i] = c.x[i] + residual[i];
  const auto added =
      nereid::fused_rmsnorm_rope(c.view(), c.weight, c.table.cos, c.table.sin,
                                 {.residual = TensorView(residual, {c.kBatch, c.kSeq, c.kHidden})});
  expect_near(added.out, c.expected(sum), 1e-5f);
  expect_near(added.sum, sum, 1e-6f);
}

TEST(Fused, RmsnormRopeTakesTablesInAllForms) {
  const RopeCase c;
  const std::vector<float> expected = c.expected(c.x);
  const TensorView cos = c.table.cos, sin = c.table.sin;
  const auto four = nereid::fused_rmsnorm_rope(
      c.view(), c.weight, cos.reshape({1, c.kSeq, 1, c.kDim}), sin.reshape({1, c.kSeq, 1, c.kDim}));
  expect_near(four.out, expected, 1e-5f);
  const auto halves =
      nereid::fused_rmsnorm_rope(c.view(), c.weight, cos.slice(1, 0, c.kDim / 2),
                                 sin.slice(1, 0, c.kDim / 2), {.num_heads = c.kHeads});
  expect_near(halves.out, expected, 1e-5f);
  std::vector<int32_t> positions(c.kSeq);
  std::iota(positions.begin(), positions.end(), 0);
  const auto gathered =
      nereid::fused_rmsnorm_rope(c.view(), c.weight, cos, sin, {.positions = positions});
  expect_near(gathered.out, expected, 1e-5f);
  positions[1] = 99;
  EXPECT_THROW(nereid::fused_rmsnorm_rope(c.view(), c.weight, cos, sin, {.positions = positions}),
               nereid::KernelError);
}

TEST(Fused, RmsnormRopeQuantises) {
  const RopeCase c;
  const auto q = nereid::fused_rmsnorm_rope(c.view(), c.weight, c.table.cos, c.table.sin,
                                            {.out_dtype = nereid::f8e4m3});
  ASSERT_TRUE(q.scale);
  EXPECT_EQ(q.scale.count(), c.kBatch * c.kSeq);
  expect_within_half_a_unit(q.out, q.scale, c.expected(c.x), 4e-6);
}

TEST(Fused, RmsnormRopeValidates) {
  const RopeCase c;
  const auto& [cos, sin] = c.table;
  nereid::validate_rmsnorm_rope_inputs(c.view(), c.weight, cos, sin);
  EXPECT_THROW(nereid::validate_rmsnorm_rope_inputs(c.view(), c.weight, cos, sin, {.num_heads = 2}),
               nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::validate_rmsnorm_rope_inputs(c.view(), normal(7), cos, sin),
               nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::validate_rmsnorm_rope_inputs(c.view(), std::vector<int32_t>(24), cos, sin),
               nereid::UnsupportedDtypeError);
}

TEST(Fused, GatedMlp) {
  const std::vector<float> x = normal(2 * 6), gate = normal(4 * 6, 2), up = normal(4 * 6, 3);
  auto expected = [&](bool llama) {
    std::vector<float> y;
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 4; j++) {
        double g = 0, u = 0;
        for (int k = 0; k < 6; k++) g += x[i * 6 + k] * gate[j * 6 + k];
        for (int k = 0; k < 6; k++) u += x[i * 6 + k] * up[j * 6 + k];
        const double active = llama ? g : u;
        y.push_back(static_cast<float>(g * u / (1 + std::exp(-active))));
      }
    return y;
  };
  const TensorView xv(x, {2, 6}), gv(gate, {4, 6}), uv(up, {4, 6});
  expect_near(nereid::fused_gated_mlp(xv, gv, uv), expected(false), 1e-5f);
  expect_near(nereid::fused_gated_mlp(xv, gv, uv, {.activate = "gate"}), expected(true), 1e-5f);

  std::vector<float> joint;  // rows alternate gate, up
  for (int j = 0; j < 4; j++) {
    joint.insert(joint.end(), gate.begin() + j * 6, gate.begin() + j * 6 + 6);
    joint.insert(joint.end(), up.begin() + j * 6, up.begin() + j * 6 + 6);
  }
  expect_near(nereid::fused_gated_mlp(xv, TensorView(joint, {8, 6}), {}), expected(false), 1e-5f);
  nereid::validate_gated_mlp_inputs(xv, gv, uv);
  EXPECT_THROW(nereid::validate_gated_mlp_inputs(xv, gv, uv, {.activation = "elu"}),
               nereid::KernelError);
  EXPECT_THROW(nereid::fused_gated_mlp(xv, gv, TensorView(up, {6, 4})), nereid::ShapeMismatchError);
}

TEST(Fp8, RoundTripStaysWithinHalfAUnit) {
  std::vector<float> x = normal(6 * 300);
  for (size_t i = 0; i < x.size(); i += 7) x[i] *= 1e-3f;  // subnormal codes, too
  const TensorView xv(x, {6, 300});
  for (const auto& options :
       std::vector<nereid::QuantizeFp8Options>{{},
                                               {.axis = -1},
                                               {.axis = 0},
                                               {.block = {1, 128}},
                                               {.block = {128, 128}},
                                               {.axis = -1, .format = nereid::f8e5m2}}) {
    const auto q = nereid::quantize_fp8(xv, options);
    expect_within_half_a_unit(q.q, q.scale, x);
  }
}

TEST(Fp8, GivenScalesOverflowAsAsked) {
  const std::vector<float> x = {1000, -2, 3, 4};
  const float one = 1;
  const TensorView scale(&one, {});
  const auto adjusted = nereid::quantize_fp8(x, {.scale = scale});
  EXPECT_FLOAT_EQ(adjusted.scale.data<float>()[0], 1000.0f / 448);
  const auto saturated = nereid::quantize_fp8(x, {.scale = scale, .overflow = "saturate"});
  expect_near(nereid::dequantize_fp8(saturated.q, saturated.scale), {448, -2, 3, 4}, 0);
  try {
    nereid::quantize_fp8(x, {.scale = scale, .overflow = "raise"});
    FAIL();
  } catch (const nereid::NumericalOverflowError& e) {
    EXPECT_NE(std::string(e.what()).find("2.23214 is needed"), std::string::npos) << e.what();
  }
  const float large = 4;
  nereid::quantize_fp8(x, {.scale = TensorView(&large, {}), .overflow = "raise"});
  EXPECT_THROW(nereid::quantize_fp8(x, {.overflow = "wrap"}), nereid::KernelError);
}

TEST(Fp8, GemmEqualsTheProductOfItsDequantisedInputs) {
  const std::vector<float> a = normal(4 * 200), w = normal(5 * 200, 2), bias = normal(5, 3);
  const TensorView av(a, {4, 200}), b = TensorView(w, {5, 200}).t();
  const auto qa = nereid::quantize_fp8(av, {.axis = -1});
  const auto qb = nereid::quantize_fp8(b, {.axis = 0});
  const Tensor wide_a = nereid::dequantize_fp8(qa.q, qa.scale, nereid::f32, {.axis = -1});
  const Tensor wide_b = nereid::dequantize_fp8(qb.q, qb.scale, nereid::f32, {.axis = 0});
  std::vector<float> expected(20);
  nereid::gemm_bias(wide_a, wide_b, bias, TensorView(expected, {4, 5}));
  const Tensor given = nereid::fp8_gemm(
      qa.q, qb.q,
      {.a_scale = qa.scale, .b_scale = qb.scale, .out_dtype = nereid::f32, .bias = bias});
  expect_near(given, expected, 1e-4f);
  const Tensor here = nereid::fp8_gemm(av, b, {.bias = bias, .scales = "row_column"});
  EXPECT_EQ(here.dtype(), nereid::f32);
  expect_near(here, expected, 1e-4f);
  EXPECT_EQ(nereid::fp8_gemm(qa.q, qb.q).dtype(), nereid::bf16);  // scales of 1
  EXPECT_THROW(nereid::validate_fp8_gemm_inputs(av, av), nereid::ShapeMismatchError);
}

}  // namespace
