// SPDX-License-Identifier: MIT
// tests/unit/trace_classify_test.cpp: polynomials of indices, kinds of carries, classes of traces.
#include <gtest/gtest.h>

#include "parsed.h"
#include "trace/builder.h"
#include "trace/classify.h"
#include "trace/poly.h"
#include "trace/text.h"
#include "trace_texts.h"

namespace nrd {
namespace {

using namespace trace_texts;

// A map over n with one input and one output, and the body given.
OpTrace map_of(const std::string& body) {
  return parsed(
      "trace t : opaque\nparam x : in f32\nparam y : in f32\nparam out : inout f32\n"
      "param n : size\nparam m : size\nfor i0 < n {\n" +
      body + "}\n");
}

// A reduction of x over n whose carried value moves on as the body says: %2 is the carry, %3 an
// element, %9 the next one.
OpTrace fold_of(const std::string& body) {
  return parsed(
      "trace t : opaque\nparam x : in f32\nparam out : out f32\nparam n : size\n"
      "%1 = const f32 0\nfor i0 < n carry %2 = %1 {\n%3 = load f32 x[i0]\n" +
      body + "} next %9 -> %10\nstore out[0] %10\n");
}

std::string_view fold_kind(const std::string& body) {
  return carry_kind_word(classify_carries(fold_of(body))[0][0].kind);
}

TEST(Poly, EqualIndicesAreEqual) {
  TraceBuilder b("t");
  const ValueId n = b.param(b.size("n"));
  const uint16_t loop = b.begin_loop(n);
  const ValueId i = b.iv(loop);
  auto make = [&](TraceOp op, ValueId x, ValueId y) { return b.pure(op, TraceType::kI64, x, y); };
  // (i + 1) * n - n == n * i
  const ValueId left =
      make(TraceOp::kSub, make(TraceOp::kMul, make(TraceOp::kAdd, i, b.i64(1)), n), n);
  const ValueId right = make(TraceOp::kMul, n, i);
  const Poly p = poly_of(b.trace(), left);
  EXPECT_EQ(p, poly_of(b.trace(), right));
  EXPECT_FALSE(p == p + Poly::constant(1));
  EXPECT_TRUE((p - p).is_zero());
  EXPECT_EQ((p - p + Poly::constant(7)).as_constant(), 7);
  EXPECT_TRUE(depends_on(b.trace(), p, i));
  EXPECT_FALSE(depends_on(b.trace(), Poly::atom(n), i));
  const auto linear = linear_in(b.trace(), p + Poly::atom(n) + Poly::constant(3), i);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->coefficient, Poly::atom(n));
  EXPECT_EQ(linear->rest, Poly::atom(n) + Poly::constant(3));
  EXPECT_FALSE(linear_in(b.trace(), p * Poly::atom(i), i));
  const ValueId block = make(TraceOp::kDivFloor, i, b.i64(128));
  EXPECT_FALSE(linear_in(b.trace(), poly_of(b.trace(), block), i));
}

TEST(Poly, ValuesComeBackInOneForm) {
  TraceBuilder b("t");
  const uint16_t out = b.pointer("out");
  const ValueId n = b.param(b.size("n"));
  const ValueId zero = b.f32(0);
  const uint16_t outer = b.begin_loop(n);
  const uint16_t inner = b.begin_loop(n);
  const Poly i = Poly::atom(b.iv(outer)), j = Poly::atom(b.iv(inner)), size = Poly::atom(n);
  b.store(out, value_of(j - size + size * i * Poly::constant(2) - Poly::constant(5), b), zero);
  b.store(out, value_of(Poly(), b), zero);
  b.end_loop();
  b.end_loop();
  const std::string text = trace_text(b.finish());
  EXPECT_NE(text.find("store out[2 * i0 * n + i1 - n - 5] %1"), std::string::npos) << text;
  EXPECT_NE(text.find("store out[0] %1"), std::string::npos) << text;
}

TEST(Poly, SurvivesDoublingAndHighDegrees) {
  TraceBuilder b("t");
  const ValueId n = b.param(b.size("n"));
  ValueId doubled = n;
  ValueId power = n;
  for (int i = 0; i < 60; i++) doubled = b.pure(TraceOp::kAdd, TraceType::kI64, doubled, doubled);
  for (int i = 0; i < 12; i++) power = b.pure(TraceOp::kMul, TraceType::kI64, power, n);
  (void)poly_of(b.trace(), doubled);
  EXPECT_EQ(poly_of(b.trace(), power), poly_of(b.trace(), power));
}

TEST(Carries, Kinds) {
  EXPECT_EQ(fold_kind("%9 = add f32 %2 %3\n"), "sum");
  EXPECT_EQ(fold_kind("%9 = add f32 %3 %2\n"), "sum");
  EXPECT_EQ(fold_kind("%9 = sub f32 %2 %3\n"), "sum");
  EXPECT_EQ(fold_kind("%9 = sub f32 %3 %2\n"), "sequential");
  EXPECT_EQ(fold_kind("%9 = fma f32 %3 %3 %2\n"), "sum");
  EXPECT_EQ(fold_kind("%9 = fma f32 %3 %2 %3\n"), "sequential");
  EXPECT_EQ(fold_kind("%4 = add f32 %2 %3\n%9 = add f32 %4 %3\n"), "sum");
  EXPECT_EQ(fold_kind("%4 = add f32 %2 %3\n%9 = mul f32 %4 %3\n"), "sequential");
  EXPECT_EQ(fold_kind("%9 = mul f32 %2 %3\n"), "sequential");  // see CarryInfo::is_product
  EXPECT_EQ(fold_kind("%9 = max_first f32 %3 %2\n"), "max_first");
  EXPECT_EQ(fold_kind("%9 = max_first f32 %2 %3\n"), "sequential");
  EXPECT_EQ(fold_kind("%9 = min_first f32 %3 %2\n"), "min_first");
  EXPECT_EQ(fold_kind("%9 = max_nan f32 %2 %3\n"), "max_nan");
  EXPECT_EQ(fold_kind("%9 = max_nan f32 %3 %2\n"), "max_nan");
  EXPECT_EQ(fold_kind("%9 = min_num f32 %3 %2\n"), "min_num");
  EXPECT_EQ(fold_kind("%9 = exp f32 %2\n"), "sequential");
  EXPECT_EQ(carry_kind_word(classify_carries(parsed(R"(trace t : opaque
param out : out f32
param n : size
%1 = const f32 0
for i0 < n carry %2 = %1 {
} next %2 -> %3
store out[0] %3
)"))[0][0]
                                .kind),
            "constant");
}

TEST(Carries, SelectsAreExtremaToo) {
  EXPECT_EQ(fold_kind("%4 = cmp ogt %3 %2\n%9 = select f32 %4 %3 %2\n"), "max_first");
  EXPECT_EQ(fold_kind("%4 = cmp olt %2 %3\n%9 = select f32 %4 %3 %2\n"), "max_first");
  EXPECT_EQ(fold_kind("%4 = cmp ule %3 %2\n%9 = select f32 %4 %2 %3\n"), "max_first");
  EXPECT_EQ(fold_kind("%4 = cmp ogt %2 %3\n%9 = select f32 %4 %2 %3\n"), "sequential");
  EXPECT_EQ(fold_kind("%4 = cmp olt %3 %2\n%9 = select f32 %4 %3 %2\n"), "min_first");
  EXPECT_EQ(fold_kind("%4 = cmp ogt %2 %3\n%5 = cmp une %2 %2\n%6 = or bool %4 %5\n"
                      "%9 = select f32 %6 %2 %3\n"),
            "max_nan");
  EXPECT_EQ(fold_kind("%4 = cmp ule %2 %3\n%5 = cmp ord %2 %2\n%6 = and bool %4 %5\n"
                      "%9 = select f32 %6 %3 %2\n"),
            "max_nan");
}

TEST(Carries, ReasonsAreGiven) {
  const Carries order = classify_carries(fold_of("%9 = max_first f32 %2 %3\n"));
  EXPECT_NE(order[0][0].reason.find("NaN"), std::string_view::npos);
  const Carries prefix = classify_carries(parsed(kPrefixSum));
  EXPECT_NE(prefix[0][0].reason.find("elsewhere"), std::string_view::npos);
}

TEST(Carries, PassThroughInnerLoops) {
  const OpTrace trace = parsed(kTensorQuantize);
  const Carries carries = classify_carries(trace);
  EXPECT_EQ(carries[0][0].kind, CarryKind::kMaxFirst);
  EXPECT_EQ(carries[1][0].kind, CarryKind::kMaxFirst);
  EXPECT_EQ(carries[0][0].element, kNoValue);
  EXPECT_NE(carries[1][0].element, kNoValue);
}

TEST(Carries, ArgumentsKnowTheirExtremum) {
  const Carries nan = classify_carries(parsed(kArgmax));
  EXPECT_EQ(nan[0][0].kind, CarryKind::kMaxNan);
  EXPECT_EQ(nan[0][1].kind, CarryKind::kArg);
  EXPECT_EQ(nan[0][1].extremum, 0);

  auto plain = [](const char* steps) {
    const OpTrace trace = parsed(std::string(R"(trace t : opaque
param x : in f32
param index : out i32
param n : size
%1 = const f32 -inf
%2 = const i32 0
for i0 < n carry %3 = %1, %4 = %2 {
  %5 = load f32 x[i0]
  %12 = to_i32 i0
)") + steps + "} next %11, %13 -> %14, %15\nstore index[0] %15\n");
    EXPECT_EQ(classify(trace) == OpClass::kArgmax,
              classify_carries(trace)[0][1].kind == CarryKind::kArg);
    return std::string(carry_kind_word(classify_carries(trace)[0][0].kind)) + " " +
           std::string(carry_kind_word(classify_carries(trace)[0][1].kind));
  };
  EXPECT_EQ(plain("%6 = cmp ogt %5 %3\n%11 = max_first f32 %5 %3\n%13 = select i32 %6 %12 %4\n"),
            "max_first arg");
  EXPECT_EQ(plain("%6 = cmp olt %5 %3\n%11 = select f32 %6 %5 %3\n%13 = select i32 %6 %12 %4\n"),
            "min_first arg");
  EXPECT_EQ(plain("%6 = cmp ule %5 %3\n%11 = max_first f32 %5 %3\n%13 = select i32 %6 %4 %12\n"),
            "max_first arg");
  // The last of equals, and a condition that is not the extremum's.
  EXPECT_EQ(plain("%6 = cmp oge %5 %3\n%11 = max_first f32 %5 %3\n%13 = select i32 %6 %12 %4\n"),
            "sequential sequential");
  EXPECT_EQ(plain("%6 = cmp olt %5 %3\n%11 = max_first f32 %5 %3\n%13 = select i32 %6 %12 %4\n"),
            "sequential sequential");
}

TEST(Classify, HandWrittenTracesHaveTheClassTheyState) {
  for (const char* text : kAll) {
    const OpTrace trace = parsed(text);
    EXPECT_EQ(op_class_word(classify(trace)), op_class_word(trace.op_class)) << trace.name;
  }
}

TEST(Classify, Maps) {
  auto word = [](const std::string& body) { return op_class_word(classify(map_of(body))); };
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[i0] %1\n"), "elementwise");
  EXPECT_EQ(word("%1 = load f32 x[0]\nstore out[i0] %1\n"), "elementwise");
  EXPECT_EQ(word("%1 = load f32 x[i0 / 128]\nstore out[i0] %1\n"), "elementwise");
  EXPECT_EQ(word("%1 = load f32 out[i0]\nstore out[i0] %1\n"), "elementwise");
  // Not at the loop's own index.
  EXPECT_EQ(word("%1 = load f32 x[i0 + 1]\nstore out[i0] %1\n"), "opaque");
  EXPECT_EQ(word("%1 = load f32 x[n - 1 - i0]\nstore out[i0] %1\n"), "opaque");
  // Iterations that depend on each other, or overwrite each other.
  EXPECT_EQ(word("%1 = load f32 out[i0 + 1]\nstore out[i0] %1\n"), "opaque");
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[0] %1\n"), "opaque");
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[i0 / 2] %1\n"), "opaque");
  // Pairs that meet those of the next iteration.
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[i0] %1\nstore out[i0 + 1] %1\n"), "opaque");
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[2 * i0] %1\nstore out[2 * i0 + 1] %1\n"),
            "pairwise");
  EXPECT_EQ(word("%1 = load f32 x[i0]\nstore out[i0] %1\nstore out[i0 + n] %1\n"), "pairwise");
}

TEST(Classify, ScalarsBesideMapsAreNorms) {
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace fp8_quantize_row_saturate : norm
param x : in f32
param scale_in : in f32
param q : out f32
param scale : out f32
param cols : size
param type_q : int
%1 = param i32 type_q
%2 = load f32 scale_in[0]
store scale[0] %2
for i0 < cols {
  %3 = load f32 x[i0]
  %4 = div f32 %3 %2
  %5 = round_to %4 %1
  store q[i0] %5
}
)"))),
            "norm");
}

