// SPDX-License-Identifier: MIT
// tests/unit/trace_extents_test.cpp: bounds on what a trace touches, against every index counted
// out, and which outputs need their contents.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "parsed.h"
#include "tests/seed.h"
#include "trace/builder.h"
#include "trace/coverage.h"
#include "trace/extents.h"
#include "trace/in_place.h"
#include "trace/text.h"

namespace nrd {
namespace {

// The first operand of a loop over i0 < n with this body.
Extent extent_of(const std::string& body, std::vector<int64_t> sizes,
                 std::vector<LoadedRange> loaded = {}) {
  const OpTrace trace = parsed(
      "trace t : opaque\nparam x : in f32\nparam b : in u8\nparam j : in i32\nparam out : inout "
      "f32\nparam n : size\nparam m : size\n" +
      body);
  return extents(trace, sizes, loaded)[0];
}

std::string loop(const std::string& line) {
  return "for i0 < n {\n" + line + "\nstore out[i0] %9\n}\n";
}

#define EXPECT_EXTENT(got, want_first, want_end) \
  do {                                           \
    const Extent e = got;                        \
    EXPECT_EQ(e.first, want_first);              \
    EXPECT_EQ(e.end, want_end);                  \
  } while (false)

TEST(Extents, AffineAndBlocks) {
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0]"), {7, 1}), 0, 7);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0]"), {0, 1}), 0, 0);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0 + 1]"), {7, 1}), 0, 8);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[n - i0 - 1]"), {7, 1}), 0, 7);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0 / 32]"), {65, 1}), 0, 3);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[(i0 / 32) * 32 + (i0 % 32)]"), {65, 1}), 0, 65);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0 - (i0 / 32) * 32]"), {65, 1}), 0, 32);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0 * m]"), {7, 3}), 0, 19);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[min(i0 + 1, n - 1)]"), {7, 1}), 0, 7);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[max(i0 - 1, 0)]"), {7, 1}), 0, 6);
  EXPECT_EXTENT(extent_of(loop("%9 = load f32 x[i0 - 1]"), {7, 1}), -1, 6);
}

TEST(Extents, Guards) {
  const std::string zero = "%1 = const f32 0x0p+0\n";
  EXPECT_EXTENT(
      extent_of(zero + loop("%2 = cmp gt i0 0\n%9 = load f32 x[i0 - 1] if %2 else %1"), {7, 1}), 0,
      6);
  EXPECT_EXTENT(
      extent_of(zero + loop("%2 = cmp lt (i0 + 1) n\n%9 = load f32 x[i0 + 1] if %2 else %1"),
                {7, 1}),
      0, 7);
  EXPECT_EXTENT(
      extent_of(zero + loop("%2 = cmp b (i0 - 2) n\n%9 = load f32 x[i0 - 2] if %2 else %1"),
                {7, 1}),
      0, 5);
  EXPECT_EXTENT(
      extent_of(zero + loop("%2 = cmp ne i0 0\n%9 = load f32 x[i0 - 1] if %2 else %1"), {7, 1}), 0,
      6);
}

TEST(Extents, Triangles) {
  const std::string text = R"(for i0 < n {
  for i1 < i0 + 1 {
    %9 = load f32 x[i0 - i1]
    store out[i0] %9
  }
})";
  EXPECT_EXTENT(extent_of(text, {9, 1}), 0, 9);
}

TEST(Extents, LoadedIntegersLieInTheirDtype) {
  const std::string byte = loop("%2 = load i32 b[i0]\n%3 = to_i64 %2\n%9 = load f32 x[%3]");
  EXPECT_EXTENT(extent_of(byte, {7, 1}), 0, 256);
  const std::string index = loop("%2 = load i32 j[i0]\n%3 = to_i64 %2\n%9 = load f32 x[%3]");
  EXPECT_GT(extent_of(index, {7, 1}).end, int64_t{1} << 30);
  EXPECT_LT(extent_of(index, {7, 1}).first, 0);
  std::vector<LoadedRange> known(4);
  known[2].integers = Range{2, 5};
  EXPECT_EXTENT(extent_of(index, {7, 1}, known), 0, 6);
}

TEST(Extents, ArithmeticOf32BitsWraps) {
  const std::string text = loop(
      "%2 = to_i32 i0\n%3 = const i32 65536\n%4 = mul i32 %2 %3\n%5 = to_i64 %4\n%9 = "
      "load f32 x[%5]");
  EXPECT_EXTENT(extent_of(text, {4, 1}), 0, 3 * 65536 + 1);
  EXPECT_LT(extent_of(text, {70000, 1}).first, 0);
}

