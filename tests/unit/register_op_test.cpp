// SPDX-License-Identifier: MIT
// tests/unit/register_op_test.cpp: C functions become operators, by the C and the C++ API.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "nereid/nereid.h"
#include "user_functions.h"

namespace {

using nereid::TensorView;

std::vector<float> ramp(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; i++) x[i] = 0.25f * static_cast<float>(i % 23) - 2;
  return x;
}

TEST(RegisterOp, ElementwiseOverTwoAxes) {
  const nereid::Registered r = nereid::register_op("t_gate", &user_gate);
  EXPECT_TRUE(r.lifted && r.proved) << r.reason;
  EXPECT_EQ(r.op_class, "elementwise");
  EXPECT_EQ(r.signature, "x[n] y[n] -> out[n] ; core n*");
  EXPECT_GT(r.lift_us, 0);
  EXPECT_EQ(r.compiled, r.reason.empty());
  const std::vector<float> x = ramp(3 * 37), y = ramp(37);
  std::vector<float> out(x.size());
  const TensorView rows(x, {3, 37}), row(y), result(out, {3, 37});
  nereid::Call("t_gate").operand("x", rows).operand("y", row).operand("out", result).run();
  for (size_t i = 0; i < out.size(); i++)
    EXPECT_NEAR(out[i], x[i] * std::tanh(y[i % 37]), 1e-5) << i;
}

TEST(RegisterOp, Reduction) {
  const nereid::Registered r = nereid::register_op("t_sum", &user_sum);
  EXPECT_TRUE(r.proved) << r.reason;
  EXPECT_EQ(r.op_class, "reduction");
  EXPECT_EQ(r.signature, "x[n] -> out[] ; core n");
  const std::vector<float> x = ramp(5 * 1000);
  std::vector<float> out(5);
  const TensorView rows(x, {5, 1000}), sums(out, {5});
  nereid::Call("t_sum").operand("x", rows).operand("out", sums).run();
  for (size_t i = 0; i < 5; i++) {
    double sum = 0;
    for (size_t j = 0; j < 1000; j++) sum += x[i * 1000 + j];
    EXPECT_NEAR(out[i], sum, 1e-2) << i;
  }
}

TEST(RegisterOp, WhatAFunctionReturnsIsAnOutput) {
  const nereid::Registered r = nereid::register_op("t_dot", &user_dot);
  EXPECT_TRUE(r.proved) << r.reason;
  EXPECT_EQ(r.op_class, "reduction");
  EXPECT_EQ(r.signature, "x[n] y[n] -> out[] ; core n");
  const std::vector<float> x = ramp(5 * 100), y = ramp(100);
  std::vector<float> out(5);
  const TensorView rows(x, {5, 100}), row(y), dots(out, {5});
  nereid::Call("t_dot").operand("x", rows).operand("y", row).operand("out", dots).run();
  for (size_t i = 0; i < 5; i++)
    EXPECT_NEAR(out[i], user_dot(&x[i * 100], y.data(), 100), 1e-2) << i;
}

TEST(RegisterOp, AReturnedIndexIsAnOutput) {
  const nereid::Registered r =
      nereid::register_op("t_largest", &user_largest, "x[n] -> out[] ; core n");
  EXPECT_TRUE(r.lifted) << r.reason;
  const std::vector<float> x = ramp(3 * 50);
  std::vector<int32_t> out(3, -1);
  const TensorView rows(x, {3, 50}), places(out, {3});
  nereid::Call("t_largest").operand("x", rows).operand("out", places).run();
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(out[i], user_largest(&x[i * 50], 50)) << i;
}

TEST(RegisterOp, NormWithANumber) {
  const nereid::Registered r = nereid::register_op("t_norm", &user_norm);
  EXPECT_TRUE(r.proved) << r.reason;
  EXPECT_EQ(r.op_class, "norm");
  EXPECT_EQ(r.signature, "x[n] y[n] -> out[n] ; core n");
  const std::vector<float> x = ramp(64), w(64, 2.0f);
  std::vector<float> out(64), expected(64);
  const TensorView xs(x), ws(w), result(out);
  nereid::Call norm("t_norm");
  norm.operand("x", xs).operand("y", ws).operand("out", result).attribute("a", 0.5).run();
  user_norm(x.data(), w.data(), expected.data(), 64, 0.5f);
  for (size_t i = 0; i < 64; i++) EXPECT_NEAR(out[i], expected[i], 1e-5) << i;
}

