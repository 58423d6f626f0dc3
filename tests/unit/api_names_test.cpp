// SPDX-License-Identifier: MIT
// tests/unit/api_names_test.cpp: names that are kept once and calls that refer to them.
#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace {

using nereid::TensorView;

TEST(ApiNames, ACallNeedNotSpellThem) {
  const char* operands[] = {"x", "out"};
  const char* attributes[] = {"scale"};
  const nereid_names *names = nullptr, *again = nullptr, *others = nullptr;
  ASSERT_EQ(nereid_keep_names("vec_scale", operands, 2, attributes, 1, &names), NEREID_OK);
  ASSERT_EQ(nereid_keep_names("vec_scale", operands, 2, attributes, 1, &again), NEREID_OK);
  ASSERT_EQ(nereid_keep_names("vec_scale", operands, 2, nullptr, 0, &others), NEREID_OK);
  EXPECT_EQ(names, again);
  EXPECT_NE(names, others);

  std::vector<float> x = {1, 2}, y(2);
  const TensorView xv(x), yv(y);
  const nereid_tensor tensors[] = {xv.c(), yv.c()};
  const nereid_operand given[] = {{"not", &tensors[0]}, {nullptr, &tensors[1]}};
  const nereid_attribute value[] = {{nullptr, nullptr, 3.0}};
  nereid_call call{};
  call.struct_size = sizeof call;
  call.op = "not looked at";
  call.operands = given;
  call.operand_count = 2;
  call.attributes = value;
  call.attribute_count = 1;
  call.names = names;
  for (int i = 0; i < 2; i++) {
    ASSERT_EQ(nereid_run(nullptr, &call), NEREID_OK) << nereid_last_error()->message;
    EXPECT_EQ(y, (std::vector<float>{3, 6}));
  }
  call.names = others;  // which have no attribute
  EXPECT_EQ(nereid_run(nullptr, &call), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "attribute_count");
  EXPECT_STREQ(nereid_last_error()->op, "vec_scale");
  call.attribute_count = 0;
  ASSERT_EQ(nereid_run(nullptr, &call), NEREID_OK) << nereid_last_error()->message;
  EXPECT_EQ(y, (std::vector<float>{0.5f, 1}));
  call.operand_count = 1;
  EXPECT_EQ(nereid_run(nullptr, &call), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "operand_count");
}

TEST(ApiNames, WhatIsWrong) {
  const char* operands[] = {"x", "outt"};
  const char* missing[] = {"x", nullptr};
  const char* empty[] = {"x", ""};
  const nereid_names* names = nullptr;
  EXPECT_EQ(nereid_keep_names(nullptr, operands, 2, nullptr, 0, &names), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_keep_names("silu", missing, 2, nullptr, 0, &names), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_keep_names("silu", empty, 2, nullptr, 0, &names), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_keep_names("silu", operands, -1, nullptr, 0, &names), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_keep_names("silu", nullptr, 2, nullptr, 0, &names), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_keep_names("silu", operands, 2, nullptr, 0, nullptr), NEREID_INVALID_ARGUMENT);
  ASSERT_EQ(nereid_keep_names("silu", operands, 2, nullptr, 0, &names), NEREID_OK);
  std::vector<float> x(2);
  const TensorView xv(x);
  const nereid_tensor tensor = xv.c();
  const nereid_operand given[] = {{nullptr, &tensor}, {nullptr, &tensor}};
  nereid_call call{};
  call.struct_size = sizeof call;
  call.operands = given;
  call.operand_count = 2;
  call.names = names;
  EXPECT_EQ(nereid_run(nullptr, &call), NEREID_UNKNOWN_NAME);
  EXPECT_STREQ(nereid_last_error()->argument, "operand 'outt'");
}

}  // namespace
