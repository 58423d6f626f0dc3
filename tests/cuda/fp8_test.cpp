// SPDX-License-Identifier: MIT
// tests/cuda/fp8_test.cpp: fp8_quantize and fp8_dequantize against the catalogue, code by code.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "definition.h"

namespace nrd::cuda {
namespace {

const char* const kGranularities[] = {"tensor", "row", "column", "block_1x128", "block_128x128"};
const char* const kFormats[] = {"f8e4m3", "f8e5m2"};
const char* const kFloats[] = {"f32", "f16", "bf16"};

OpCase quantize_case(const std::string& granularity, int64_t rows, int64_t cols,
                     const std::string& from = "bf16", const std::string& to = "f8e4m3") {
  OpCase c{.op = "fp8_quantize",
           .sizes = {{"rows", rows}, {"cols", cols}},
           .dtypes = from + "->" + to + ",f32"};
  c.attributes["granularity"] = granularity;
  return c;
}

OpCase dequantize_case(const std::string& granularity, int64_t rows, int64_t cols,
                       const std::string& from = "f8e4m3", const std::string& to = "bf16") {
  OpCase c{.op = "fp8_dequantize",
           .sizes = {{"rows", rows}, {"cols", cols}},
           .dtypes = from + ",f32->" + to};
  c.attributes["granularity"] = granularity;
  return c;
}

// With given scales: some too small for the data, some too large.
OpCase given_case(const std::string& granularity, const std::string& overflow, int64_t rows,
                  int64_t cols) {
  OpCase c = quantize_case(granularity, rows, cols);
  c.dtypes = "bf16,f32->f8e4m3,f32";
  c.optional = {"scale_in"};
  c.attributes["overflow"] = overflow;
  const int64_t blocks = (cols + 127) / 128, down = (rows + 127) / 128;
  const int64_t count = granularity == "tensor"        ? 1
                        : granularity == "row"         ? rows
                        : granularity == "column"      ? cols
                        : granularity == "block_1x128" ? rows * blocks
                                                       : down * blocks;
  for (int64_t i = 0; i < count; i++)
    c.values["scale_in"].push_back(static_cast<double>(
        static_cast<float>(0.003 * std::pow(1.7, static_cast<double>(i % 9) - 4))));
  return c;
}

class Fp8 : public TargetTest {};
NRD_ON_EVERY_TARGET(Fp8);

TEST_P(Fp8, CodesAreExactForEveryGranularityFormatAndDtype) {
  for (const char* granularity : kGranularities)
    for (const char* format : kFormats)
      for (const char* dtype : kFloats) {
        EXPECT_TRUE(is_right(target(), quantize_case(granularity, 130, 264, dtype, format)));
        EXPECT_TRUE(is_right(target(), quantize_case(granularity, 37, 131, dtype, format)));
      }
}

TEST_P(Fp8, AnySizeWorks) {
  const std::pair<int64_t, int64_t> sizes[] = {{0, 0}, {0, 5},   {5, 0},   {1, 1},   {1, 127},
                                               {3, 8}, {129, 1}, {2, 769}, {1, 2880}};
  for (const char* granularity : kGranularities)
    for (auto [rows, cols] : sizes) {
      EXPECT_TRUE(is_right(target(), quantize_case(granularity, rows, cols)));
      EXPECT_TRUE(is_right(target(), dequantize_case(granularity, rows, cols)));
    }
}

TEST_P(Fp8, RowsOfEveryLength) {
  for (int64_t cols : {8, 256, 1024, 2048, 2880, 4096, 8192, 16384, 40960, 65544})
    EXPECT_TRUE(is_right(target(), quantize_case("row", 3, cols)));
  EXPECT_TRUE(is_right(target(), quantize_case("row", 300, 512)));
  EXPECT_TRUE(is_right(target(), quantize_case("row", 3, 12288, "f32")));
}

TEST_P(Fp8, TensorsOnChipAndInTwoPasses) {
  EXPECT_TRUE(is_right(target(), quantize_case("tensor", 300, 1000)));  // four batches on chip
  EXPECT_TRUE(is_right(target(), quantize_case("tensor", 333, 1001)));  // with a rest
  EXPECT_TRUE(is_right(target(), quantize_case("tensor", 700, 1001)));  // twice through memory
  EXPECT_TRUE(is_right(target(), quantize_case("tensor", 401, 999, "f32", "f8e5m2")));
}

TEST_P(Fp8, SpecialValuesStayWhatTheyAre) {
  for (const char* granularity : kGranularities)
    for (const char* dtype : kFloats)
      for (Distribution distribution : {Distribution::kSpecial, Distribution::kWide,
                                        Distribution::kDenormal, Distribution::kConstant}) {
        OpCase c = quantize_case(granularity, 131, 136, dtype);
        c.distribution = distribution;
        EXPECT_TRUE(is_right(target(), c));
      }
}

TEST_P(Fp8, ZerosHaveScaleOne) {
  for (const char* granularity : kGranularities) {
    OpCase c = quantize_case(granularity, 3, 136);
    c.values["x"].assign(3 * 136, 0.0);
    for (size_t i = 0; i < 136; i += 3) c.values["x"][i] = -0.0;
    c.values["x"][140] = INFINITY;  // a row of zeros and Inf
    EXPECT_TRUE(equals_definition(target(), c));
  }
}

TEST_P(Fp8, GivenScalesAreRaisedOrKept) {
  for (const char* granularity : kGranularities)
    for (const char* overflow : {"adjust", "saturate"}) {
      EXPECT_TRUE(equals_definition(target(), given_case(granularity, overflow, 130, 264)));
      EXPECT_TRUE(equals_definition(target(), given_case(granularity, overflow, 5, 129)));
      OpCase wide = given_case(granularity, overflow, 20, 136);
      wide.distribution = Distribution::kSpecial;
      EXPECT_TRUE(equals_definition(target(), wide));
    }
  EXPECT_TRUE(equals_definition(target(), given_case("tensor", "saturate", 700, 1001)));
}

TEST_P(Fp8, ScalesMayBeAnything) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (double scale : {0.0, -0.0, -0.5, 1e-40, 1e-30, 1e30, 3e38, kInf, -kInf, std::nan("")})
    for (const char* granularity : kGranularities)
      for (const char* overflow : {"adjust", "saturate"}) {
        OpCase c = given_case(granularity, overflow, 2, 16);
        c.distribution = Distribution::kWide;
        for (double& given : c.values["scale_in"]) given = scale;
        EXPECT_TRUE(equals_definition(target(), c));
      }
}

TEST_P(Fp8, EveryLayoutGivesTheSameBits) {
  for (const char* granularity : kGranularities) {
    const OpCase plain = quantize_case(granularity, 136, 272);
    for (const char* operand : {"x", "q"})
      for (const Layout& layout :
           {Layout{.misalignment = 2}, Layout{.step = 2}, Layout{.row_padding = 8},
            Layout{.row_padding = 3}, Layout{.transposed = true},
            Layout{.transposed = true, .misalignment = 6}}) {
        OpCase other = plain;
        other.layouts[operand] = layout;
        EXPECT_TRUE(gives_same_bits(target(), plain, other));
      }
    OpCase both = plain;
    both.layouts["x"] = both.layouts["q"] = {.transposed = true};
    EXPECT_TRUE(gives_same_bits(target(), plain, both));
    both.layouts["scale"] = {.step = 2};
    EXPECT_TRUE(gives_same_bits(target(), plain, both));
  }
}

TEST_P(Fp8, DequantizeEveryCombination) {
  for (const char* granularity : kGranularities)
    for (const char* format : kFormats)
      for (const char* dtype : kFloats) {
        EXPECT_TRUE(is_right(target(), dequantize_case(granularity, 130, 264, format, dtype)));
        EXPECT_TRUE(is_right(target(), dequantize_case(granularity, 7, 131, format, dtype)));
      }
}

TEST_P(Fp8, DequantizeGivesTheSameBitsInEveryLayout) {
  for (const char* granularity : kGranularities) {
    const OpCase plain = dequantize_case(granularity, 136, 272);
    for (const char* operand : {"q", "out"})
      for (const Layout& layout : {Layout{.misalignment = 2}, Layout{.row_padding = 3},
                                   Layout{.transposed = true}, Layout{.step = 2}}) {
        OpCase other = plain;
        other.layouts[operand] = layout;
        EXPECT_TRUE(gives_same_bits(target(), plain, other));
      }
  }
}

TEST_P(Fp8, OrderOfThreadsDoesNotMatter) {
  if (!target().is_emulated()) GTEST_SKIP() << "the emulator alone has seeds";
  for (uint64_t seed : {1, 2, 3}) {
    const SeedScope scope(seed);
    EXPECT_TRUE(is_right(target(), quantize_case("tensor", 200, 1000)));
    EXPECT_TRUE(is_right(target(), quantize_case("column", 200, 264)));
    EXPECT_TRUE(is_right(target(), quantize_case("row", 9, 8192)));
    OpCase turned = quantize_case("block_128x128", 136, 272);
    turned.layouts["q"] = {.transposed = true};
    EXPECT_TRUE(is_right(target(), turned));
  }
}

}  // namespace
}  // namespace nrd::cuda