TEST(RegisterOp, AFunctionOfValuesIsMapped) {
  const nereid::Registered r = nereid::register_op("t_blend", &user_blend);
  EXPECT_TRUE(r.proved) << r.reason;
  EXPECT_EQ(r.op_class, "elementwise");
  const std::vector<float> a = ramp(100), b(100, 1.0f);
  for (const char* backend : {"cpu", "scalar"}) {
    std::vector<float> out(100);
    const TensorView as(a), bs(b), result(out);
    nereid::Call call("t_blend", {.backend = backend});
    call.operand("a", as).operand("b", bs).operand("out", result).run();
    for (size_t i = 0; i < 100; i++) EXPECT_NEAR(out[i], a[i] * 0.25f + 0.75f, 1e-6) << backend;
  }
}

// What is an input is known from the code, const or not and in whatever order.
TEST(RegisterOp, AnInputWithoutConst) {
  const nereid::Registered r = nereid::register_op("t_no_const", &user_no_const);
  ASSERT_TRUE(r.proved) << r.reason;
  EXPECT_EQ(r.signature, "out1[n] -> out[n] ; core n*");  // unnamed, and not const in C
  const std::vector<float> x = ramp(20);
  for (const char* backend : {"cpu", "scalar"}) {
    std::vector<float> out(20);
    const TensorView xs(x), result(out);
    nereid::Call call("t_no_const", {.backend = backend});
    call.operand("out1", xs).operand("out", result).run();
    for (size_t i = 0; i < 20; i++) EXPECT_EQ(out[i], x[i] + 1.0f) << backend;
  }
}

// A value that f32 cannot hold beside 1 survives: nothing is narrowed on the way.
TEST(RegisterOp, DoublesAreF64AsTheyLie) {
  const nereid::Registered wide = nereid::register_op("t_wide", &user_wide);
  EXPECT_EQ(wide.signature, "x[n]:float_or_f64 -> out[n]:float_or_f64 ; core n*");
  nereid::register_op("t_half", &user_half);
  nereid::register_op("t_until_wide", &user_until_wide, "x[n] -> out[n] ; core n");
  const std::vector<double> x(50, 0x1p-40);
  for (const char* backend : {"cpu", "autovec", "scalar"}) {
    std::vector<double> out(50), half(50), until(50);
    const TensorView xs(x), result(out), halves(half), untils(until);
    nereid::Call call("t_wide", {.backend = backend});
    call.operand("x", xs).operand("out", result);
    EXPECT_EQ(std::string(call.prepare().info().note).find("converts"), std::string::npos);
    call.run();
    nereid::Call("t_half", {.backend = backend}).operand("a", xs).operand("out", halves).run();
    nereid::Call until_call("t_until_wide", {.backend = backend});
    until_call.operand("x", xs).operand("out", untils).run();
    EXPECT_EQ(out[49], 1.0 + 0x1p-40) << backend;
    EXPECT_EQ(half[49], 0x1p-41) << backend;
    EXPECT_EQ(until[49], 1.0 + 0x1p-40) << backend;
  }
  std::vector<float> narrow(50, 2.0f), result(50);  // converted as whole buffers
  const TensorView xs(narrow), out(result);
  nereid::Call("t_wide").operand("x", xs).operand("out", out).run();
  EXPECT_EQ(result[49], 3.0f);
}

