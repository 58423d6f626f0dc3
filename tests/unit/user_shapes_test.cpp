// SPDX-License-Identifier: MIT
// tests/unit/user_shapes_test.cpp: users' functions whose operands are no mere arrays of n: shapes
// from what is touched, in-out operands, integer attributes, and what is refused because of them.
#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <limits>

#include "nereid/nereid.h"
#include "user_functions.h"

namespace {

using nereid::TensorView;
using Floats = std::vector<float>;

Floats ramp(size_t n) {
  Floats x(n);
  for (size_t i = 0; i < n; i++) x[i] = 0.25f * static_cast<float>(i % 23) - 2;
  return x;
}

// A call that keeps its views.
class Call {
 public:
  explicit Call(const char* op, const char* backend = nullptr) : call_(op, {.backend = backend}) {}
  Call& operand(const char* name, TensorView view) {
    call_.operand(name, views_.emplace_back(view));
    return *this;
  }
  template <class T>
  Call& attribute(const char* name, T value) {
    call_.attribute(name, value);
    return *this;
  }
  void run() { call_.run(); }

 private:
  nereid::Call call_;
  std::deque<TensorView> views_;
};

// The message of a call that must fail.
template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const nereid::KernelError& e) {
    return e.what();
  }
  return "no error";
}

#define EXPECT_ERROR(call, words)                                 \
  do {                                                            \
    const std::string message = error_of([&] { call; });          \
    EXPECT_NE(message.find(words), std::string::npos) << message; \
  } while (false)

TEST(UserShapes, BlocksRoundUp) {
  const nereid::Registered r = nereid::register_op("s_scaled", &user_scaled);
  EXPECT_EQ(r.signature, "x[n] y[ceil(n/32)] -> out[n] ; core n");
  const Floats x = ramp(3 * 70), s = {2, 3, 5};
  Floats out(x.size());
  const TensorView rows(x, {3, 70}), scales(s), result(out, {3, 70});
  Call("s_scaled").operand("x", rows).operand("y", scales).operand("out", result).run();
  for (size_t i = 0; i < out.size(); i++) EXPECT_EQ(out[i], x[i] * s[i % 70 / 32]) << i;
  const TensorView two(s.data(), {2});
  EXPECT_ERROR(Call("s_scaled").operand("x", rows).operand("y", two).operand("out", result).run(),
               "ceil(n/32)");
}

TEST(UserShapes, OneMoreThanN) {
  const nereid::Registered r = nereid::register_op("s_next", &user_next);
  EXPECT_EQ(r.signature, "x[n+1] -> out[n] ; core n");
  const Floats x = ramp(8);
  Floats out(7);
  Call("s_next").operand("x", TensorView(x)).operand("out", TensorView(out)).run();
  for (size_t i = 0; i < 7; i++) EXPECT_EQ(out[i], x[i + 1] - x[i]);
}

TEST(UserShapes, AContradictionNamesTheAccess) {
  EXPECT_ERROR(nereid::register_op("s_contradiction", &user_next, "x[n] -> out[n] ; core n"),
               "x[i0+1] reaches element");
}

TEST(UserShapes, SquaresAndLimitsOfCTypes) {
  const nereid::Registered r = nereid::register_op("s_square", &user_square);
  EXPECT_EQ(r.signature, "x[n,n] -> out[n,n] ; core n");
  const Floats x = ramp(25);
  Floats out(25);
  const TensorView square(x, {5, 5}), result(out, {5, 5});
  Call("s_square").operand("x", square).operand("out", result).run();
  for (size_t i = 0; i < 25; i++) EXPECT_EQ(out[i], x[i % 5 * 5 + i / 5]) << i;
}

TEST(UserShapes, ATableUnderBytesIsWhole) {
  const nereid::Registered r = nereid::register_op("s_bytes", &user_bytes);
  EXPECT_EQ(r.signature, "x[256] y[n]:int8 -> out[n] ; core n");
  const Floats table = ramp(256);
  const std::vector<uint8_t> b = {0, 255, 7};
  Floats out(3);
  Call("s_bytes")
      .operand("x", TensorView(table))
      .operand("y", TensorView(b))
      .operand("out", TensorView(out))
      .run();
  EXPECT_EQ(out, (Floats{table[0], table[255], table[7]}));
}

TEST(UserShapes, ASmallTableHasItsIndicesChecked) {
  const nereid::Registered r =
      nereid::register_op("s_small", &user_bytes, "x[rows] y[n] -> out[n] ; core n ; any rows");
  EXPECT_TRUE(r.proved) << r.reason;
  const Floats table = ramp(16);
  std::vector<uint8_t> b = {0, 15, 7};
  Floats out(3);
  Call call("s_small");
  call.operand("x", TensorView(table)).operand("y", TensorView(b)).operand("out", TensorView(out));
  call.run();
  EXPECT_EQ(out, (Floats{table[0], table[15], table[7]}));
  b[1] = 16;
  EXPECT_ERROR(call.run(), "16 at element 1, allowed: 0 to 15");
}