// Each output is read back where it was written, in a later pass.
TEST(Classify, PassesOverOneAxis) {
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace add_rms_norm_after_weight : norm
param x : in f32
param residual : in f32
param w : in f32
param out : out f32
param sum : inout f32
param n : size
param eps : number f32
param type_sum : int
%1 = param i32 type_sum
for i0 < n {
  %2 = load f32 x[i0]
  %3 = load f32 residual[i0]
  %4 = add f32 %2 %3
  %5 = round_to %4 %1
  store sum[i0] %5
}
%6 = const f32 0
for i1 < n carry %7 = %6 {
  %8 = load f32 sum[i1]
  %9 = fma f32 %8 %8 %7
} next %9 -> %10
for i2 < n {
  %11 = load f32 sum[i2]
  %12 = mul f32 %11 %10
  %13 = load f32 w[i2]
  %14 = mul f32 %12 %13
  store out[i2] %14
}
)"))),
            "norm");
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace fp8_quantize_column : norm
param x : in f32
param q : out f32
param scale : out f32
param rows : size
param cols : size
param type_q : int
%1 = param i32 type_q
%2 = const f32 0
for i0 < cols {
  for i1 < rows carry %3 = %2 {
    %4 = load f32 x[i0 + i1 * cols]
    %5 = abs f32 %4
    %6 = max_first f32 %5 %3
  } next %6 -> %7
  store scale[i0] %7
  for i2 < rows {
    %8 = load f32 x[i0 + i2 * cols]
    %9 = div f32 %8 %7
    %10 = round_to %9 %1
    store q[i0 + i2 * cols] %10
  }
}
)"))),
            "norm");
  // Rows reduced to one value each.
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace row_sums : reduction
param x : in f32
param out : out f32
param rows : size
param cols : size
%1 = const f32 0
for i0 < rows {
  for i1 < cols carry %2 = %1 {
    %3 = load f32 x[i0 * cols + i1]
    %4 = add f32 %2 %3
  } next %4 -> %5
  store out[i0] %5
}
)"))),
            "reduction");
}