// Registration proves the code for the function's own dtypes, a first call the code for others.
TEST(RegisterOp, CodeForOtherDtypesIsProvedToo) {
  const nereid::Registered r = nereid::register_op("t_narrow", &user_gate);
  if (!r.compiled) GTEST_SKIP() << "no vector code: " << r.reason;
  std::vector<std::string> proofs;
  nereid_set_log(
      [](void* user, int32_t, const char* line) {
        if (std::string_view(line).find("proved") != std::string_view::npos)
          static_cast<std::vector<std::string>*>(user)->emplace_back(line);
      },
      &proofs);
  const std::vector<float> x(40, 1.0f);
  std::vector<float> out(40);
  const TensorView wide(x), result(out);
  nereid::Call("t_narrow").operand("x", wide).operand("y", wide).operand("out", result).run();
  EXPECT_TRUE(proofs.empty()) << proofs.front();
  for (const auto& [dtype, one] :
       {std::pair{nereid::f16, uint16_t{0x3c00}}, std::pair{nereid::bf16, uint16_t{0x3f80}}}) {
    std::vector<uint16_t> in(40, one), narrow(40);
    const TensorView xs(in.data(), dtype, {40}), ys(narrow.data(), dtype, {40});
    for (int round = 0; round < 2; round++)
      nereid::Call("t_narrow").operand("x", xs).operand("y", xs).operand("out", ys).run();
    EXPECT_EQ(narrow[39], dtype == nereid::f16 ? 0x3a18 : 0x3f43);  // tanh(1) = 0.76159
  }
  nereid_set_log(nullptr, nullptr);
  ASSERT_EQ(proofs.size(), 2u);
  EXPECT_NE(proofs[0].find("t_narrow: code for f16 f16 f16"), std::string::npos) << proofs[0];
  EXPECT_NE(proofs[1].find("t_narrow: code for bf16 bf16 bf16"), std::string::npos) << proofs[1];
}

TEST(RegisterOp, WhatIsNotUnderstoodRunsAsItIsWithASignature) {
  const nereid::Registered r =
      nereid::register_op("t_until", &user_until, "x[n] -> out[n] ; core n");
  EXPECT_FALSE(r.lifted || r.proved || r.compiled);
  EXPECT_EQ(r.op_class, "opaque");
  EXPECT_NE(r.reason.find("leaves early"), std::string::npos) << r.reason;
  const std::vector<float> x = {1, 2, -1, 3, 4, 5, -1, 1};
  std::vector<float> out(8, 9.0f);
  const TensorView xs(x, {2, 4}), result(out, {2, 4});
  nereid::Call call("t_until");
  call.operand("x", xs).operand("out", result).run();
  EXPECT_EQ(out, (std::vector<float>{2, 4, 0, 0, 8, 10, 0, 0}));
}

// The reason of registration is what explain and strict mode say, word for word.
TEST(RegisterOp, ExplainSaysWhyThereIsNoVectorCode) {
  const nereid::Registered opaque = nereid::register_op("t_prefix", &user_prefix);
  EXPECT_TRUE(opaque.lifted && opaque.proved);
  EXPECT_FALSE(opaque.compiled);
  ASSERT_FALSE(opaque.reason.empty());
  const nereid::Registered refused =
      nereid::register_op("t_until2", &user_until, "x[n] -> out[n] ; core n");
  const std::vector<float> x = ramp(8);
  std::vector<float> out(8);
  const TensorView xs(x), result(out);
  const nereid::Context strict({.strict = 1}), lenient;
  for (const auto& [name, reason] :
       {std::pair{"t_prefix", opaque.reason}, std::pair{"t_until2", refused.reason}}) {
    nereid::Call call(name, {.context = &lenient}), fussy(name, {.context = &strict});
    call.operand("x", xs).operand("out", result);
    fussy.operand("x", xs).operand("out", result);
    const std::string text = call.explain();
    if (text.find("jit_") != std::string::npos) {
      EXPECT_NE(text.find(name + std::string(": ") + reason), std::string::npos) << text;
    }
    const auto done = fussy.try_run();
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().status, NEREID_UNSUPPORTED);
    nereid::Call named(name, {.backend = "scalar", .context = &strict});
    named.operand("x", xs).operand("out", result).run();  // asked for
  }
}

