// SPDX-License-Identifier: MIT
// tests/cuda/row_statistics_test.cpp: layer_norm and softmax against the catalogue's references.
#include <gtest/gtest.h>

#include <cmath>

#include "op_case.h"

namespace nrd::cuda {
namespace {

class RowStatistics : public TargetTest {};
NRD_ON_EVERY_TARGET(RowStatistics);

OpCase rows_of(const char* op, int64_t rows, int64_t cols, const std::string& dtypes) {
  return {.op = op, .sizes = {{"rows", rows}, {"cols", cols}}, .dtypes = dtypes};
}

TEST_P(RowStatistics, AnySize) {
  for (const char* op : {"softmax", "layer_norm"})
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      for (int64_t cols : {1, 7, 8, 64, 100, 769, 1024, 2880})
        EXPECT_TRUE(is_right(target(), rows_of(op, 3, cols, dtype)));
      for (int64_t rows : {0, 1, 5}) {
        EXPECT_TRUE(is_right(target(), rows_of(op, rows, 64, dtype)));
        EXPECT_TRUE(is_right(target(), rows_of(op, rows, 0, dtype)));
      }
      EXPECT_TRUE(is_right(target(), rows_of(op, 1, 16384, dtype)));
    }
  EXPECT_TRUE(is_right(target(), rows_of("softmax", 1, 50000, "bf16")));
}

TEST_P(RowStatistics, MixedDtypesAndCasts) {
  for (const char* dtypes : {"bf16,f32,f32->bf16", "f16,bf16,f32->f32", "f32,bf16,bf16->bf16"})
    for (const char* cast : {"after_weight", "before_weight"}) {
      OpCase c = rows_of("layer_norm", 3, 256, dtypes);
      c.attributes["cast"] = cast;
      EXPECT_TRUE(is_right(target(), c));
    }
  for (const char* dtype : {"f16", "bf16"}) {
    OpCase c = rows_of("layer_norm", 3, 256, dtype);
    c.attributes["cast"] = "before_weight";
    EXPECT_TRUE(is_right(target(), c));
  }
  for (const char* dtypes : {"bf16->f32", "f32->f16"})
    EXPECT_TRUE(is_right(target(), rows_of("softmax", 3, 256, dtypes)));
}

TEST_P(RowStatistics, LayoutDoesNotMatter) {
  for (const char* op : {"softmax", "layer_norm"})
    for (const char* dtype : {"f32", "bf16"}) {
      const OpCase plain = rows_of(op, 5, 328, dtype);
      for (const Layout& layout :
           {Layout{.misalignment = 4}, Layout{.row_padding = 1}, Layout{.row_padding = 8},
            Layout{.step = 2}, Layout{.transposed = true}}) {
        OpCase c = plain;
        c.layouts["x"] = layout;
        EXPECT_TRUE(gives_same_bits(target(), plain, c));
        c.layouts["out"] = layout;
        EXPECT_TRUE(gives_same_bits(target(), plain, c));
      }
      OpCase c = plain;
      c.in_place = "x";
      EXPECT_TRUE(gives_same_bits(target(), plain, c));
      c.layouts["x"] = c.layouts["out"] = {.row_padding = 1};
      EXPECT_TRUE(gives_same_bits(target(), plain, c));
    }
}

TEST_P(RowStatistics, SpecialValues) {
  for (const char* op : {"softmax", "layer_norm"})
    for (Distribution d : {Distribution::kSpecial, Distribution::kOutliers, Distribution::kWide})
      for (const char* dtype : {"f32", "f16", "bf16"}) {
        OpCase c = rows_of(op, 5, 256, dtype);
        c.distribution = d;
        EXPECT_TRUE(is_right(target(), c));
      }
  OpCase c = rows_of("softmax", 2, 16, "f32");
  c.values["x"] = std::vector<double>(32, -INFINITY);
  c.values["x"][20] = 0;
  const Expected<OpRun> run = run_op(target(), c);
  ASSERT_TRUE(run) << run.error().message();
  const std::vector<double> out = output_values(*run, "out");
  for (size_t i = 0; i < 16; i++) EXPECT_TRUE(std::isnan(out[i]));
  for (size_t i = 16; i < 32; i++) EXPECT_EQ(out[i], i == 20 ? 1.0 : 0.0);
}

TEST_P(RowStatistics, OrderOfThreadsDoesNotMatter) {
  EXPECT_TRUE(is_right_in_any_order(target(), rows_of("softmax", 3, 2000, "bf16"), 3));
  EXPECT_TRUE(is_right_in_any_order(target(), rows_of("layer_norm", 2, 769, "f16"), 3));
}

}  // namespace
}  // namespace nrd::cuda
