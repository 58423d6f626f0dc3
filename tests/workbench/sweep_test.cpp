// SPDX-License-Identifier: MIT
// tests/workbench/sweep_test.cpp: drawing cases, and what a sweep makes of known rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/seed.h"
#include "workbench/sweep_draw.h"
#include "workbench/sweep_summary.h"

namespace nrd {
namespace {

SweepSpace space_of(const std::string& op, uint64_t seed) {
  SweepSpace space;
  space.ops = {*find_op(op)};
  space.base.seed = seed;
  return space;
}

std::vector<CaseSpec> drawn(const SweepSpace& space, size_t count) {
  Expected<std::vector<CaseSpec>> cases = draw_cases(space, count);
  EXPECT_TRUE(cases) << (cases ? "" : cases.error().message());
  return cases ? *cases : std::vector<CaseSpec>{};
}

std::vector<std::string> texts(const std::vector<CaseSpec>& cases) {
  std::vector<std::string> found;
  for (const CaseSpec& spec : cases) found.push_back(make_case(spec)->text());
  return found;
}

TEST(SweepDraw, ASeedGivesTheSameCasesAndAnotherOneOthers) {
  const uint64_t seed = test_seed(0);
  const std::vector<std::string> first = texts(drawn(space_of("gemm", seed), 40));
  EXPECT_EQ(first.size(), 40u);
  EXPECT_EQ(first, texts(drawn(space_of("gemm", seed), 40)));
  EXPECT_NE(first, texts(drawn(space_of("gemm", seed + 1), 40)));
  // A longer sweep begins with the shorter one.
  std::vector<std::string> longer = texts(drawn(space_of("gemm", seed), 60));
  longer.resize(40);
  EXPECT_EQ(first, longer);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 40u);
}

// Every operator: all that is drawn binds, stays in the budget, and can be asked for again by the
// words of the command line.
TEST(SweepDraw, EveryOperatorHasCasesWithinTheBudget) {
  const uint64_t seed = test_seed(0);
  for (const Op& op : catalogue()) {
    const SweepSpace space = space_of(op.name, seed);
    const std::vector<CaseSpec> cases = drawn(space, 12);
    EXPECT_GE(cases.size(), 8u) << op.name;
    for (const CaseSpec& spec : cases) {
      Expected<Case> c = make_case(spec);
      ASSERT_TRUE(c) << op.name;
      EXPECT_LE(cost(c->desc).flops, space.most_flops) << c->text();
      for (size_t i = 0; i < c->desc.operands.size(); i++) {
        double bytes = static_cast<double>(byte_size(c->desc.operands[i].dtype));
        for (int d = 0; d < c->desc.operands[i].sizes.size(); d++)
          bytes *= static_cast<double>(c->desc.operands[i].sizes[d]);
        EXPECT_LE(bytes, space.most_bytes) << c->text();
      }
      const std::string command = bench_command(spec, {"cpu"});
      for (const auto& [key, size] : spec.request.sizes)
        EXPECT_NE(command.find(key + "=" + std::to_string(size)), std::string::npos) << command;
    }
  }
}

TEST(SweepDraw, BoundsAreKept) {
  SweepSpace space = space_of("gemm", test_seed(0));
  space.sizes = *parse_ranges("m=1..8;n=512..1000;k=64,4096");
  space.threads = {3};
  space.dtypes = {"bf16"};
  for (const CaseSpec& spec : drawn(space, 60)) {
    const auto& sizes = spec.request.sizes;
    EXPECT_GE(sizes.at("m"), 1);
    EXPECT_LE(sizes.at("m"), 8);
    EXPECT_GE(sizes.at("n"), 512);
    EXPECT_LE(sizes.at("n"), 1000);
    EXPECT_TRUE(sizes.at("k") == 64 || sizes.at("k") == 4096);
    EXPECT_EQ(spec.threads, 3);
    EXPECT_EQ(spec.request.dtypes, "bf16");
  }
  // What is even, or follows from another axis, stays so.
  SweepSpace heads = space_of("rmsnorm_rope", test_seed(0));
  heads.sizes = *parse_ranges("hidden=2048..4096;head_dim=64..128");
  for (const CaseSpec& spec : drawn(heads, 30)) {
    EXPECT_EQ(spec.request.sizes.at("hidden") % spec.request.sizes.at("head_dim"), 0);
    EXPECT_GE(spec.request.sizes.at("hidden"), 2048);
    EXPECT_LE(spec.request.sizes.at("hidden"), 4096);
  }
}

TEST(SweepDraw, EveryKindOccurs) {
  SweepSpace space = space_of("gemm", test_seed(0));
  space.threads = {1, 2};
  std::set<std::string> dtypes;
  std::set<int> threads;
  size_t odd = 0, sixteenths = 0, models = 0, kn = 0, padded = 0, small = 0, large = 0;
  for (const CaseSpec& spec : drawn(space, 300)) {
    const int64_t n = spec.request.sizes.at("n");
    odd += n % 2 == 1;
    sixteenths += n % 16 == 0;
    models += n == 768 || n == 2880 || n == 4096 || n == 11008 || n == 14336;
    small += n < 32;
    large += n > 1024;
    kn += spec.b_kn;
    padded += spec.pad > 0;
    dtypes.insert(make_case(spec)->desc.dtype_text());
    threads.insert(spec.threads);
  }
  // Each is expected in a tenth of them or more, but for models' five sizes and padding.
  for (size_t count : {odd, sixteenths, kn, small, large}) EXPECT_GT(count, 15u);
  EXPECT_GT(models, 1u);
  EXPECT_GT(padded, 5u);
  EXPECT_GE(dtypes.size(), 5u);
  EXPECT_TRUE(dtypes.contains("bf16") && dtypes.contains("f32"));
  EXPECT_EQ(threads.size(), 2u);
  // Options and optional operands.
  std::set<std::string> options;
  for (const CaseSpec& spec : drawn(space_of("rmsnorm_rope", test_seed(0)), 100))
    options.insert(make_case(spec)->options_text());
  auto occurs = [&](const char* word) {
    return std::any_of(options.begin(), options.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
  };
  for (const char* word : {"pairs=interleaved", "cast=before_weight", "+residual", "+positions"})
    EXPECT_TRUE(occurs(word)) << word;
}

TEST(SweepDraw, SizesOfEachKind) {
  for (uint64_t i = 0; i < 1000; i++) {
    const uint64_t bits = i * 0x9e3779b97f4a7c15ull;
    EXPECT_EQ(draw_size(SizeKind::kOdd, bits, 1, 4095, false) % 2, 1);
    EXPECT_EQ(draw_size(SizeKind::kMultiple, bits, 128, 4096, false) % 8, 0);
    for (SizeKind kind : {SizeKind::kAny, SizeKind::kOdd, SizeKind::kMultiple, SizeKind::kModel}) {
      const int64_t size = draw_size(kind, bits, 5, 70, false);
      EXPECT_TRUE(size >= 5 && size <= 70) << size;
      EXPECT_EQ(draw_size(kind, bits, 2, 256, true) % 2, 0);
      EXPECT_EQ(draw_size(kind, bits, 9, 9, false), 9);
      EXPECT_EQ(draw_size(kind, bits, 0, 0, false), 0);
    }
  }
}

TEST(SweepDraw, WhatFitsNothingIsSaid) {
  SweepSpace space = space_of("gemm", 1);
  space.sizes = *parse_ranges("m=4096;n=4096;k=4096");
  Expected<std::vector<CaseSpec>> cases = draw_cases(space, 3);
  ASSERT_FALSE(cases);
  EXPECT_NE(cases.error().message().find("--most-gflop"), std::string::npos);
  // A space that is soon exhausted ends the drawing.
  SweepSpace tiny = space_of("relu", 1);
  tiny.sizes = *parse_ranges("n=4");
  tiny.dtypes = {"f32"};
  EXPECT_EQ(drawn(tiny, 100000).size(), 1u);
  for (const char* text : {"n=", "n=5..2", "=3", "n=1;n=2", "4", "n=x", "n=1..2..3"})
    EXPECT_FALSE(parse_ranges(text)) << text;
}

TEST(SweepDraw, ACommandSaysTheWholeCase) {
  CaseSpec spec;
  spec.op = "gemm";
  spec.request.sizes = {{"m", 1}, {"n", 2}, {"k", 3}};
  spec.request.dtypes = "bf16,f32->bf16";
  spec.b_kn = true;
  spec.pad = 8;
  spec.threads = 2;
  spec.seed = 77;
  EXPECT_EQ(bench_command(spec, {"cpu", "mkl"}),
            "nereid bench gemm --shape 'k=3;m=1;n=2' --dtype 'bf16,f32->bf16' --opt b=kn,pad=8 "
            "--cache warm --threads 2 --seed 77 --backend cpu,mkl");
}

// --- the summary -------------------------------------------------------------------------------

Row measured(const std::string& shape, const std::string& backend, double us) {
  Row row;
  row.op = "gemm";
  row.shape = shape;
  row.dtype = "f32";
  row.backend = backend;
  row.outcome = Outcome::kPass;
  row.median_us = us;
  row.slices_us = {us};
  row.percent_of_roofline = 50;
  row.bound = "compute";
  return row;
}

RatioRow ratio(const Row& ours, const std::string& against, double median) {
  return {case_text(ours), ours.backend, against, {median, median, median}};
}

struct Known {
  std::vector<Row> rows;
  std::vector<RatioRow> ratios;
};

// Ten cases beside two peers, of which `fast` gives 0.1 to 1.0; then special ones.
Known known_rows() {
  Known known;
  for (int i = 1; i <= 10; i++) {
    const std::string shape = "n=" + std::to_string(i);
    known.rows.push_back(measured(shape, "cpu", 10));
    known.ratios.push_back(ratio(known.rows.back(), "slow", 3));
    known.ratios.push_back(ratio(known.rows.back(), "fast", i / 10.0));
    known.rows.push_back(measured(shape, "fast", i));
    known.rows.push_back(measured(shape, "slow", 30));
  }
  return known;
}

TEST(SweepSummary, TheBestPeerCounts) {
  const Known known = known_rows();
  const std::vector<SweepPoint> points = sweep_points(known.rows, known.ratios, "cpu", {});
  ASSERT_EQ(points.size(), 10u);
  for (const SweepPoint& point : points) EXPECT_EQ(point.against, "fast");
  const Spread spread = spread_of(select(points, false));
  EXPECT_EQ(spread.count, 10u);
  EXPECT_EQ(spread.not_slower, 1u);  // the one that is level
  EXPECT_DOUBLE_EQ(spread.worst, 0.1);
  EXPECT_DOUBLE_EQ(spread.p10, 0.19);
  EXPECT_DOUBLE_EQ(spread.median, 0.55);
  EXPECT_DOUBLE_EQ(spread.best, 1);
  EXPECT_NEAR(spread.geometric_mean, 0.4529, 1e-4);
  const std::vector<SweepPoint> slowest = worst(points, 3);
  ASSERT_EQ(slowest.size(), 3u);
  EXPECT_EQ(slowest.front().row.shape, "n=1");
  EXPECT_EQ(ratio_text(slowest.front()), "0.10x fast");
  EXPECT_NE(spread_table(points).find("beside the best peer"), std::string::npos);
}

TEST(SweepSummary, WhoIsWrongIsNoMeasure) {
  Known known = known_rows();
  for (Row& row : known.rows)
    if (row.backend == "fast" && row.shape == "n=1") row.outcome = Outcome::kFail;
  std::vector<SweepPoint> points = sweep_points(known.rows, known.ratios, "cpu", {});
  EXPECT_EQ(points.front().against, "slow");
  // Nor is our own wrong result a point.
  known.rows.front().outcome = Outcome::kFail;
  points = sweep_points(known.rows, known.ratios, "cpu", {});
  EXPECT_EQ(points.size(), 9u);
  EXPECT_EQ(points.front().row.shape, "n=2");
}

TEST(SweepSummary, WithoutAPeerARoofCounts) {
  std::vector<Row> rows = {measured("n=1", "cuda", 10), measured("n=2", "cuda", 10),
                           measured("n=3", "cuda", 10), measured("n=4", "cuda", 10)};
  for (const char* shape : {"n=1", "n=2"}) rows.push_back(measured(shape, "copy", 8));
  rows.push_back(measured("n=2", "cublaslt", 12));
  rows[3].bound = "latency";
  const std::vector<RatioRow> ratios = {ratio(rows[0], "copy", 0.8), ratio(rows[1], "copy", 0.8),
                                        ratio(rows[1], "cublaslt", 1.2)};
  const std::vector<SweepPoint> points = sweep_points(rows, ratios, "cuda", {"copy"});
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(ratio_text(points[0]), "80% of a copy");
  EXPECT_EQ(ratio_text(points[1]), "1.20x cublaslt");  // a peer comes before a roof
  EXPECT_EQ(ratio_text(points[2]), "50% of the roofline");
  EXPECT_EQ(select(points, false).size(), 1u);
  EXPECT_EQ(select(points, true).size(), 2u);  // the last is too short for a roofline
}

TEST(SweepSummary, MeansOfPairedRatios) {
  std::vector<Row> rows;
  for (int i = 1; i <= 3; i++) {
    const std::string shape = "n=" + std::to_string(i);
    rows.push_back(measured(shape, "cpu", 10));
    rows.push_back(measured(shape, "mkl", i == 3 ? 1000 : 10.0 * i * i));
    rows.push_back(measured(shape, "scalar", 80));
  }
  rows[7].flags = {kOverNominal};  // mkl's third: counts in no mean
  rows[2].outcome = Outcome::kFail;
  const std::vector<MeanRatio> means = mean_ratios(rows, "cpu");
  ASSERT_EQ(means.size(), 2u);
  EXPECT_EQ(means[0].against, "mkl");
  EXPECT_EQ(means[0].cases, 2u);
  EXPECT_DOUBLE_EQ(means[0].mean, 2);  // of 1 and 4
  EXPECT_EQ(means[1].cases, 2u);
  EXPECT_DOUBLE_EQ(means[1].mean, 8);
  EXPECT_TRUE(mean_ratios(rows, "cuda").empty());
}

TEST(SweepSummary, NothingIsNoSpread) {
  EXPECT_EQ(spread_of({}).count, 0u);
  EXPECT_EQ(spread_table({}), "");
  EXPECT_TRUE(sweep_points({}, {}, "cpu", {}).empty());
}

}  // namespace
}  // namespace nrd
