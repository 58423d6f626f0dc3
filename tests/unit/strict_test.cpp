// SPDX-License-Identifier: MIT
// tests/unit/strict_test.cpp: strict mode refuses what stands in for generated code, and lets pass
// what was asked for by name.
#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace {

using nereid::TensorView;

// A context that can have no generated code on x86-64: its baseline has no back end.
nereid::ContextOptions baseline(int strict) {
  nereid::ContextOptions options;
  options.strict = strict;
  options.isa = "baseline";
  return options;
}

bool has_code(const nereid::Context& context) {
  std::vector<float> x(4), y(4);
  const TensorView in(x), out(y);
  nereid::Call call("silu", {.context = &context});
  call.operand("x", in).operand("out", out);
  return std::string(call.prepare().info().kernel).starts_with("jit_");
}

TEST(Strict, CpuWithoutGeneratedCodeIsAFallback) {
  const nereid::Context lenient(baseline(-1)), strict(baseline(1));
  if (has_code(lenient)) GTEST_SKIP() << "the baseline of this machine has a back end";
  const std::vector<float> x(16, 1.0f);
  std::vector<float> y(16);
  try {
    nereid::silu(x, y, {.context = &strict});
    FAIL() << "autovec answered for cpu";
  } catch (const nereid::KernelError& e) {
    EXPECT_EQ(e.error().status, NEREID_UNSUPPORTED);
    EXPECT_EQ(e.error().op, "silu");
    EXPECT_EQ(e.error().argument, "backend cpu");
    EXPECT_NE(e.error().got.find("autovec_baseline, a fallback"), std::string::npos) << e.what();
    EXPECT_NE(e.error().got.find("generated code: got none"), std::string::npos) << e.what();
    EXPECT_NE(e.error().hint.find("autovec"), std::string::npos) << e.what();
  }
  nereid::silu(x, y, {.context = &lenient});
}

// A plan says of itself what strict mode would refuse.
TEST(Strict, APlanNamesItsFallback) {
  const nereid::Context lenient(baseline(-1));
  if (has_code(lenient)) GTEST_SKIP() << "the baseline of this machine has a back end";
  const std::vector<float> x(16);
  std::vector<float> y(16);
  const TensorView in(x), out(y);
  for (const char* backend : {"cpu", "autovec", "scalar"}) {
    nereid::Call call("silu", {.backend = backend, .context = &lenient});
    call.operand("x", in).operand("out", out);
    EXPECT_EQ(*call.prepare().info().fallback == 0, std::string(backend) != "cpu") << backend;
  }
}

// Conversions and steps are what the definitions do: who names them asked for that.
TEST(Strict, NamedDefinitionsAreNoFallback) {
  const nereid::Context strict({.strict = 1});
  std::vector<uint16_t> half(16), other(8);
  const TensorView strided(half.data(), nereid::bf16, {8}, {2});
  const TensorView packed(other.data(), nereid::bf16, {8});
  std::vector<float> a(12, 1.0f), b(12, 1.0f), bias(3), c(9);
  const TensorView left(a, {3, 4}), right(b, {4, 3}), shift(bias), out(c, {3, 3});
  for (const char* backend : {"autovec", "scalar"}) {
    nereid::silu(strided, packed, {.backend = backend, .context = &strict});
    nereid::gemm_bias(left, right, shift, out, {.backend = backend, .context = &strict});
  }
  EXPECT_EQ(c[0], 4.0f);
}

}  // namespace
