// SPDX-License-Identifier: MIT
// tests/workbench/case_test.cpp: the language of shapes and options, and the data of a case.
#include "workbench/case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/convert.h"
#include "workbench/data.h"

namespace nrd {
namespace {

TEST(Shapes, ListsAndRangesMultiplyOut) {
  auto shapes = parse_shapes("m=1,16,64;n=1024..8192:*2;k=4096");
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->size(), 3u * 4u);
  EXPECT_EQ(shapes->front().at("m"), 1);
  EXPECT_EQ(shapes->back().at("n"), 8192);
  EXPECT_EQ(parse_shapes("n=10..30:+10")->size(), 3u);
  EXPECT_EQ(parse_shapes("rows=2,cols=3")->front().at("cols"), 3);
  EXPECT_EQ(parse_shapes("n=0")->front().at("n"), 0);
}

TEST(Shapes, MistakesAreNamed) {
  for (const char* text : {"m", "m=", "m=x", "m=-1", "m=1..", "m=8..1", "m=1..8:2", "m=1..8:*1",
                           "m=1,m=2", "m=99999999999999999999", "=4", "m=0..8:*2"})
    EXPECT_FALSE(parse_shapes(text)) << text;
}

TEST(Options, AttributesOperandsAndLayout) {
  CaseSpec s;
  ASSERT_TRUE(apply_options(s, "cast=before_weight,eps=1e-6,+bias,b=kn"));
  EXPECT_EQ(std::get<std::string>(s.request.attributes.at("cast")), "before_weight");
  EXPECT_EQ(s.request.optional, std::vector<std::string>{"bias"});
  EXPECT_TRUE(s.b_kn);
  EXPECT_FALSE(apply_options(s, "b=xy"));
  EXPECT_FALSE(apply_options(s, "eps"));
}

TEST(Cases, SurviveTheProtocol) {
  CaseSpec s;
  s.op = "gemm";
  s.request.sizes = {{"m", 3}, {"n", 5}, {"k", 7}};
  s.request.dtypes = "bf16,f32->bf16";
  s.b_kn = true;
  s.threads = 2;
  s.cache = CacheState::kCold;
  s.distribution = Distribution::kOutliers;
  s.seed = 99;
  const CaseSpec back = case_spec_from_json(nlohmann::json::parse(to_json(s).dump()));
  EXPECT_EQ(make_case(back)->text(), make_case(s)->text());
  EXPECT_EQ(back.seed, s.seed);
  EXPECT_EQ(back.distribution, s.distribution);
}

TEST(Cases, OnADeviceSurviveTheProtocol) {
  CaseSpec s;
  s.op = "silu";
  s.request.sizes["n"] = 64;
  s.device = {DeviceKind::kCuda, 1};
  s.cache = CacheState::kCold;
  s.regime = Regime::kGapped;
  s.distribution = Distribution::kFull;
  const CaseSpec back = case_spec_from_json(nlohmann::json::parse(to_json(s).dump()));
  EXPECT_EQ(back.device, s.device);
  EXPECT_EQ(back.regime, Regime::kGapped);
  EXPECT_EQ(back.distribution, Distribution::kFull);
  const Expected<Case> c = make_case(back);
  ASSERT_TRUE(c) << c.error().message();
  EXPECT_EQ(c->text(), "silu n=64 f32 cuda:1 cold gapped");
  EXPECT_TRUE(c->on_device());
  EXPECT_EQ(c->desc.device, s.device);
}

TEST(Cases, RegimesBelongToDevices) {
  CaseSpec s;
  s.op = "silu";
  s.request.sizes["n"] = 64;
  s.regime = Regime::kGapped;
  EXPECT_FALSE(make_case(s));
  s.regime = Regime::kEager;
  s.device = {DeviceKind::kCuda, 0};
  EXPECT_FALSE(make_case(s));
  EXPECT_EQ(*parse_regime("back_to_back"), Regime::kBackToBack);
  EXPECT_FALSE(parse_regime("often"));
  EXPECT_EQ(*parse_distribution("full"), Distribution::kFull);
  EXPECT_FALSE(parse_distribution("odd"));
}

TEST(Data, FillsAnEightBitFormat) {
  CaseSpec s;
  s.op = "fp8_gemm";
  s.request.sizes = {{"m", 64}, {"n", 64}, {"k", 256}};
  s.request.dtypes = "bf16";
  s.distribution = Distribution::kFull;
  const Case c = *make_case(s);
  std::vector<uint8_t> a(64 * 256);
  fill_operand(c, 0, a.data());
  std::vector<double> values(a.size());
  convert(a.data(), DType::kF8E4M3, values.data(), DType::kF64, values.size());
  double largest = 0, squares = 0;
  for (double v : values) largest = std::max(largest, std::fabs(v)), squares += v * v;
  EXPECT_GT(largest, 256);
  EXPECT_LE(largest, 448);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.size())), 448 / 5.5, 2);
}