TEST(RegisterOp, TheCApi) {
  nereid_registered out{};
  out.struct_size = sizeof out;
  ASSERT_EQ(nereid_register_op("t_c_gate", reinterpret_cast<const void*>(&user_gate),
                               "void(const float* gate, const float* up, float* y, size_t cols)",
                               nullptr, &out),
            NEREID_OK)
      << nereid_last_error()->message;
  EXPECT_TRUE(out.lifted && out.proved) << out.reason;
  EXPECT_STREQ(out.signature, "gate[cols] up[cols] -> y[cols] ; core cols*");
  EXPECT_STREQ(out.op_class, "elementwise");
  EXPECT_EQ(nereid_register_op("t_c_sum", reinterpret_cast<const void*>(&user_sum),
                               "void(const float*, float*, size_t)", nullptr, nullptr),
            NEREID_OK);
}

// Many threads register and look up at once; of those that want one name exactly one gets it.
TEST(RegisterOp, FromSeveralThreads) {
  constexpr int kThreads = 8;
  std::atomic<int> won{0}, refused{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([&, t] {
      const std::string own = "t_thread_" + std::to_string(t);
      nereid::register_op(own.c_str(), &user_gate);
      const auto shared = nereid::attempt([] { nereid::register_op("t_shared", &user_sum); });
      (shared ? won : refused)++;
      const std::vector<float> x(64, 1.0f);
      std::vector<float> out(64);
      const TensorView xs(x), result(out);
      nereid::Call(own.c_str()).operand("x", xs).operand("y", xs).operand("out", result).run();
      wrong += std::fabs(out[63] - std::tanh(1.0f)) > 1e-5;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(refused, kThreads - 1);
  EXPECT_EQ(wrong, 0);
}

// Whoever proved it: what was assumed stands in the result and in `explain`.
TEST(RegisterOp, WhatAProofAssumedIsSaid) {
  for (const nereid::Prove prove : {nereid::Prove::here, nereid::Prove::in_child}) {
    const bool here = prove == nereid::Prove::here;
    const char* name = here ? "t_swap_here" : "t_swap_in_child";
    const nereid::Registered swap =
        nereid::register_op(name, &user_swap, nereid::RegisterOptions{.prove = prove});
    EXPECT_TRUE(swap.proved) << swap.reason;
    EXPECT_EQ(swap.assumes, "n % 2 == 0");
    const std::vector<float> x(6, 1.0f);
    std::vector<float> out(6);
    const TensorView xs(x), result(out);
    const std::string text = nereid::Call(name).operand("x", xs).operand("out", result).explain();
    EXPECT_NE(text.find("\n  assumes n % 2 == 0\n"), std::string::npos) << text;
  }
  nereid::register_op("t_swap_nothing", &user_gate);
  const std::vector<float> x(6, 1.0f);
  std::vector<float> out(6);
  const TensorView xs(x), result(out);
  const std::string text = nereid::Call("t_swap_nothing")
                               .operand("x", xs)
                               .operand("y", xs)
                               .operand("out", result)
                               .explain();
  EXPECT_EQ(text.find("assumes"), std::string::npos) << text;
}

TEST(RegisterOp, ProofsCanBeHadInAChildOrNotAtAll) {
  const nereid::Registered child = nereid::register_op(
      "gate_in_child", &user_gate, nereid::RegisterOptions{.prove = nereid::Prove::in_child});
  EXPECT_TRUE(child.proved) << child.reason;
  EXPECT_EQ(child.assumes, "");
  const nereid::Registered none = nereid::register_op(
      "gate_unproved", &user_gate,
      nereid::RegisterOptions{"x[n] y[n] -> out[n] ; core n", nereid::Prove::no});
  EXPECT_FALSE(none.proved);
  nereid_register_options wrong{sizeof wrong, 7, nullptr};
  EXPECT_EQ(
      nereid_register_op_with("gate_wrong", reinterpret_cast<const void*>(&user_gate),
                              "void(const float*, const float*, float*, size_t)", &wrong, nullptr),
      NEREID_INVALID_ARGUMENT);
}

}  // namespace