TEST(Extents, FloatsAreClampedBeforeTheyIndex) {
  const std::string clamped = R"(%1 = const f32 0x0p+0
%2 = const f32 0x1.ep+3
)" + loop("%3 = load f32 out[i0]\n%4 = max_first f32 %3 %1\n%5 = min_first f32 %4 %2\n"
          "%6 = to_i64 %5\n%9 = load f32 x[%6]");
  EXPECT_EXTENT(extent_of(clamped, {7, 1}), 0, 16);
  const std::string open = loop("%3 = load f32 out[i0]\n%6 = to_i64 %3\n%9 = load f32 x[%6]");
  EXPECT_FALSE(extent_of(open, {7, 1}).is_bounded());
}

TEST(Extents, CountersThatDataMoves) {
  const std::string text = R"(%1 = const f32 0x0p+0
%2 = const i64 0
%3 = const i64 1
for i0 < n carry %4 = %2 {
  %5 = load f32 out[i0]
  %6 = cmp ogt %5 %1
  %7 = add i64 %4 %3
  %8 = select i64 %6 %7 %4
  %9 = load f32 x[%4]
  store out[i0] %9
} next %8 -> %10
)";
  EXPECT_EXTENT(extent_of(text, {7, 1}), 0, 7);
}

// An index expression, built into a trace and as a function of the counters at once.
struct Index {
  ValueId id;
  std::function<int64_t(int64_t, int64_t)> at;
};

class RandomNest {
 public:
  RandomNest(unsigned seed, int64_t n, int64_t m) : random_(seed), n_(n), m_(m), b_("random") {}

  // Whether every index that is reached lies in the extent.
  void check() {
    const uint16_t x = b_.pointer("x"), out = b_.pointer("out");
    const uint16_t n = b_.size("n"), m = b_.size("m");
    const uint16_t outer = b_.begin_loop(b_.param(n));
    const Index i{b_.iv(outer), [](int64_t i, int64_t) { return i; }};
    leaves_ = {i,
               {b_.param(n), [this](int64_t, int64_t) { return n_; }},
               {b_.param(m), [this](int64_t, int64_t) { return m_; }}};
    const Index inner_extent = make(1);
    const uint16_t inner = b_.begin_loop(inner_extent.id);
    leaves_.push_back({b_.iv(inner), [](int64_t, int64_t j) { return j; }});
    const Index index = make(3), left = make(2), right = make(2);
    const bool guarded = random_() % 2;
    const ValueId guard = b_.compare(Predicate::kLt, left.id, right.id);
    const ValueId loaded =
        b_.load(x, index.id, guarded ? guard : kNoValue, guarded ? b_.f32(0) : kNoValue);
    b_.store(out, b_.i64(0), loaded);
    b_.end_loop();
    b_.end_loop();
    const OpTrace trace = b_.finish();
    const std::vector<int64_t> sizes = {n_, m_};
    const Extent e = extents(trace, sizes)[0];
    for (int64_t i0 = 0; i0 < n_; i0++)
      for (int64_t i1 = 0; i1 < inner_extent.at(i0, 0); i1++) {
        if (guarded && left.at(i0, i1) >= right.at(i0, i1)) continue;
        const int64_t at = index.at(i0, i1);
        ASSERT_TRUE(at >= e.first && at < e.end) << at << " outside " << e.first << ".." << e.end
                                                 << " with n " << n_ << " m " << m_ << "\n"
                                                 << trace_text(trace);
      }
  }

 private:
  Index binary(TraceOp op, const Index& a, const Index& b,
               std::function<int64_t(int64_t, int64_t)> f) {
    return {b_.pure(op, TraceType::kI64, a.id, b.id),
            [a, b, f](int64_t i, int64_t j) { return f(a.at(i, j), b.at(i, j)); }};
  }

  Index constant(int64_t value) {
    return {b_.i64(value), [value](int64_t, int64_t) { return value; }};
  }

