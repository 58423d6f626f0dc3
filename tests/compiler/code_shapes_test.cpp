// SPDX-License-Identifier: MIT
// tests/compiler/code_shapes_test.cpp: unrolled loops, divisions by constants and tables: the trace
// is what was meant, and computes what the function does.
#include "code_shapes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "lift/template.h"
#include "tests/seed.h"
#include "trace/interpret.h"
#include "trace/text.h"

namespace nrd {
namespace {

template <class F>
Expected<OpTrace> lifted(F* function) {
  return lift::lift_function(
      {"f", reinterpret_cast<const void*>(function), lift::signature_of(function)});
}

template <class F>
std::string text_of(F* function) {
  const Expected<OpTrace> trace = lifted(function);
  return trace ? trace_text(*trace) : trace.error().message();
}

size_t loops_in(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find("for i"); at != text.npos; at = text.find("for i", at + 1)) count++;
  return count;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

// Integers of every magnitude, and those around multiples of what is divided by.
std::vector<int32_t> integers(size_t count) {
  std::mt19937_64 random(test_seed(1));
  std::vector<int32_t> x(count);
  for (size_t i = 0; i < count; i++) {
    const auto any = static_cast<uint32_t>(random());
    x[i] = static_cast<int32_t>(any >> random() % 32) * (random() % 2 ? 1 : -1);
  }
  const int32_t kSome[] = {0,  1,   2,   3,   6,    7,       10,      11,         12,
                           99, 100, 101, 641, 1923, 1000003, 2000006, 2147483647, -2147483647 - 1,
                           -1, -3,  -7,  -100};
  std::memcpy(x.data(), kSome, sizeof kSome);
  return x;
}

// What function and trace make of the same memory, bit for bit.
template <class T, class U>
void expect_same(void (*function)(const T*, U*, size_t), std::vector<T> x, size_t n) {
  const Expected<OpTrace> trace = lifted(function);
  ASSERT_TRUE(trace) << trace.error().message();
  std::vector<U> want(n + 8, U{77}), got = want;
  function(x.data(), want.data(), n);
  void* pointers[] = {x.data(), got.data()};
  const int64_t sizes[] = {static_cast<int64_t>(n)};
  interpret(*trace, {pointers, sizes, nullptr, nullptr, nullptr, 0});
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(U)), 0) << trace_text(*trace);
}

// A compiler may have made something else of them; whatever it did, nothing changes.
TEST(CodeShapes, UnrolledLoopsComputeTheSame) {
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i) * 0.37f - 5.0f;
  for (size_t n : {0, 1, 3, 4, 5, 8, 63}) {
    expect_same(&rolled_map, x, n);
    expect_same(&rolled_sum, x, n);
    expect_same(&rolled_reverse, x, n);
    expect_same(&odd_copy, x, n);
    expect_same(&other_order, x, n);
  }
}

TEST(CodeShapes, ALoopUnderAConditionRunsNothingElse) {
  const std::string text = text_of(&from_three_on);
  EXPECT_EQ(loops_in(text), 1u) << text;
  std::vector<float> x{1, 2, 3, 4, 5};
  for (size_t n : {0, 1, 2, 3, 5}) expect_same(&from_three_on, x, n);
}

TEST(CodeShapes, QuotientsByConstants) {
  const std::vector<int32_t> x = integers(4000);
  expect_same(&quotients_i32, x, x.size());
  expect_same(&quotients_u32, x, x.size());
  expect_same(&quotients_u8, x, x.size());
  expect_same(&quotients_i64, x, x.size());
  expect_same(&quotients_u64, x, x.size());
  expect_same(&no_quotient, x, x.size());
  EXPECT_LACKS(text_of(&no_quotient), "div_floor");
  EXPECT_HAS(text_of(&blocks_of_twelve), "p1[i0 / 12]");
}

TEST(CodeShapes, TablesAreLookups) {
  const std::vector<int32_t> x = integers(2000);
  expect_same(&table_by_mask, x, x.size());
  expect_same(&table_by_clamp, x, x.size());
  expect_same(&table_by_remainder, x, x.size());
  expect_same(&table_by_condition, x, x.size());
  expect_same(&table_of_two_axes, x, x.size());
  expect_same(&table_of_taps, x, x.size());
  EXPECT_HAS(text_of(&table_by_mask), "table t0 : f32 0x1p-1 -0x0p+0 0x1.8p+1 -0x1.cp+2\n");
  EXPECT_HAS(text_of(&table_by_clamp), "table t0 : i32 -100 1 2 3");
}

TEST(CodeShapes, ATableUnderAnyIndexIsRefused) {
  EXPECT_HAS(text_of(&table_unchecked), "nothing says that it lies within the table");
}

}  // namespace
}  // namespace nrd