TEST(Classify, TablesOfPairsAndLoadedRows) {
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace rope_table : pairwise
param position : in i32
param cosine : out f32
param sine : out f32
param d : size
%1 = load i32 position[0]
%2 = to_f64 %1
for i0 < d / 2 {
  %3 = to_f64 i0
  %4 = mul f64 %2 %3
  %5 = cos f64 %4
  %6 = sin f64 %4
  %7 = to_f32 %5
  %8 = to_f32 %6
  store cosine[i0] %7
  store cosine[i0 + d / 2] %7
  store sine[i0] %8
  store sine[i0 + d / 2] %8
}
)"))),
            "pairwise");
  EXPECT_EQ(op_class_word(classify(parsed(R"(trace rope_with_pos_half : gather
param x : in f32
param cosine : in f32
param position : in i32
param out : out f32
param d : size
%1 = load i32 position[0]
%2 = to_i64 %1
for i0 < d / 2 {
  %3 = load f32 x[i0]
  %4 = load f32 cosine[%2 * d + i0]
  %5 = mul f32 %3 %4
  store out[i0] %5
  store out[i0 + d / 2] %5
}
)"))),
            "gather");
}

std::string product(const char* a, const char* b, const char* c, const char* epilogue = "") {
  return std::string(R"(trace t : opaque
param a : in f32
param b : in f32
param bias : in f32
param c : inout f32
param m : size
param n : size
param k : size
for i0 < m {
  for i1 < n {
    %1 = )") +
         (std::string_view(epilogue) == "beta" ? std::string("load f32 c[") + c + "]"
                                               : std::string("const f32 0")) +
         R"(
    for i2 < k carry %2 = %1 {
      %3 = load f32 a[)" +
         a + R"(]
      %4 = load f32 b[)" +
         b + R"(]
      %5 = mul f32 %3 %4
      %6 = add f32 %2 %5
    } next %6 -> %7
    %8 = load f32 bias[i1]
    %9 = add f32 %7 %8
    store c[)" +
         c + R"(] %9
  }
}
)";
}

TEST(Classify, ProductsInEveryLayout) {
  for (const char* a : {"i0 * k + i2", "i2 * m + i0"}) {
    for (const char* b : {"i2 * n + i1", "i1 * k + i2"}) {
      for (const char* c : {"i0 * n + i1", "i1 * m + i0"}) {
        for (const char* epilogue : {"", "beta"}) {
          const OpTrace trace = parsed(product(a, b, c, epilogue));
          EXPECT_EQ(classify(trace), OpClass::kGemm);
          const auto found = contraction_of(trace);
          ASSERT_TRUE(found);
          EXPECT_EQ(found->k, 2);
          EXPECT_EQ(found->m, std::string_view(c).starts_with("i0") ? 0 : 1);
          const uint16_t rows = trace[found->a].index;
          EXPECT_EQ(rows, found->m == 0 ? 0 : 1);
        }
      }
    }
  }
  // Both matrices move with the row: no product.
  EXPECT_NE(classify(parsed(product("i0 * k + i2", "i0 * k + i2", "i0 * n + i1"))), OpClass::kGemm);
}

}  // namespace
}  // namespace nrd
