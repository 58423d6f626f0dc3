// SPDX-License-Identifier: MIT
// tests/error/plugin_test.cpp: plug-ins that are wrong are refused with the reason.
#include <gtest/gtest.h>

#include <cstdlib>

#include "nereid/nereid.h"

namespace {

std::string plugin(const std::string& kind) {
  return std::string(PLUGIN_DIR) + "/libplugin_" + kind + PLUGIN_SUFFIX;
}

// Loading fails with this status, and the message names the library and the mistake.
void expect_refused(const std::string& path, nereid_status status, const std::string& mistake) {
  const auto loaded = nereid::attempt([&] { return nereid::load_plugin(path); });
  ASSERT_FALSE(loaded) << path;
  EXPECT_EQ(loaded.error().status, status) << loaded.error().message;
  EXPECT_NE(loaded.error().argument.find(path), std::string::npos) << loaded.error().message;
  EXPECT_NE(loaded.error().message.find(mistake), std::string::npos) << loaded.error().message;
}

TEST(Plugin, WhatCannotBeLoaded) {
  expect_refused("/no/such/library.so", NEREID_ENVIRONMENT, "No such file");
  expect_refused(NOT_A_LIBRARY, NEREID_ENVIRONMENT, "a shared library that can be loaded");
}

TEST(Plugin, WhatIsDeclaredWrongly) {
  expect_refused(plugin("no_entry"), NEREID_INVALID_ARGUMENT, "no symbol nereid_plugin_entry");
  expect_refused(plugin("null_entry"), NEREID_INVALID_ARGUMENT, "null from nereid_plugin_entry");
  expect_refused(plugin("wrong_version"), NEREID_UNSUPPORTED, "version 2, allowed: version 1");
  expect_refused(plugin("small_struct"), NEREID_INVALID_ARGUMENT, "struct_size 8");
  expect_refused(plugin("bad_name"), NEREID_INVALID_ARGUMENT, "'bad name!'");
  expect_refused(plugin("no_kernels"), NEREID_INVALID_ARGUMENT, "no kernels");
  expect_refused(plugin("unknown_op"), NEREID_UNKNOWN_NAME, "did you mean 'silu'");
  expect_refused(plugin("null_function"), NEREID_INVALID_ARGUMENT, "run is null");
}

nereid::Error error_of(const char* op, const char* backend) {
  static std::vector<float> x(8);
  const nereid::TensorView view(x);
  nereid::Call call(op, {.backend = backend});
  call.operand("x", view).operand("out", view);
  const auto done = call.try_run();
  return done ? nereid::Error{NEREID_OK, "", "", "", "", "", "no error"} : done.error();
}

TEST(Plugin, WhatItThrowsBecomesAnError) {
  ASSERT_EQ(nereid::load_plugin(plugin("throws")), "throws");
  const nereid::Error run = error_of("silu", "throws");
  EXPECT_EQ(run.status, NEREID_ENVIRONMENT);
  EXPECT_EQ(run.op, "silu");
  EXPECT_NE(run.message.find("an exception out of run: run threw"), run.message.npos)
      << run.message;
  EXPECT_NE(error_of("relu", "throws").message.find("accepts threw"), std::string::npos);
  EXPECT_NE(error_of("tanh", "throws").message.find("exception out of prepare"), std::string::npos);
  EXPECT_NE(error_of("exp", "throws").message.find("run returned 3"), std::string::npos);
  const nereid::Error missing = error_of("gelu", "throws");
  EXPECT_EQ(missing.status, NEREID_UNSUPPORTED) << missing.message;
  expect_refused(plugin("throws"), NEREID_INVALID_ARGUMENT, "a second one named 'throws'");
}

TEST(Plugin, ItsReasonIsShown) {
  ASSERT_EQ(nereid::load_plugin(plugin("no_accept")), "bad");
  const nereid::Error refused = error_of("silu", "bad");
  EXPECT_EQ(refused.status, NEREID_UNSUPPORTED);
  EXPECT_NE(refused.message.find("not in the mood"), std::string::npos) << refused.message;
}

TEST(Plugin, PlansAreMadeAnewBehindIt) {
  int plans = 0;
  nereid::ContextOptions options;
  options.isa = "baseline";  // a context with backends of its own
  options.log = [&](nereid::LogLevel, std::string_view) { plans++; };
  const nereid::Context context(options);
  std::vector<float> x(8);
  for (int i = 0; i < 3; i++) nereid::relu(x, x, {.context = &context});
  EXPECT_EQ(plans, 1);
  nereid::load_plugin(plugin("no_accept"), &context);
  for (int i = 0; i < 3; i++) nereid::relu(x, x, {.context = &context});
  EXPECT_EQ(plans, 2);
}

// Run alone, with one variable set wrongly (see CMakeLists.txt).
TEST(Environment, DISABLED_IsBlamed) {
  const char* variable = std::getenv("EXPECTED_IN_ERROR");
  ASSERT_NE(variable, nullptr);
  const nereid::Error error = error_of("silu", nullptr);
  EXPECT_NE(error.status, NEREID_OK);
  const bool is_plugin = std::string(variable) == "NEREID_PLUGINS";
  EXPECT_NE(error.message.find(is_plugin ? "/no/such.so" : variable), std::string::npos)
      << error.message;
}

}  // namespace
