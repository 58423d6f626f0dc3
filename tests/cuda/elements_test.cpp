// SPDX-License-Identifier: MIT
// tests/cuda/elements_test.cpp: elementwise operators against the catalogue's reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/convert.h"
#include "definition.h"

namespace nrd::cuda {
namespace {

const char* const kUnary[] = {"exp",  "tanh", "sigmoid",   "relu",
                              "silu", "gelu", "gelu_tanh", "vec_scale"};
const char* const kBinary[] = {"swiglu",  "geglu",   "swiglu_oai", "vec_add",
                               "vec_sub", "vec_mul", "vec_axpy"};

std::vector<std::string> all_ops() {
  std::vector<std::string> all(std::begin(kUnary), std::end(kUnary));
  all.insert(all.end(), std::begin(kBinary), std::end(kBinary));
  return all;
}
bool is_binary(const std::string& op) {
  return std::find(std::begin(kBinary), std::end(kBinary), op) != std::end(kBinary);
}
OpCase element_case(const std::string& op, int64_t n, const std::string& dtypes = "f32") {
  return {.op = op, .sizes = {{"n", n}}, .dtypes = dtypes};
}
std::string first_input(const std::string& op) {
  return op == "swiglu" || op == "geglu" || op == "swiglu_oai" ? "gate" : "x";
}

class Elements : public TargetTest {};
NRD_ON_EVERY_TARGET(Elements);

TEST_P(Elements, AreRightInEveryDtype) {
  for (const std::string& op : all_ops())
    for (const char* dtype : {"f32", "f16", "bf16"})
      for (int64_t n : {1, 1003}) EXPECT_TRUE(is_right(target(), element_case(op, n, dtype)));
}

TEST_P(Elements, TakeAnySize) {
  for (int64_t n : {0, 1, 3, 7, 8, 9, 31, 4095, 4096, 4097, 33000}) {
    EXPECT_TRUE(is_right(target(), element_case("silu", n, "bf16")));
    EXPECT_TRUE(is_right(target(), element_case("vec_add", n, "f32")));
  }
}

TEST_P(Elements, MixDtypes) {
  for (const char* dtypes : {"bf16->f32", "f32->f16", "f16->bf16"})
    for (const char* op : {"gelu", "relu"})
      EXPECT_TRUE(is_right(target(), element_case(op, 517, dtypes)));
  for (const char* dtypes : {"bf16,f32->bf16", "f32,f16->f32", "f16,f16->bf16"})
    for (const char* op : {"swiglu", "vec_mul"})
      EXPECT_TRUE(is_right(target(), element_case(op, 517, dtypes)));
}

TEST_P(Elements, PropagateSpecialValues) {
  for (const std::string& op : all_ops())
    for (Distribution distribution : {Distribution::kSpecial, Distribution::kWide}) {
      OpCase c = element_case(op, 600, op.size() % 2 ? "f32" : "bf16");
      c.distribution = distribution;
      EXPECT_TRUE(is_right(target(), c));
    }
}

TEST_P(Elements, GiveTheSameBitsInEveryLayout) {
  for (const std::string& op : all_ops()) {
    const std::string input = first_input(op);
    for (const char* dtype : {"f32", "bf16"}) {
      const OpCase plain = element_case(op, 300, dtype);
      OpCase misaligned = plain, strided = plain, reversed_out = plain;
      misaligned.layouts[input] = {.misalignment = 4};
      misaligned.layouts["out"] = {.misalignment = 8};
      strided.layouts[input] = {.step = 3};
      reversed_out.layouts["out"] = {.step = 2, .misalignment = 4};
      EXPECT_TRUE(gives_same_bits(target(), plain, misaligned));
      EXPECT_TRUE(gives_same_bits(target(), plain, strided));
      EXPECT_TRUE(gives_same_bits(target(), plain, reversed_out));
    }
  }
}

TEST_P(Elements, WorkInPlace) {
  for (const std::string& op : all_ops()) {
    OpCase c = element_case(op, 1029, "f16");
    c.in_place = first_input(op);
    EXPECT_TRUE(is_right(target(), c));
    if (!is_binary(op)) continue;
    c.layouts[c.in_place] = {.step = 2};
    c.layouts["out"] = {.step = 2};
    EXPECT_TRUE(is_right(target(), c));
  }
}

const char* const kNumbers[] = {"f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i32"};

TEST_P(Elements, CastBetweenAllDtypes) {
  for (const char* from : kNumbers)
    for (const char* to : kNumbers)
      for (const char* overflow : {"ieee", "saturate"}) {
        OpCase c = element_case("cast", 203, std::string(from) + "->" + to);
        c.attributes["overflow"] = std::string(overflow);
        c.distribution = Distribution::kWide;
        EXPECT_TRUE(is_right(target(), c));
      }
}

TEST_P(Elements, CastEveryValueOfSixteenBits) {
  for (const char* from : {"f16", "bf16"})
    for (const char* to : {"f8e4m3", "f8e5m2", "f32", "i8"})
      for (const char* overflow : {"ieee", "saturate"}) {
        OpCase c = element_case("cast", 65536, std::string(from) + "->" + to);
        c.attributes["overflow"] = std::string(overflow);
        const DType dtype = *parse_dtype(from);
        for (uint32_t code = 0; code < 65536; code++) c.values["x"].push_back(decode(code, dtype));
        EXPECT_TRUE(equals_definition(target(), c));
      }
}

TEST_P(Elements, CastInEveryLayout) {
  for (const char* dtypes : {"f32->f8e4m3", "f8e5m2->bf16", "i8->f32"}) {
    const OpCase plain = element_case("cast", 300, dtypes);
    OpCase other = plain;
    other.layouts["x"] = {.step = 3};
    other.layouts["out"] = {.step = 2, .misalignment = 4};
    EXPECT_TRUE(gives_same_bits(target(), plain, other));
  }
}

}  // namespace
}  // namespace nrd::cuda
