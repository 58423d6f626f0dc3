// SPDX-License-Identifier: MIT
// tests/compiler/lift_bounded_test.cpp: what generated functions (tests/fuzz) found in the proofs'
// interpreters: values that no proof may insist on, and one that it must.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trace/bounded.h"
#include "trace/classify.h"
#include "trace/interpret.h"
#include "trace/text.h"

namespace nrd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A map of x and y to out, with the number s; `body` leaves its result in %9.
OpTrace map_of(std::string body) {
  Expected<OpTrace> trace = parse_trace(R"(trace t : elementwise
param x : in f32
param y : in f32
param out : out f32
param n : size
param s : number f32
%1 = param f32 s
for i0 < n {
  %2 = load f32 x[i0]
  %3 = load f32 y[i0]
)" + body + R"(  store out[i0] %9
}
)");
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return trace ? *trace : OpTrace{};
}

Bounded bounded_of(const OpTrace& trace, Bounded x, Bounded y, double s) {
  Bounded out;
  void* pointers[] = {&x, &y, &out};
  const int64_t n = 1;
  interpret_bounded(trace, {pointers, &n, &s, nullptr});
  return out;
}

float value_of(const OpTrace& trace, float x, float y, int nan_sign = 0) {
  float out = 0;
  void* pointers[] = {&x, &y, &out};
  const int64_t n = 1;
  const double s = 1;
  interpret(trace, {pointers, &n, &s, nullptr, nullptr, nan_sign});
  return out;
}

// -1e-45 / 1.5 is -1e-45 again in f32, and the root of that is a NaN: the bound of the choice
// reaches just below zero, and must not be rounded up to it.
TEST(Bounded, AChoiceThatReachesOutOfTheDomain) {
  const OpTrace trace = map_of(R"(  %4 = div f32 %2 %1
  %5 = cmp oeq %2 %4
  %6 = select f32 %5 %4 %1
  %9 = sqrt f32 %6
)");
  const Bounded root =
      bounded_of(trace, {std::numeric_limits<float>::denorm_min() * -1.0, 0}, {}, 1.5);
  EXPECT_EQ(root.bound, kInfinity);
  EXPECT_LT(bounded_of(trace, {7, 0}, {}, 1.5).bound, 1e-6);
}

TEST(Bounded, TheSignOfANaN) {
  const OpTrace trace = map_of("  %9 = copysign f32 %2 %3\n");
  const double nan = std::nan("");
  EXPECT_EQ(bounded_of(trace, {3, 0}, {nan, 0}, 1).bound, 6);  // either sign
  EXPECT_EQ(bounded_of(trace, {nan, 0}, {nan, 0}, 1).bound, 0);
  EXPECT_EQ(bounded_of(trace, {nan, kInfinity}, {nan, kInfinity}, 1).bound, kInfinity);
}

// exp(-104) is 0 in f32, and then even a NaN's power is 1.
TEST(Bounded, APowerOfANaNThatMayBeOne) {
  const OpTrace trace = map_of("  %4 = exp f32 %3\n  %9 = pow f32 %2 %4\n");
  const double nan = std::nan("");
  EXPECT_EQ(bounded_of(trace, {nan, 0}, {-104, 0}, 1).bound, kInfinity);
  EXPECT_EQ(bounded_of(trace, {nan, 0}, {1, 0}, 1).bound, 0);
}

TEST(Bounded, TheSignOfAComputedZero) {
  const OpTrace loaded = map_of("  %9 = copysign f32 %2 %3\n");
  EXPECT_EQ(bounded_of(loaded, {3, 0}, {0, 0}, 1).bound, 0);
  const OpTrace made = map_of("  %4 = min_first f32 %3 %1\n  %9 = copysign f32 %2 %4\n");
  EXPECT_EQ(bounded_of(made, {3, 0}, {0, 0}, 1).bound, 6);
  EXPECT_EQ(bounded_of(made, {3, 0}, {-2, 0}, 1).bound, 0);
}

TEST(Interpret, TheSignOfANaNMayBeChosen) {
  const OpTrace sign = map_of("  %9 = copysign f32 %2 %3\n");
  EXPECT_EQ(value_of(sign, 3, -NAN), -3);
  EXPECT_EQ(value_of(sign, 3, -NAN, 1), 3);
  EXPECT_EQ(value_of(sign, 3, NAN, -1), -3);
  EXPECT_EQ(value_of(sign, 3, 2, -1), 3);  // a number keeps its own
  const OpTrace bits = map_of(R"(  %4 = bitcast i32 %3
  %5 = const i32 0
  %6 = cmp lt %4 %5
  %9 = select f32 %6 %2 %3
)");
  EXPECT_EQ(value_of(bits, 3, NAN, -1), 3);
  EXPECT_TRUE(std::isnan(value_of(bits, 3, -NAN, 1)));
}

#if !defined(__aarch64__)
TEST(Interpret, FmaxReturnsTheSecondOfTwoZeros) {
  const OpTrace trace = map_of("  %9 = max_num f32 %2 %3\n");
  EXPECT_TRUE(std::signbit(value_of(trace, 0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(value_of(trace, -0.0f, 0.0f)));
}
#endif

// 1e30 * 1e-30 * 1e30 * 1e-30: lanes of their own would make it infinity times zero.
TEST(Carries, ProductsOfFloatsKeepTheirOrder) {
  const Expected<OpTrace> trace = parse_trace(R"(trace t : reduction
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x1p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = mul f32 %2 %3
} next %4 -> %5
store out[0] %5
)");
  ASSERT_TRUE(trace) << trace.error().message();
  const CarryInfo info = classify_carries(*trace)[0][0];
  EXPECT_EQ(info.kind, CarryKind::kSequential);
  EXPECT_TRUE(info.is_product);
  EXPECT_EQ(classify(*trace), OpClass::kReduction);
}

}  // namespace
}  // namespace nrd
