// SPDX-License-Identifier: MIT
// tests/cuda/glue_test.cpp: reductions, argmax, rows of int8 and embeddings.
#include <gtest/gtest.h>

#include <cmath>

#include "definition.h"

namespace nrd::cuda {
namespace {

class Glue : public TargetTest {};
NRD_ON_EVERY_TARGET(Glue);

const char* const kReductions[] = {"vec_sum", "vec_max", "vec_dot", "vec_sum_squares"};

TEST_P(Glue, ReductionsOfEveryLength) {
  for (const char* op : kReductions)
    for (int64_t n : {0, 1, 7, 8, 1000, 16384, 16385, 70001})
      for (const char* dtype : {"f32", "bf16", "f16"})
        EXPECT_TRUE(is_right(target(), {.op = op, .sizes = {{"n", n}}, .dtypes = dtype}));
}

TEST_P(Glue, ReductionsOfSpecialValuesAndLayouts) {
  for (const char* op : kReductions) {
    OpCase c{.op = op, .sizes = {{"n", 333}}, .distribution = Distribution::kSpecial};
    EXPECT_TRUE(is_right(target(), c));
    OpCase plain{.op = op, .sizes = {{"n", 333}}, .dtypes = "bf16"}, strided = plain;
    strided.layouts["x"] = {.step = 3, .misalignment = 2};
    EXPECT_TRUE(gives_same_bits(target(), plain, strided));
  }
}

TEST_P(Glue, ArgmaxTakesTheFirst) {
  for (int64_t cols : {0, 1, 5, 257, 5000})
    for (Distribution d : {Distribution::kNormal, Distribution::kSpecial, Distribution::kConstant})
      EXPECT_TRUE(is_right(target(), {.op = "argmax",
                                      .sizes = {{"rows", 3}, {"cols", cols}},
                                      .dtypes = "bf16->i32",
                                      .distribution = d}));
  OpCase infinite{.op = "argmax", .sizes = {{"rows", 2}, {"cols", 40}}, .dtypes = "f32->i32"};
  infinite.values["x"].assign(80, -INFINITY);
  infinite.values["x"][77] = NAN, infinite.values["x"][79] = NAN;
  EXPECT_TRUE(equals_definition(target(), infinite));
}

TEST_P(Glue, RowsOfInt8) {
  for (int64_t cols : {0, 1, 9, 1000, 4096})
    for (Distribution d : {Distribution::kNormal, Distribution::kSpecial, Distribution::kDenormal})
      for (const char* dtypes : {"f32->i8,f32", "bf16->i8,f32"})
        EXPECT_TRUE(is_right(target(), {.op = "quantize_i8",
                                        .sizes = {{"rows", 4}, {"cols", cols}},
                                        .dtypes = dtypes,
                                        .distribution = d}));
  const OpCase plain{
      .op = "quantize_i8", .sizes = {{"rows", 4}, {"cols", 136}}, .dtypes = "f16->i8,f32"};
  OpCase turned = plain;
  turned.layouts["x"] = {.transposed = true};
  turned.layouts["q"] = {.row_padding = 3};
  EXPECT_TRUE(gives_same_bits(target(), plain, turned));
}

TEST_P(Glue, Embeddings) {
  OpCase c{.op = "embedding",
           .sizes = {{"tokens", 6}, {"vocab", 11}, {"dim", 72}},
           .dtypes = "bf16,i32->bf16"};
  c.values["ids"] = {0, 10, 3, 3, 7, 1};
  EXPECT_TRUE(equals_definition(target(), c));
  c.dtypes = "f32,i32->f16";
  c.layouts["table"] = {.row_padding = 5};
  EXPECT_TRUE(equals_definition(target(), c));
  c.sizes["dim"] = 13;
  EXPECT_TRUE(equals_definition(target(), c));
}

}  // namespace
}  // namespace nrd::cuda