TEST(Data, IsTheSameForEveryThreadCount) {
  CaseSpec s;
  s.op = "silu";
  s.request.sizes["n"] = 100000;
  const Case c = *make_case(s);
  std::vector<float> one(100000), four(100000);
  fill_operand(c, 0, one.data());
  fill_operand(c, 0, four.data(), 4);
  EXPECT_EQ(one, four);
}

TEST(Cases, ProductsStoreTheirWeightKContiguous) {
  CaseSpec s;
  s.op = "gemm";
  s.request.sizes = {{"m", 3}, {"n", 5}, {"k", 7}};
  EXPECT_EQ(make_case(s)->desc.operands[1].strides, (Dims{1, 7}));
  s.b_kn = true;
  EXPECT_EQ(make_case(s)->desc.operands[1].strides, (Dims{5, 1}));
}

TEST(Data, DoesNotDependOnTheLayout) {
  CaseSpec s;
  s.op = "gemm";
  s.request.sizes = {{"m", 2}, {"n", 5}, {"k", 7}};
  const Case nk = *make_case(s);
  s.b_kn = true;
  const Case kn = *make_case(s);
  std::vector<float> a(35), b(35);
  fill_operand(nk, 1, a.data());
  fill_operand(kn, 1, b.data());
  for (size_t k = 0; k < 7; k++)
    for (size_t n = 0; n < 5; n++) EXPECT_EQ(a[n * 7 + k], b[k * 5 + n]);
  EXPECT_EQ(b[11], static_cast<float>(element_value(kn, 1, 11)));
}

// The same numbers, rows further apart; and the option survives the way to a worker.
TEST(Data, PaddedRowsHoldTheSameNumbers) {
  CaseSpec s;
  s.op = "gemm";
  s.request.sizes = {{"m", 2}, {"n", 5}, {"k", 7}};
  const Case dense = *make_case(s);
  ASSERT_TRUE(apply_options(s, "pad=3"));
  const Case padded = *make_case(case_spec_from_json(to_json(s)));
  EXPECT_EQ(padded.options_text(), "pad=3");
  std::vector<float> a(14), wide(20), b(35), wide_b(50);
  fill_operand(dense, 0, a.data());
  fill_operand(padded, 0, wide.data());
  fill_operand(dense, 1, b.data());
  fill_operand(padded, 1, wide_b.data());
  for (size_t k = 0; k < 7; k++) {
    for (size_t m = 0; m < 2; m++) EXPECT_EQ(a[m * 7 + k], wide[m * 10 + k]);
    for (size_t n = 0; n < 5; n++) EXPECT_EQ(b[n * 7 + k], wide_b[n * 10 + k]);
  }
  EXPECT_FALSE(apply_options(s, "pad=x"));
  s.op = "relu";
  s.request.sizes = {{"n", 4}};
  EXPECT_FALSE(make_case(s)) << "there are no rows";
}

TEST(Data, IndicesStayInsideTheirTable) {
  CaseSpec s;
  s.op = "embedding";
  s.request.sizes = {{"vocab", 5}, {"dim", 3}, {"tokens", 200}};
  Expected<Case> c = make_case(s);
  ASSERT_TRUE(c) << c.error().message();
  std::vector<int32_t> ids(200);
  fill_operand(*c, 1, ids.data());
  for (int32_t id : ids) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 5);
  }
}

}  // namespace
}  // namespace nrd
