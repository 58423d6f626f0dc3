// SPDX-License-Identifier: MIT
// tests/error/given_error_test.cpp: what is given is used or refused: attributes, executors,
// backends and options of contexts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nereid/nereid.h"

namespace {

using nereid::Tensor;
using nereid::TensorView;

// The error of a function that must throw one.
template <class Function>
nereid::Error error_of(Function&& function) {
  try {
    function();
  } catch (const nereid::Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(GivenError, NumbersOutsideTheirRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x(nereid::f32, {2, 8}), w(nereid::f32, {8}), y(nereid::f32, {2, 8});
  for (double eps : {kNan, -1e-6, kInf, -kInf, 1e300}) {
    const nereid::Error error = error_of([&] { nereid::rms_norm(x, w, y, {.eps = eps}); });
    EXPECT_EQ(error.status, NEREID_INVALID_ARGUMENT);
    EXPECT_EQ(error.op, "rms_norm");
    EXPECT_EQ(error.argument, "eps");
    EXPECT_EQ(error.allowed, "0 or more") << error.message;
  }
  nereid::rms_norm(x, w, y, {.eps = 0});
  const std::vector<int32_t> positions = {0, 1, 2};
  for (double theta : {0.0, -10000.0, kNan, 1e-60}) {
    const nereid::Error error = error_of([&] { nereid::rope_table(positions, 8, theta); });
    EXPECT_EQ(error.argument, "theta");
    EXPECT_EQ(error.allowed, "more than 0") << error.message;
  }
  const nereid::Error error =
      error_of([&] { nereid::rope_table(positions, 8, 10000, {.factor = 0.5}); });
  EXPECT_EQ(error.argument, "factor");
  EXPECT_EQ(error.allowed, "1 or more");
}

TEST(GivenError, RangesCanBeAskedFor) {
  int32_t op = -1;
  ASSERT_EQ(nereid_find_op("rms_norm", &op), NEREID_OK);
  nereid_attribute_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(nereid_describe_attribute(op, 0, &info), NEREID_OK);
  EXPECT_STREQ(info.name, "eps");
  EXPECT_STREQ(info.allowed, "0 or more");
}

TEST(GivenError, AnAttributeTwice) {
  const Tensor x(nereid::f32, {2, 8}), w(nereid::f32, {8}), y(nereid::f32, {2, 8});
  const nereid::Error error = error_of([&] {
    const TensorView xs = x, ws = w, out = y;
    nereid::Call call("rms_norm");
    call.operand("x", xs).operand("w", ws).operand("out", out);
    call.attribute("eps", 1e-5).attribute("eps", 1e-6);
    call.run();
  });
  EXPECT_EQ(error.argument, "eps");
  EXPECT_EQ(error.got, "two values") << error.message;
}

// ---- executors ----

using Body = std::function<void(int64_t)>;

nereid::Error error_of_executor(std::function<void(int64_t, const Body&)> run) {
  const nereid::Context context(
      {.threads = 4, .parallel_for = std::move(run), .executor_width = 4});
  const Tensor x(nereid::f32, {1 << 20}), y(nereid::f32, {1 << 20});
  nereid::Error error;
  try {
    nereid::silu(x, y, {.context = &context});
    error.status = NEREID_OK;
  } catch (const nereid::Exception& exception) {
    error = exception.error();
  }
  // The fault is that of one call alone.
  nereid::silu(x, y);
  return error;
}

TEST(GivenError, ExecutorsThatLeaveWorkUndone) {
  const auto all = [](int64_t count, const Body& body) {
    for (int64_t i = 0; i < count; i++) body(i);
  };
  EXPECT_EQ(error_of_executor(all).status, NEREID_OK);
  const std::function<void(int64_t, const Body&)> wrong[] = {[](int64_t, const Body&) {},
                                                             [](int64_t count, const Body& body) {
                                                               for (int64_t i = 1; i < count; i++)
                                                                 body(i);
                                                             },
                                                             [](int64_t count, const Body& body) {
                                                               for (int64_t i = 0; i < count; i++)
                                                                 body(i / 2);
                                                             },
                                                             [](int64_t count, const Body& body) {
                                                               for (int64_t i = 1; i <= count; i++)
                                                                 body(i);
                                                             }};
  for (const auto& executor : wrong) {
    const nereid::Error error = error_of_executor(executor);
    EXPECT_EQ(error.status, NEREID_INVALID_ARGUMENT);
    EXPECT_NE(error.argument.find("parallel_for"), std::string::npos) << error.message;
  }
}

// ---- contexts ----

TEST(GivenError, ABackendThatIsNotThere) {
  for (const nereid::BackendInfo& backend : nereid::backends()) {
    if (backend.available) {
      const nereid::Context context({.backend = backend.name});
      continue;
    }
    const nereid::Error error = error_of([&] { nereid::Context({.backend = backend.name}); });
    EXPECT_FALSE(error.message.empty()) << backend.name;
  }
}

TEST(GivenError, BatchInvariant) {
  nereid_context_options options{};
  options.struct_size = sizeof options;
  options.batch_invariant = 2;
  nereid_context* context = nullptr;
  EXPECT_EQ(nereid_context_create(&options, &context), NEREID_INVALID_ARGUMENT);
  const nereid::Context invariant({.batch_invariant = true});
  const Tensor x(nereid::f32, {2, 8}), y(nereid::f32, {2, 8});
  const nereid_tensor in = x.view().c(), out = y.view().c();
  const nereid_operand operands[] = {{"x", &in}, {"out", &out}};
  nereid_call call{};
  call.struct_size = sizeof call;
  call.op = "silu";
  call.operands = operands;
  call.operand_count = 2;
  nereid_plan* plan = nullptr;
  ASSERT_EQ(nereid_prepare(invariant.get(), &call, &plan), NEREID_OK);
  nereid_plan_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(nereid_describe_plan(plan, &info), NEREID_OK);
  EXPECT_NE(std::string(info.text).find("batch_invariant=yes"), std::string::npos) << info.text;
  nereid_plan_destroy(plan);
}

// ---- tables ----

TEST(GivenError, TablesAndHeads) {
  const Tensor x(nereid::f32, {3, 16}), w(nereid::f32, {16});
  const Tensor half(nereid::f32, {3, 4}), whole(nereid::f32, {3, 8});
  std::vector<std::string> lines;
  const nereid::Context context(
      {.log = [&](nereid::LogLevel, std::string_view line) { lines.emplace_back(line); }});
  nereid::fused_rmsnorm_rope(x, w, half, half, {.num_heads = 2, .context = &context});
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("head_dim=8"), std::string::npos) << lines.back();
  // Without num_heads the last axis is head_dim, and the plan says so.
  nereid::fused_rmsnorm_rope(x, w, half, half, {.context = &context});
  EXPECT_NE(lines.back().find("head_dim=4"), std::string::npos) << lines.back();
  EXPECT_EQ(
      error_of([&] { nereid::fused_rmsnorm_rope(x, w, whole, whole, {.num_heads = -2}); }).argument,
      "num_heads");
  EXPECT_EQ(
      error_of([&] { nereid::fused_rmsnorm_rope(x, w, half, half, {.num_heads = 3}); }).argument,
      "cos");
  // Products of sizes that overflow, also to what would fit.
  for (int64_t heads : {std::numeric_limits<int64_t>::max(), (int64_t{1} << 61) + 2}) {
    const auto call = [&] { nereid::fused_rmsnorm_rope(x, w, whole, whole, {.num_heads = heads}); };
    EXPECT_EQ(error_of(call).argument, "cos");
  }
}

}  // namespace