  Index make(int depth) {
    if (depth == 0 || random_() % 8 == 0)
      return random_() % 4 == 0 ? constant(static_cast<int64_t>(random_() % 9) - 4)
                                : leaves_[random_() % leaves_.size()];
    const Index a = make(depth - 1);
    const Index c = constant(1 + static_cast<int64_t>(random_() % 6));
    switch (random_() % 9) {
      case 0:
      case 1: return binary(TraceOp::kAdd, a, make(depth - 1), std::plus<int64_t>());
      case 2: return binary(TraceOp::kSub, a, make(depth - 1), std::minus<int64_t>());
      case 3: return binary(TraceOp::kMul, a, c, std::multiplies<int64_t>());
      case 4: return binary(TraceOp::kDivFloor, a, c, floor_div);
      case 5:
        return binary(TraceOp::kModFloor, a, c,
                      [](int64_t x, int64_t y) { return x - floor_div(x, y) * y; });
      case 6: {
        const Index b = make(depth - 1);
        return binary(TraceOp::kMin, a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
      }
      case 7: {
        const Index b = make(depth - 1);
        return binary(TraceOp::kMax, a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
      }
      default: {
        const Index b = make(depth - 1), left = make(depth - 1), right = make(depth - 1);
        const ValueId condition = b_.compare(Predicate::kLe, left.id, right.id);
        return {b_.select(condition, a.id, b.id), [a, b, left, right](int64_t i, int64_t j) {
                  return left.at(i, j) <= right.at(i, j) ? a.at(i, j) : b.at(i, j);
                }};
      }
    }
  }

  static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

  std::mt19937 random_;
  int64_t n_, m_;
  TraceBuilder b_;
  std::vector<Index> leaves_;
};

TEST(Extents, HoldEveryIndexOfRandomNests) {
  const auto start = static_cast<unsigned>(test_seed(0));
  for (unsigned k = 0; k < 5000 && !HasFatalFailure(); k++) {
    SCOPED_TRACE(start + k);
    RandomNest(start + k, k % 7, 1 + k % 5).check();
  }
}

std::vector<bool> contents(const std::string& body, std::vector<int64_t> sizes,
                           std::vector<int64_t> elements) {
  return needs_contents(parsed("trace t : opaque\nparam x : in f32\nparam out : inout f32\nparam n "
                               ": size\n" +
                               body),
                        sizes, elements);
}

TEST(Coverage, TellsOutputsThatNeedTheirContents) {
  using List = std::vector<bool>;
  const std::string plain = "for i0 < n {\n%1 = load f32 x[i0]\nstore out[i0] %1\n}\n";
  EXPECT_EQ(contents(plain, {5}, {5, 5}), (List{false, false}));
  EXPECT_EQ(contents(plain, {5}, {5, 6}), (List{false, true})) << "one is left over";
  const std::string added =
      "for i0 < n {\n%1 = load f32 x[i0]\n%2 = load f32 out[i0]\n%3 = add f32 %1 %2\nstore "
      "out[i0] %3\n}\n";
  EXPECT_EQ(contents(added, {5}, {5, 5}), (List{false, true}));
  const std::string read_back =
      plain + "for i1 < n {\n%2 = load f32 out[i1]\nstore out[i1] %2\n}\n";
  EXPECT_EQ(contents(read_back, {5}, {5, 5}), (List{false, false}));
  const std::string some =
      "%0 = const f32 0x0p+0\nfor i0 < n {\n%1 = load f32 x[i0]\n%2 = cmp ogt %1 %0\nstore "
      "out[i0] %1 if %2\n}\n";
  EXPECT_EQ(contents(some, {5}, {5, 5}), (List{false, true}));
  const std::string pairs =
      "for i0 < n / 2 {\n%1 = load f32 x[2 * i0]\nstore out[2 * i0] %1\nstore out[2 * i0 + 1] "
      "%1\n}\n";
  EXPECT_EQ(contents(pairs, {6}, {6, 6}), (List{false, false}));
  EXPECT_EQ(contents(pairs, {7}, {7, 7}), (List{false, true})) << "the last of an odd number";
}

TEST(Extents, TablesBoundAnIndex) {
  const OpTrace trace = parsed(R"(trace t : gather
param x : in f32
param out : out f32
param n : size
table t0 : i32 5 2 9 3
for i0 < n {
  %1 = to_i32 (i0 % 4)
  %2 = lookup i32 t0 %1
  %3 = to_i64 %2
  %4 = load f32 x[4 * i0 + %3]
  store out[i0] %4
}
)");
  const int64_t sizes[] = {3};
  EXPECT_EXTENT(extents(trace, sizes, {})[0], 0, 18);
}

// x[i >> s] is as long as out where s is 0, and another element is read than is stored where it is
// not.
TEST(InPlace, AnIntegerMayMakeAnInputAsLongAsTheOutput) {
  const auto trace_with = [](const char* index) {
    return parsed(std::string("trace t : elementwise\nparam x : in f32\nparam out : out f32\n"
                              "param n : size\nparam s : size\n%1 = to_i32 s\nfor i0 < n {\n"
                              "%2 = to_i32 i0\n%3 = sar i32 %2 %1\n%4 = to_i64 %3\n"
                              "%5 = load f32 x[") +
                  index + "]\nstore out[i0] %5\n}\n");
  };
  EXPECT_FALSE(reads_where_it_stores(trace_with("%4")));
  EXPECT_TRUE(reads_where_it_stores(trace_with("i0")));
  EXPECT_TRUE(reads_where_it_stores(trace_with("i0 / 32")));
}

}  // namespace
}  // namespace nrd
