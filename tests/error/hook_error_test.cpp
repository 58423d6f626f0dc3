// SPDX-License-Identifier: MIT
// tests/error/hook_error_test.cpp: hooks of a context that throw, that call the library themselves,
// or that have nothing to do.
#include <gtest/gtest.h>

#include <stdexcept>

#include "nereid/nereid.h"

namespace {

using nereid::Tensor;

nereid::Error error_of(nereid::ContextOptions options) {
  options.threads = 4;
  const nereid::Context context(std::move(options));
  const Tensor a(nereid::f32, {512, 512}), c(nereid::f32, {512, 512});
  try {
    nereid::gemm(a, a, c, {.context = &context});
  } catch (const nereid::Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

void expect_blame(const nereid::Error& error, const std::string& hook) {
  EXPECT_EQ(error.status, NEREID_INVALID_ARGUMENT) << error.message;
  EXPECT_EQ(error.argument, "nereid_context_options." + hook) << error.message;
  EXPECT_EQ(error.allowed, "hooks that do not throw") << error.message;
}

TEST(HookError, WhatThrowsIsNamed) {
  expect_blame(error_of({.log = [](nereid::LogLevel, std::string_view) { throw 1; }}), "log");
  expect_blame(error_of({.allocate = [](size_t, size_t) -> void* { throw std::logic_error("x"); },
                         .release = [](void*, size_t) {}}),
               "allocate");
  expect_blame(
      error_of({.parallel_for = [](int64_t, nereid::Body) { throw 1; }, .executor_width = 4}),
      "parallel_for");
}

TEST(HookError, AnAllocatorThatIsOutOfMemory) {
  const nereid::Error error =
      error_of({.allocate = [](size_t, size_t) -> void* { throw std::bad_alloc(); },
                .release = [](void*, size_t) {}});
  EXPECT_EQ(error.status, NEREID_ENVIRONMENT);
  EXPECT_EQ(error.message, "out of memory");
}

// The calls of a listener are not told to it: that would never end.
TEST(HookError, AListenerMayCall) {
  const nereid::Context* own = nullptr;
  int lines = 0;
  const Tensor x(nereid::f32, {8}), y(nereid::f32, {8});
  const nereid::Context context({.log = [&](nereid::LogLevel, std::string_view) {
    lines++;
    nereid::relu(x, y, {.context = own});
  }});
  own = &context;
  nereid::silu(x, y, {.context = &context});
  EXPECT_EQ(lines, 1);
  nereid::set_log([&](nereid::LogLevel, std::string_view) {
    lines++;
    nereid::gelu(x, y);
  });
  nereid::tanh(x, y);
  nereid::set_log({});
  EXPECT_EQ(lines, 2);
}

TEST(HookError, AnExecutorsWidthWithoutOne) {
  nereid_context_options options{};
  options.struct_size = sizeof options;
  options.executor_width = 4;
  nereid_context* context = nullptr;
  EXPECT_EQ(nereid_context_create(&options, &context), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "nereid_context_options.parallel_for");
}

TEST(HookError, AStreamOnTheCpu) {
  const Tensor x(nereid::f32, {8}), y(nereid::f32, {8});
  int no_stream = 0;
  try {
    nereid::silu(x, y, {.stream = &no_stream});
    ADD_FAILURE() << "accepted";
  } catch (const nereid::Exception& exception) {
    EXPECT_EQ(exception.error().argument, "stream") << exception.what();
    EXPECT_NE(exception.error().allowed.find("null"), std::string::npos) << exception.what();
  }
}

}  // namespace
