// SPDX-License-Identifier: MIT
// tests/cuda/norm_rope_test.cpp: norms and rotary embedding against the catalogue's references,
// with every option, in every layout.
#include <gtest/gtest.h>

#include <cmath>

#include "base/convert.h"
#include "op_case.h"

namespace nrd::cuda {
namespace {

class NormRope : public TargetTest {};
NRD_ON_EVERY_TARGET(NormRope);

OpCase norm(int64_t rows, int64_t cols, const std::string& dtypes) {
  return {.op = "rms_norm", .sizes = {{"rows", rows}, {"cols", cols}}, .dtypes = dtypes};
}

OpCase fused(int64_t batch, int64_t seq, int64_t hidden, int64_t head_dim,
             const std::string& dtypes = "bf16") {
  return {.op = "rmsnorm_rope",
          .sizes = {{"batch", batch}, {"seq", seq}, {"hidden", hidden}, {"head_dim", head_dim}},
          .dtypes = dtypes};
}

OpCase with_positions(OpCase c, int64_t table) {
  c.sizes["table"] = table;
  c.optional.push_back("positions");
  return c;
}

TEST_P(NormRope, AnyNumberOfColumns) {
  for (const char* dtype : {"f32", "f16", "bf16"})
    for (int64_t cols : {1, 7, 8, 64, 100, 769, 1024, 2880})
      EXPECT_TRUE(is_right(target(), norm(3, cols, dtype)));
  EXPECT_TRUE(is_right(target(), norm(1, 16384, "bf16")));
  EXPECT_TRUE(is_right(target(), norm(1, 40000, "f32")));  // more slots than the tree has
}

TEST_P(NormRope, AnyNumberOfRows) {
  for (int64_t rows : {0, 1, 2, 5, 9}) {
    EXPECT_TRUE(is_right(target(), norm(rows, 64, "bf16")));
    EXPECT_TRUE(is_right(target(), norm(rows, 0, "bf16")));
    EXPECT_TRUE(is_right(target(), fused(rows, 3, 128, 64)));
    EXPECT_TRUE(is_right(target(), fused(2, rows, 128, 64)));
  }
}

TEST_P(NormRope, CastsAndMixedDtypes) {
  for (const char* dtypes :
       {"bf16", "f16", "f32", "bf16,f32->bf16", "f16,f32->f16", "bf16,f16->f32", "f32,bf16->f16"})
    for (const char* cast : {"after_weight", "before_weight"}) {
      OpCase c = norm(3, 256, dtypes);
      c.attributes["cast"] = cast;
      EXPECT_TRUE(is_right(target(), c));
    }
}

TEST_P(NormRope, ResidualIsAdded) {
  for (const char* dtypes :
       {"bf16", "f16", "f32", "bf16,bf16,f32->bf16,bf16", "bf16,f32,bf16->bf16,f32"})
    for (int64_t cols : {24, 2880, 769})
      for (const char* cast : {"after_weight", "before_weight"}) {
        OpCase c{.op = "add_rms_norm",
                 .sizes = {{"rows", 3}, {"cols", cols}},
                 .dtypes = dtypes,
                 .attributes = {{"cast", cast}}};
        EXPECT_TRUE(is_right(target(), c));
      }
  OpCase c{.op = "add_rms_norm", .sizes = {{"rows", 3}, {"cols", 256}}, .dtypes = "bf16"};
  for (const char* input : {"x", "residual"}) {
    c.in_place = input;
    EXPECT_TRUE(is_right(target(), c));
  }
}

TEST_P(NormRope, RopeOfHeads) {
  for (const char* pairs : {"half", "interleaved"})
    for (const char* dtypes : {"bf16", "f32", "bf16,f32,f32->bf16", "f16,bf16,bf16->f32"})
      for (int64_t head_dim : {2, 6, 24, 64, 80, 128}) {
        OpCase c{.op = "rope",
                 .sizes = {{"tokens", 3}, {"heads", 5}, {"head_dim", head_dim}},
                 .dtypes = dtypes,
                 .attributes = {{"pairs", pairs}}};
        EXPECT_TRUE(is_right(target(), c));
        c.in_place = "x";
        if (c.dtypes.find("->f32") == std::string::npos) {
          EXPECT_TRUE(is_right(target(), c));
        }
        c.in_place = "";
        c.op = "rope_with_pos";
        c.sizes["table"] = 17;
        if (c.dtypes.find(',') != std::string::npos) continue;
        EXPECT_TRUE(is_right(target(), c));
      }
}

TEST_P(NormRope, HeadsAndHiddenSizes) {
  for (int64_t head_dim : {64, 80, 96, 128, 256})
    for (int64_t heads : {1, 3, 8}) {
      EXPECT_TRUE(is_right(target(), fused(1, 3, head_dim * heads, head_dim)));
      EXPECT_TRUE(is_right(target(), fused(1, 3, head_dim * heads, head_dim, "f32")));
    }
  for (int64_t hidden : {2048, 2880, 4096})
    EXPECT_TRUE(is_right(target(), fused(1, 2, hidden, 64)));
  for (int64_t head_dim : {2, 10, 36, 72, 100})
    EXPECT_TRUE(is_right(target(), fused(1, 2, head_dim * 6, head_dim)));
  EXPECT_TRUE(is_right(target(), fused(1, 1, 4096, 2048)));
}

TEST_P(NormRope, EveryOption) {
  for (const char* dtypes : {"bf16", "f16", "f32"})
    for (const char* pairs : {"half", "interleaved"})
      for (const char* cast : {"after_weight", "before_weight"})
        for (const char* between : {"no", "yes"})
          for (int given = 0; given < 4; given++) {
            OpCase c = fused(2, 3, 256, 64, dtypes);
            c.attributes = {{"pairs", pairs}, {"cast", cast}, {"round_between", between}};
            if (given & 1) c = with_positions(c, 11);
            if (given & 2) c.optional.push_back("residual");
            EXPECT_TRUE(is_right(target(), c));
          }
}

TEST_P(NormRope, WideWeightsAndTables) {
  for (const char* dtypes :
       {"bf16,f32,bf16,bf16->bf16", "bf16,bf16,f32,f32->bf16", "f16,f32,f32,f32->f16",
        "bf16,bf16,bf16,f32->bf16", "f16,f16,f16,f16->f32"})
    for (const char* cast : {"after_weight", "before_weight"}) {
      OpCase c = fused(2, 3, 256, 64, dtypes);
      c.attributes["cast"] = cast;
      EXPECT_TRUE(is_right(target(), c));
    }
}

// All that may lie in memory in another way gives the same bits.
TEST_P(NormRope, LayoutDoesNotMatter) {
  for (const char* dtypes : {"bf16", "f16", "f32"})
    for (int64_t hidden : {320, 2880}) {
      const OpCase plain = with_positions(fused(2, 3, hidden, 64, dtypes), 9);
      EXPECT_TRUE(is_right(target(), plain));
      for (const char* name : {"x", "weight", "cos", "sin", "out"}) {
        OpCase c = plain;
        c.layouts[name] = {.misalignment = c.dtypes == "f32" ? 4u : 2u};
        EXPECT_TRUE(gives_same_bits(target(), plain, c)) << name;
        c.layouts[name] = {.row_padding = 8};
        EXPECT_TRUE(gives_same_bits(target(), plain, c)) << name;
        c.layouts[name] = {.step = 3};
        EXPECT_TRUE(gives_same_bits(target(), plain, c)) << name;
      }
      OpCase c = plain;
      c.in_place = "x";
      EXPECT_TRUE(gives_same_bits(target(), plain, c));
      c.in_place = "";
      c.batch_invariant = true;
      EXPECT_TRUE(gives_same_bits(target(), plain, c));
    }
  OpCase c = norm(5, 264, "bf16"), padded = c;
  padded.layouts["x"] = {.row_padding = 3};
  EXPECT_TRUE(gives_same_bits(target(), c, padded));
  padded.layouts["x"] = {.transposed = true};
  EXPECT_TRUE(gives_same_bits(target(), c, padded));
}

TEST_P(NormRope, OrderOfThreadsDoesNotMatter) {
  OpCase c = fused(1, 3, 4096, 128);
  c.optional = {"residual", "scale"};
  EXPECT_TRUE(is_right_in_any_order(target(), c, 3));
  EXPECT_TRUE(is_right_in_any_order(target(), norm(2, 769, "f16"), 3));
}

// Codes as the quantised f32 values of the reference, one step beside them near a boundary alone.
TEST_P(NormRope, CodesAreExact) {
  for (const char* word : {"f8e4m3", "f8e5m2"})
    for (bool residual : {false, true})
      for (const char* cast : {"after_weight", "before_weight"}) {
        OpCase c = fused(2, 3, 2880, 64);
        c.attributes["cast"] = cast;
        const OpCase plain = [&] {
          OpCase p = c;
          p.dtypes = residual ? "bf16,bf16,bf16,bf16,bf16->f32,bf16" : "bf16,bf16,bf16,bf16->f32";
          if (residual) p.optional = {"residual"};
          return p;
        }();
        c.dtypes = (residual ? "bf16,bf16,bf16,bf16,bf16->" : "bf16,bf16,bf16,bf16->") +
                   std::string(word) + (residual ? ",bf16,f32" : ",f32");
        c.optional = {"scale"};
        if (residual) c.optional.push_back("residual");
        EXPECT_TRUE(is_right(target(), c));
        const Expected<OpRun> codes = run_op(target(), c), wide = run_op(target(), plain);
        ASSERT_TRUE(codes) << codes.error().message();
        ASSERT_TRUE(wide) << wide.error().message();
        const auto q = output_values(*codes, "out"), scale = output_values(*codes, "scale");
        const auto y = output_values(*wide, "out");
        const DType dtype = *parse_dtype(word);
        for (size_t row = 0; row < scale.size(); row++) {
          float top = 0;
          for (size_t i = 0; i < 2880; i++)
            top = std::max(top, static_cast<float>(std::fabs(y[row * 2880 + i])));
          EXPECT_EQ(scale[row], top / static_cast<float>(info(dtype).max));
          for (size_t i = row * 2880; i < (row + 1) * 2880; i++) {
            const double low =
                round_through(y[i] / scale[row] * (1 - 1e-5), dtype, Overflow::kSaturate);
            const double high =
                round_through(y[i] / scale[row] * (1 + 1e-5), dtype, Overflow::kSaturate);
            ASSERT_TRUE(q[i] == low || q[i] == high) << i << ": " << q[i] << " of " << y[i];
          }
        }
      }
}

TEST_P(NormRope, CodesOfRowsThatAreZeroOrTiny) {
  for (double value : {0.0, 1e-38}) {
    OpCase c = fused(1, 2, 128, 64);
    c.dtypes = "bf16,bf16,bf16,bf16->f8e4m3,f32";
    c.optional = {"scale"};
    c.attributes["eps"] = 1.0;
    c.values["x"] = std::vector<double>(256, value);
    EXPECT_TRUE(run_op(target(), c));
    const Expected<OpRun> run = run_op(target(), c);
    ASSERT_TRUE(run);
    const double scale = output_values(*run, "scale")[0];
    EXPECT_EQ(scale == 1.0, value == 0.0) << scale;
    for (double q : output_values(*run, "out")) EXPECT_LE(std::fabs(q), 448.0);
  }
  OpCase empty = fused(1, 2, 0, 64);
  empty.dtypes = "bf16,bf16,bf16,bf16->f8e4m3,f32";
  empty.optional = {"scale"};
  EXPECT_TRUE(is_right(target(), empty));
}

TEST_P(NormRope, SpecialValues) {
  for (Distribution d : {Distribution::kSpecial, Distribution::kOutliers})
    for (const char* dtypes : {"bf16", "f16", "f32"}) {
      OpCase c = fused(2, 3, 256, 64, dtypes);
      c.distribution = d;
      EXPECT_TRUE(is_right(target(), c));
      c = norm(4, 100, dtypes);
      c.distribution = d;
      EXPECT_TRUE(is_right(target(), c));
    }
}

// A position outside of the table: NaN, and nothing is read outside.
TEST_P(NormRope, WrongPositionsGiveNan) {
  OpCase c = with_positions(fused(1, 3, 128, 64), 5);
  c.values["positions"] = {1, 5, -1};
  const Expected<OpRun> run = run_op(target(), c);
  ASSERT_TRUE(run) << run.error().message();
  const std::vector<double> out = output_values(*run, "out");
  for (size_t i = 0; i < out.size(); i++) EXPECT_EQ(std::isnan(out[i]), i >= 128) << i;
}

TEST_P(NormRope, LeadingAxes) {
  OpCase c = fused(2, 3, 128, 64);
  c.layouts["x"] = {.strides = {4096, 256, 1}};
  EXPECT_TRUE(gives_same_bits(target(), fused(2, 3, 128, 64), c));
  c.layouts["x"] = {.strides = {4096, 259, 1}};
  EXPECT_TRUE(gives_same_bits(target(), fused(2, 3, 128, 64), c));
}

}  // namespace
}  // namespace nrd::cuda
