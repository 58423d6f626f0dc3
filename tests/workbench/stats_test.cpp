// SPDX-License-Identifier: MIT
// tests/workbench/stats_test.cpp: percentiles, ratios and their verdicts.
#include "workbench/stats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nrd {
namespace {

TEST(Stats, PercentilesInterpolate) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.9), 3);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({0, 10}, 0.1), 1);
}

TEST(Stats, PairedRatioFollowsTheSlices) {
  // Both drift by a factor of two; the ratio stays 2 in every slice.
  std::vector<double> ours = {1, 2, 1, 2, 1.5}, theirs = {2, 4, 2, 4, 3};
  Ratio r = paired_ratio(ours, theirs);
  EXPECT_DOUBLE_EQ(r.median, 2);
  EXPECT_DOUBLE_EQ(r.low, 2);
  EXPECT_DOUBLE_EQ(r.high, 2);
  EXPECT_TRUE(not_slower(r));
  EXPECT_FALSE(not_slower(paired_ratio(theirs, ours)));
}

TEST(Stats, AFileAgainstItselfIsTheSame) {
  std::vector<double> noisy = {10, 11, 9, 10.5, 30, 9.5, 10.2, 9.9, 10.1, 10.8};
  Ratio r = unpaired_ratio(noisy, noisy);
  EXPECT_EQ(judge_change(r, 0.03), "same");
}

TEST(Stats, ChangesAreNamed) {
  EXPECT_EQ(judge_change({1.5, 1.4, 1.6}, 0.03), "faster");
  EXPECT_EQ(judge_change({0.7, 0.6, 0.8}, 0.03), "slower");
  EXPECT_EQ(judge_change({1.0, 0.99, 1.01}, 0.03), "same");
  EXPECT_EQ(judge_change({1.2, 0.8, 1.4}, 0.03), "unclear");
}

TEST(Stats, GeometricMean) {
  const double values[] = {2, 8};
  EXPECT_DOUBLE_EQ(geometric_mean(values), 4);
}

}  // namespace
}  // namespace nrd
