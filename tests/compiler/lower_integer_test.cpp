// SPDX-License-Identifier: MIT
// tests/compiler/lower_integer_test.cpp: quotients and remainders in generated code, for every
// divisor: nothing traps, and each element is the trace's.
#include "jit/size_value.h"
#include "lower_run.h"
#include "trace/interpret.h"

namespace nrd::jit {
namespace {

// out[i] of a trace that stores i32 to its first pointer, from words at its second.
std::vector<int32_t> interpreted(const OpTrace& trace, std::vector<int64_t> sizes,
                                 std::vector<int32_t>& x) {
  std::vector<int32_t> out(static_cast<size_t>(sizes[0]) + 1, -77);
  void* pointers[] = {out.data(), x.data()};
  interpret(trace, {pointers, sizes.data(), nullptr, nullptr, nullptr, 0});
  return out;
}

std::vector<int32_t> run(const Lowered& lowered, const Runnable& code,
                         const std::vector<int64_t>& sizes, const std::vector<int32_t>& x) {
  std::vector<int32_t> out(static_cast<size_t>(sizes[0]) + 1, -77);
  ArgumentBlock block(lowered.layout);
  block.set_pointer(0, out.data());
  block.set_pointer(1, x.data());
  for (size_t i = 0; i < sizes.size(); i++) block.set_size(static_cast<int>(i), sizes[i]);
  code.run(block);
  return out;
}

void check(const std::string& body, const std::vector<int64_t>& divisors,
           std::vector<int32_t> x = std::vector<int32_t>(200, 0)) {
  const OpTrace trace = parsed(
      "trace f : opaque\nparam out : out i32\nparam x : in i32\nparam n : size\nparam m : size\n"
      "for i0 < n {\n" +
      body + "store out[i0] %9\n}\n");
  Binding binding;
  binding.dtypes = {DType::kI32, DType::kI32};
  for (const Machine& machine : machines()) {
    const auto lowered = lower(trace, binding, machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    const Runnable code(lowered->program, machine);
    for (const int64_t n : {0, 1, 5, 16, 67, 130})
      for (const int64_t m : divisors)
        EXPECT_EQ(run(*lowered, code, {n, m}, x), interpreted(trace, {n, m}, x))
            << machine.target.isa << " n " << n << " m " << m << "\n"
            << body;
  }
}

const std::vector<int64_t> kDivisors = {1,
                                        2,
                                        3,
                                        5,
                                        7,
                                        8,
                                        15,
                                        16,
                                        17,
                                        31,
                                        100,
                                        -1,
                                        -3,
                                        -100,
                                        0,
                                        1 << 20,
                                        (1 << 20) + 1,
                                        1 << 24,
                                        1 << 30,
                                        int64_t{1} << 40,
                                        INT64_MAX,
                                        -INT64_MAX,
                                        INT64_MIN};

TEST(LowerInteger, QuotientsOfTheCounterByASize) {
  check("%9 = to_i32 (i0 / m)\n", kDivisors);
  check("%9 = to_i32 (i0 % m)\n", kDivisors);
}

// Counts of 64 bits, where lanes have 32.
TEST(LowerInteger, ShiftsByMoreThanALane) {
  const std::vector<int64_t> counts{0, 1, 5, 31, 32, 33, 63, 64, 97};
  check("%1 = sar i64 i0 m\n%9 = to_i32 %1\n", counts);
  check("%1 = sar i64 (i0 - n) m\n%9 = to_i32 %1\n", counts);
  check("%1 = const i64 40\n%2 = sar i64 (i0 - n) %1\n%9 = to_i32 %2\n", {1});
}

TEST(LowerInteger, QuotientsOfLinearIndices) {
  check("%9 = to_i32 ((3 * i0 + 11) / m)\n", kDivisors);
  check("%9 = to_i32 ((3 * i0 + 11) % m)\n", kDivisors);
  check("%9 = to_i32 ((i0 - 20) / m)\n", kDivisors);
  check("%9 = to_i32 ((i0 - 20) % m)\n", kDivisors);
}

// The dividend that has no opposite, and the quotient that wraps.
TEST(LowerInteger, QuotientsOfTheLeastInteger) {
  const std::string least = "%1 = const i64 -9223372036854775808\n";
  for (const char* op : {"div_floor", "mod_floor"})
    check(least + "%2 = " + op + " i64 %1 m\n%3 = const i64 32\n%4 = sar i64 %2 %3\n" +
              "%9 = to_i32 %4\n",
          kDivisors);
}

TEST(LowerInteger, ConstantsThatAreNoPowersOfTwo) {
  for (const char* body :
       {"%9 = to_i32 (i0 / 10)\n", "%9 = to_i32 (i0 % 3)\n", "%9 = to_i32 ((2 * i0 + 1) % 7)\n"})
    check(body, {1});
}

// Lane by lane.
TEST(LowerInteger, QuotientsOfQuotients) {
  check("%9 = to_i32 (i0 / m % 5)\n", {1, 2, 7, 100});
  check("%9 = to_i32 ((100 - i0) % m)\n", {1, 2, 7, 100});
}

TEST(LowerInteger, QuotientsOfData) {
  std::vector<int32_t> x(200);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<int32_t>(i * 0x9e3779b9u);
  x[3] = INT32_MIN;
  check("%1 = load i32 x[i0]\n%2 = to_i32 m\n%9 = div_floor i32 %1 %2\n", {1, 3, -3, 0, -1, 1000},
        x);
  check("%1 = load i32 x[i0]\n%2 = to_i32 m\n%9 = mod_floor i32 %1 %2\n", {1, 3, -3, 0, -1, 1000},
        x);
}

// What is shared out among threads and how long rows are: any arithmetic on sizes.
TEST(LowerInteger, LengthsAreKnownAhead) {
  const OpTrace trace = parsed(
      "trace f : opaque\nparam x : in f32\nparam out : out f32\nparam n : size\n"
      "%1 = to_i32 n\n%2 = const i32 1\n%3 = and i32 %1 %2\n%4 = const i32 0\n"
      "%5 = cmp ne %3 %4\n%6 = select i64 %5 (n - 1) n\n"
      "for i0 < %6 / 2 {\n%7 = load f32 x[i0]\nstore out[i0] %7\n}\n");
  const ValueId extent = trace.loops[0].extent;
  EXPECT_TRUE(is_known_ahead(trace, extent));
  for (int64_t n = 0; n < 40; n++)
    EXPECT_EQ(evaluate_size(trace, extent, std::vector<int64_t>{n}), n / 2);
  const OpTrace by_data = parsed(
      "trace f : opaque\nparam x : in i32\nparam out : out f32\nparam n : size\n"
      "%1 = load i32 x[0]\n%2 = to_i64 %1\n%3 = const f32 0x1p+0\n"
      "for i0 < %2 {\nstore out[i0] %3\n}\n");
  EXPECT_FALSE(is_known_ahead(by_data, by_data.loops[0].extent));
}

// 64-bit arithmetic on data needs more than a lane has.
TEST(LowerInteger, WideDataIsRefused) {
  const OpTrace trace = parsed(
      "trace f : opaque\nparam out : out i32\nparam x : in i32\nparam n : size\n"
      "%8 = const i64 16\n"
      "for i0 < n {\n%1 = load i32 x[i0]\n%2 = to_i64 %1\n%3 = mul i64 %2 %2\n%4 = sar i64 %3 %8\n"
      "%9 = to_i32 %4\nstore out[i0] %9\n}\n");
  Binding binding;
  binding.dtypes = {DType::kI32, DType::kI32};
  const auto lowered = lower(trace, binding, machines()[0].target);
  ASSERT_FALSE(lowered);
  EXPECT_NE(lowered.error().message().find("64-bit arithmetic on data"), std::string::npos);
}

}  // namespace
}  // namespace nrd::jit