TEST(UserShapes, IndicesOfAnyTypeAreChecked) {
  const nereid::Registered r = nereid::register_op("s_gather", &user_gather);
  EXPECT_EQ(r.signature, "x[x_rows] y[n]:i32 -> out[n] ; core n ; any x_rows");
  const Floats x = ramp(10);
  std::vector<int32_t> j = {9, 0, 3};
  Floats out(3);
  Call call("s_gather");
  call.operand("x", TensorView(x)).operand("y", TensorView(j)).operand("out", TensorView(out));
  call.run();
  EXPECT_EQ(out, (Floats{2 * x[9], 2 * x[0], 2 * x[3]}));
  j[2] = -1;
  EXPECT_ERROR(call.run(), "-1 at element 2");
  j[2] = 10;
  EXPECT_ERROR(call.run(), "10 at element 2");
}

TEST(UserShapes, FloatsThatBecomeIndicesAreChecked) {
  const nereid::Registered r = nereid::register_op("s_by_float", &user_by_float,
                                                   "x[rows] y[n] -> out[n] ; core n ; any rows");
  const Floats x = ramp(10);
  Floats at = {9.75f, 0.5f, -0.5f}, out(3);
  Call call("s_by_float");
  call.operand("x", TensorView(x)).operand("y", TensorView(at)).operand("out", TensorView(out));
#if defined(__aarch64__)
  if (!r.proved) GTEST_SKIP() << "conversions that saturate are not bounded: " << r.reason;
#endif
  ASSERT_TRUE(r.proved) << r.reason;
  call.run();
  EXPECT_EQ(out, (Floats{x[9], x[0], x[0]}));
  at[1] = 10;
  EXPECT_ERROR(call.run(), "10 at element 1");
  at[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(call.run(), "nan at element 1");
}

// Contiguous, strided and in other dtypes: the converting paths carry contents in.
TEST(UserShapes, OutputsThatAreReadKeepTheirContents) {
  EXPECT_EQ(nereid::register_op("s_add_to", &user_add_to).signature, "x[n] -> out&[n] ; core n*");
  EXPECT_EQ(nereid::register_op("s_positive", &user_where_positive).signature,
            "x[n] -> out&[n] ; core n*");
  for (const char* backend : {"cpu", "scalar"})
    for (const bool strided : {false, true})
      for (const bool half : {false, true}) {
        const size_t n = 50, step = strided ? 3 : 1;
        const Floats x = ramp(n);
        for (const bool add : {true, false}) {
          Floats wide(n * step, 8);
          std::vector<uint16_t> narrow(n * step, 0x4100);  // 8 in bf16
          const TensorView out =
              half ? TensorView(narrow.data(), nereid::bf16, {static_cast<int64_t>(n)},
                                {static_cast<int64_t>(step)})
                   : TensorView(wide.data(), nereid::f32, {static_cast<int64_t>(n)},
                                {static_cast<int64_t>(step)});
          Call(add ? "s_add_to" : "s_positive", backend)
              .operand("x", TensorView(x))
              .operand("out", out)
              .run();
          for (size_t i = 0; i < n; i++) {
            const float got =
                half ? std::bit_cast<float>(uint32_t{narrow[i * step]} << 16) : wide[i * step];
            EXPECT_EQ(got, add        ? 8 + x[i]
                           : x[i] > 0 ? x[i]
                                      : 8)
                << backend << strided << half << add << " at " << i;
          }
        }
      }
}

TEST(UserShapes, OutputsOfUnreadCodeKeepTheirContents) {
  const nereid::Registered r =
      nereid::register_op("s_until", &user_until, "x[n] -> out[n] ; core n");
  EXPECT_FALSE(r.proved);
  EXPECT_EQ(r.signature, "x[n] -> out&[n] ; core n");
}

TEST(UserShapes, IntegersThatAreNoSizesAreAttributes) {
  const nereid::Registered r = nereid::register_op("s_times", &user_times);
  EXPECT_EQ(r.signature, "x[n] -> out[n] ; core n*,m ; int m=1");
  const Floats x = ramp(40);
  Floats out(40);
  auto run = [&](auto... m) {
    Call call("s_times");
    (call.attribute("m", m), ...);
    call.operand("x", TensorView(x)).operand("out", TensorView(out)).run();
  };
  run();
  EXPECT_EQ(out, x);
  for (const int m : {3, 0, -2}) {
    run(m);
    for (size_t i = 0; i < 40; i++) EXPECT_EQ(out[i], x[i] * static_cast<float>(m));
  }
  run("7");
  EXPECT_EQ(out[5], x[5] * 7);
  EXPECT_ERROR(run(2.5), "an integer");
  EXPECT_ERROR(run("two"), "an integer");
  EXPECT_ERROR(run(int64_t{1} << 40), "type int");
}

TEST(UserShapes, AnAttributeMayStandInAShape) {
  const nereid::Registered r = nereid::register_op("s_window", &user_window);
  EXPECT_EQ(r.signature, "x[n+m-1] -> out[n] ; core n,m ; int m=1");
  const Floats x = ramp(12);
  Floats out(10);
  Call call("s_window");
  call.attribute("m", 3).operand("x", TensorView(x)).operand("out", TensorView(out));
  call.run();
  for (size_t i = 0; i < 10; i++) EXPECT_EQ(out[i], x[i] + x[i + 1] + x[i + 2]);
  Call more("s_window");
  more.attribute("m", 4).operand("x", TensorView(x)).operand("out", TensorView(out));
  EXPECT_ERROR(more.run(), "shape [13]");
}

}  // namespace
