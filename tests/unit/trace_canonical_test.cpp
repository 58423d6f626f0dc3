// SPDX-License-Identifier: MIT
// tests/unit/trace_canonical_test.cpp: one form for every spelling, and what may not change places.
#include <gtest/gtest.h>

#include "trace/canonical.h"
#include "trace/text.h"
#include "trace/verify.h"

namespace nrd {
namespace {

// The canonical text of a trace with these statements.
std::string canonical(std::string_view statements) {
  const std::string text =
      "trace t : opaque\nparam x : in f32\nparam y : in f32\n"
      "param out : inout f32\nparam q : out i32\nparam n : size\n"
      "param s : number f32\n" +
      std::string(statements);
  Expected<OpTrace> trace = parse_trace(text);
  if (!trace) {
    ADD_FAILURE() << trace.error().message() << text;
    return {};
  }
  const OpTrace made = canonical_trace(*trace);
  const Expected<void> sound = verify_trace(made);
  EXPECT_TRUE(sound) << sound.error().message() << trace_text(made);
  EXPECT_EQ(trace_text(canonical_trace(made)), trace_text(made)) << "not a fixed form";
  return trace_text(made);
}

void expect_same(std::string_view one, std::string_view other) {
  EXPECT_EQ(canonical(one), canonical(other));
}

void expect_different(std::string_view one, std::string_view other) {
  EXPECT_NE(canonical(one), canonical(other));
}

std::string in_loop(std::string_view statements) {
  return "for i0 < n {\n  %1 = load f32 x[i0]\n  %2 = load f32 y[i0]\n" + std::string(statements) +
         "  store out[i0] %9\n}\n";
}

TEST(Canonical, OperandsThatCommute) {
  expect_same(in_loop("  %9 = mul f32 %1 %2\n"), in_loop("  %9 = mul f32 %2 %1\n"));
  expect_same(in_loop("  %3 = param f32 s\n  %9 = add f32 %3 %2\n"),
              in_loop("  %3 = param f32 s\n  %9 = add f32 %2 %3\n"));
  expect_same(in_loop("  %3 = mul f32 %1 %2\n  %4 = add f32 %2 %2\n  %9 = add f32 %3 %4\n"),
              in_loop("  %4 = add f32 %2 %2\n  %3 = mul f32 %2 %1\n  %9 = add f32 %4 %3\n"));
  expect_same(in_loop("  %9 = fma f32 %1 %2 %1\n"), in_loop("  %9 = fma f32 %2 %1 %1\n"));
}

TEST(Canonical, OperandsThatDoNot) {
  for (std::string_view op : {"sub", "div", "max_first", "min_first", "max_nan", "min_nan",
                              "max_num", "min_num", "copysign", "pow"}) {
    const std::string word = "  %9 = " + std::string(op) + " f32 ";
    expect_different(in_loop(word + "%1 %2\n"), in_loop(word + "%2 %1\n"));
  }
  expect_different(in_loop("  %9 = fma f32 %1 %2 %1\n"), in_loop("  %9 = fma f32 %1 %1 %2\n"));
}

TEST(Canonical, ComparisonsAndSelects) {
  const std::string select = "  %9 = select f32 %3 %1 %2\n",
                    turned = "  %9 = select f32 %3 %2 %1\n";
  expect_same(in_loop("  %3 = cmp ord %1 %2\n" + select),
              in_loop("  %3 = cmp uno %2 %1\n" + turned));
  expect_same(in_loop("  %3 = cmp ogt %1 %2\n" + select),
              in_loop("  %3 = cmp ule %1 %2\n" + turned));
  expect_different(in_loop("  %3 = cmp ogt %1 %2\n" + select),
                   in_loop("  %3 = cmp ole %1 %2\n" + turned));  // not so with a NaN
  expect_same(in_loop("  %4 = cmp uno %1 %1\n  %5 = cmp ogt %1 %2\n  %6 = cmp ord %2 %2\n"
                      "  %7 = and bool %4 %6\n  %3 = or bool %7 %5\n" +
                      select),
              in_loop("  %4 = cmp ord %1 %1\n  %5 = cmp ule %1 %2\n  %6 = cmp uno %2 %2\n"
                      "  %7 = or bool %6 %4\n  %3 = and bool %7 %5\n" +
                      turned));
  const std::string head = "%1 = param f32 s\nfor i0 < n {\n",
                    end = "  store out[i0] %1 if %2\n}\n";
  expect_same(head + "  %2 = cmp b (2 * i0) n\n" + end, head + "  %2 = cmp a n (2 * i0)\n" + end);
  expect_different(head + "  %2 = cmp b (2 * i0) n\n" + end,
                   head + "  %2 = cmp a (2 * i0) n\n" + end);
}

// A value is written where it is first needed, whatever came first.
TEST(Canonical, PlacesOfValues) {
  expect_same(
      "%1 = param f32 s\n%2 = const f32 0x1p+0\n%3 = div f32 %2 %1\n"
      "for i0 < n {\n  %4 = load f32 x[i0]\n  %5 = mul f32 %4 %3\n  store out[i0] %5\n}\n",
      "%2 = const f32 0x1p+0\n%1 = param f32 s\n%3 = div f32 %2 %1\n"
      "for i0 < n {\n  %4 = load f32 x[i0]\n  %5 = mul f32 %3 %4\n  store out[i0] %5\n}\n");
  const std::string sum =
      "%1 = const f32 0x0p+0\nfor i0 < n carry %2 = %1 {\n  %3 = load f32 x[i0]\n"
      "  %4 = add f32 %2 %3\n} next %4 -> %5\n";
  const std::string load = "%6 = load f32 y[0]\n", store = "%7 = add f32 %6 %5\nstore out[0] %7\n";
  expect_same(load + sum + store, sum + load + store);
}

TEST(Canonical, LoadsOfASum) {
  const std::string head = "%1 = const f32 0x0p+0\nfor i0 < n carry %2 = %1 {\n",
                    x = "  %3 = load f32 x[i0]\n", y = "  %4 = load f32 y[i0]\n",
                    end =
                        "  %5 = mul f32 %3 %4\n  %6 = add f32 %2 %5\n} next %6 -> %7\n"
                        "store out[0] %7\n";
  expect_same(head + x + y + end, head + y + x + end);
}

// Conditions that share their parts double with every step; the work must not.
TEST(Canonical, DeepConditions) {
  std::string text = "  %10 = cmp ult %1 %2\n  %11 = cmp uno %1 %2\n  %12 = cmp ueq %1 %2\n";
  int last = 12;
  for (int i = 0; i < 60; i++, last += 3) {
    const std::string a = std::to_string(last + 1), b = std::to_string(last + 2);
    text += "  %" + a + " = and bool %" + std::to_string(last) + " %10\n";
    text += "  %" + b + " = and bool %" + std::to_string(last) + " %11\n";
    text += "  %" + std::to_string(last + 3) + " = or bool %" + a + " %" + b + "\n";
  }
  text += "  %9 = select f32 %" + std::to_string(last) + " %1 %2\n";
  EXPECT_NE(canonical(in_loop(text)).find("select"), std::string::npos);
}

// y may be out.
TEST(Canonical, NoLoadCrossesAStore) {
  const std::string load = "%1 = load f32 y[0]\n", early = "%2 = param f32 s\nstore out[0] %2\n",
                    late = "store out[1] %1\n";
  const std::string before = canonical(load + early + late), after = canonical(early + load + late);
  EXPECT_LT(before.find("load"), before.find("store"));
  EXPECT_GT(after.find("load"), after.find("store"));
}

// What a saturating conversion asks of a clamped value, and of one that is not.
TEST(Canonical, SettledQuestions) {
  const auto converted = [](std::string_view clamped) {
    return "%20 = const f32 0x1.fcp+6\n%21 = const f32 -0x1.fcp+6\n%22 = const f32 0x0p+0\n"
           "%23 = const f32 0x1p+31\n%24 = const i32 -1\n%25 = const i32 0\n"
           "for i0 < n {\n  %1 = load f32 x[i0]\n  %2 = cmp olt %1 %21\n  %3 = cmp ogt %1 %20\n"
           "  %4 = cmp ord %1 %1\n" +
           std::string(clamped) +
           "  %10 = cmp ord %9 %9\n  %11 = cmp oge %9 %23\n  %12 = to_i32 %9\n"
           "  %13 = select i32 %11 %24 %12\n  %14 = select i32 %10 %13 %25\n"
           "  store q[i0] %14\n}\n";
  };
  const std::string low = "  %7 = select f32 %3 %20 %6\n  %9 = select f32 %2 %21 %7\n";
  const std::string all = canonical(converted("  %6 = select f32 %4 %1 %22\n" + low));
  EXPECT_EQ(all.find("oge"), std::string::npos) << all;
  EXPECT_EQ(all.find("select i32"), std::string::npos) << all;
  const std::string nan = canonical(converted("  %6 = add f32 %1 %22\n" + low));
  EXPECT_NE(nan.find("oge"), std::string::npos) << nan;  // the sum was not compared
  const std::string open = canonical(converted("  %9 = select f32 %2 %21 %1\n"));
  EXPECT_NE(open.find("oge"), std::string::npos) << open;
  EXPECT_NE(open.find("cmp ord"), std::string::npos) << open;
}

}  // namespace
}  // namespace nrd
