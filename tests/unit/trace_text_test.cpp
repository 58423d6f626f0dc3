// SPDX-License-Identifier: MIT
// tests/unit/trace_text_test.cpp: the text form of traces, the builder and the verifier.
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "parsed.h"
#include "trace/builder.h"
#include "trace/op_info.h"
#include "trace/text.h"
#include "trace/verify.h"
#include "trace_texts.h"

namespace nrd {
namespace {

using namespace trace_texts;

TEST(TraceWords, EveryWordLeadsBack) {
  for (int i = 0; i <= static_cast<int>(TraceOp::kLoop); i++) {
    const auto op = static_cast<TraceOp>(i);
    EXPECT_EQ(trace_op_of(trace_op_word(op)), op);
  }
  for (int i = 0; i <= static_cast<int>(Predicate::kAe); i++) {
    const auto p = static_cast<Predicate>(i);
    EXPECT_EQ(predicate_of(predicate_word(p)), p);
  }
  for (int i = 0; i <= static_cast<int>(OpClass::kOpaque); i++) {
    const auto c = static_cast<OpClass>(i);
    EXPECT_EQ(op_class_of(op_class_word(c)), c);
  }
  EXPECT_EQ(trace_type_of("f32"), TraceType::kF32);
  EXPECT_EQ(trace_op_of("nonsense"), std::nullopt);
  EXPECT_EQ(trace_op_arity(TraceOp::kFma), 3);
}

TEST(TraceText, CanonicalTextComesBackUnchanged) {
  for (const char* text : kAll) EXPECT_EQ(trace_text(parsed(text)), text);
}

TEST(TraceText, ConstantsKeepTheirBits) {
  for (const char* literal : {"0x1.8p-3", "-0x0p+0", "inf", "-inf", "nan", "nan:0x7fc00001",
                              "nan:0xffc00000", "0x1p-149", "-0x1.fffffep+127"}) {
    const std::string text = std::string("trace t : opaque\nparam out : out f32\n%1 = const f32 ") +
                             literal + "\nstore out[0] %1\n";
    EXPECT_EQ(trace_text(parsed(text)), text);
  }
  for (const char* literal :
       {"0x1.921fb54442d18p+1", "nan:0x7ff8000000000001", "0x0.0000000000001p-1022"}) {
    const std::string text = std::string("trace t : opaque\nparam out : out f64\n%1 = const f64 ") +
                             literal + "\nstore out[0] %1\n";
    EXPECT_EQ(trace_text(parsed(text)), text);
  }
}

TEST(TraceText, IndexExpressionsKeepTheirShape) {
  for (const char* index : {"n - (n - 1)", "n - n - 1", "n * (n + 2)", "(n + 1) * n", "n / 2 * 3",
                            "n / (2 * 3)", "n % 4 % 2", "min(n, 3) + max(n - 1, -2)", "-(n)",
                            "-(5)", "n * -5", "-9223372036854775808"}) {
    const std::string text =
        std::string("trace t : opaque\nparam out : out f32\nparam n : size\n") +
        "%1 = const f32 0x0p+0\nstore out[" + index + "] %1\n";
    EXPECT_EQ(trace_text(parsed(text)), text);
  }
}

TEST(TraceText, SharedIndicesDoNotExplode) {
  TraceBuilder b("t");
  const uint16_t out = b.pointer("out");
  ValueId index = b.param(b.size("n"));
  for (int i = 0; i < 60; i++) index = b.pure(TraceOp::kAdd, TraceType::kI64, index, index);
  b.store(out, index, b.f32(0));
  const std::string text = trace_text(b.finish());
  EXPECT_LT(text.size(), 4000u);
  EXPECT_EQ(trace_text(parsed(text)), text);
}

TEST(TraceText, DeadValuesAndLoopsAreLeftOut) {
  const OpTrace trace = parsed(R"(trace t : opaque
param x : in f32
param out : out f32
param n : size
%9 = const f32 1
%7 = const f32 2
for i5 < n carry %20 = %9, %21 = %9 {
  %4 = load f32 x[i5]
  %5 = add f32 %20 %4
  %6 = exp f32 %4
} next %5, %6 -> %30, %31
for i7 < n {
  %40 = load f32 x[i7]
}
store out[0] %30
)");
  EXPECT_EQ(trace_text(trace), R"(trace t : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x1p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = add f32 %2 %3
} next %4 -> %5
store out[0] %5
)");
}

TEST(TraceText, ErrorsNameTheLineAndWhatWasExpected) {
  const std::string head =
      "trace t : opaque\nparam x : in f32\nparam out : out f32\nparam n : size\n";
  struct Case {
    std::string text, line, expected;
  };
  const Case cases[] = {
      {"hello", "line 1", "trace"},
      {"trace t : wrong", "line 1", "class"},
      {head + "%1 = load f32 y[0]", "line 5", "pointer parameter"},
      {head + "%1 = load f32 x[0", "line 5", "']'"},
      {head + "%1 = load f32 x[i0]", "line 5", "counter of a loop around"},
      {head + "%1 = add f32 %2 %2", "line 5", "defined above"},
      {head + "%1 = frobnicate f32 %2", "line 5", "an operation"},
      {head + "%1 = const f32 zero", "line 5", "literal of type f32"},
      {head + "%1 = const f32 0\n%1 = const f32 0", "line 6", "%1 is taken"},
      {head + "%1 = const f32 0 0", "line 5", "nothing more"},
      {head + "for i0 < n {\n%1 = load f32 x[i0]\n}\nstore out[0] %1", "line 8", "scope"},
      {head + "for i0 < n {\n", "line 6", "} for every loop"},
      {head + "}", "line 5", "without a loop"},
      {head + "%1 = load f32 x[" + std::string(100000, '('), "line 5", "fewer parentheses"},
      {head + "%1 = cmp wrong %2 %2", "line 5", "predicate"},
      {head + "%1 = sqrt i32 %2", "line 5", "type of this operation"},
      {head + "table t1 : f32 0x0p+0", "line 5", "t0"},
      {head + "table t0 : i64 1", "line 5", "f32, f64 or i32"},
      {head + "table t0 : f32", "line 5", "an element"},
      {head + "table t0 : i32 1 one", "line 5", "literals of type i32"},
      {head + "%1 = const i32 0\n%2 = lookup f32 t0 %1", "line 6", "a table"},
  };
  for (const Case& c : cases) {
    const Expected<OpTrace> trace = parse_trace(c.text);
    ASSERT_FALSE(trace) << c.text;
    EXPECT_NE(trace.error().message().find(c.line), std::string::npos) << trace.error().message();
    EXPECT_NE(trace.error().message().find(c.expected), std::string::npos)
        << trace.error().message();
  }
}

TEST(TraceBuilder, BuildsWhatTheTextSays) {
  TraceBuilder b("vec_dot");
  const uint16_t x = b.pointer("x"), y = b.pointer("y"), out = b.pointer("out"), n = b.size("n");
  const ValueId zero = b.f32(0);
  const uint16_t loop = b.begin_loop(b.param(n));
  const ValueId sum = b.carry(zero);
  const ValueId xi = b.load(x, b.iv(loop));
  const ValueId yi = b.load(y, b.iv(loop));
  const ValueId product = b.pure(TraceOp::kMul, TraceType::kF32, xi, yi);
  b.end_loop({b.pure(TraceOp::kAdd, TraceType::kF32, sum, product)});
  b.store(out, b.i64(0), b.result(loop, 0));
  OpTrace trace = b.finish();
  trace.op_class = OpClass::kReduction;
  EXPECT_TRUE(verify_trace(trace));
  EXPECT_EQ(trace_text(trace), kVecDot);
}

TEST(TraceBuilder, EqualPureValuesAreOneAndIndicesMoveOutwards) {
  TraceBuilder b("t");
  const uint16_t n = b.size("n");
  const uint16_t outer = b.begin_loop(b.param(n));
  const uint16_t inner = b.begin_loop(b.param(n));
  const ValueId row = b.pure(TraceOp::kMul, TraceType::kI64, b.iv(outer), b.param(n));
  EXPECT_EQ(row, b.pure(TraceOp::kMul, TraceType::kI64, b.iv(outer), b.param(n)));
  const ValueId one = b.f32(1);
  EXPECT_EQ(one, b.f32(1));
  EXPECT_NE(b.f32(0.0f), b.f32(-0.0f));
  b.end_loop();
  EXPECT_TRUE(b.is_visible(row));   // it does not use the inner counter
  EXPECT_FALSE(b.is_visible(one));  // asked for inside
  EXPECT_NE(one, b.f32(1));
  EXPECT_FALSE(b.is_visible(b.iv(inner)));
  for (int i = 0; i < 1000; i++) b.i64(i);
  EXPECT_EQ(row, b.pure(TraceOp::kMul, TraceType::kI64, b.iv(outer), b.param(n)));
}

// Each breaks a good trace in one way; the error must speak of it.
struct Damage {
  const char* expected;
  std::function<void(OpTrace&)> damage;
};

ValueId find(const OpTrace& trace, TraceOp op) {
  for (ValueId id = 0; id < trace.values.size(); id++) {
    if (trace[id].op == op) return id;
  }
  return kNoValue;
}

TEST(TraceVerify, RejectsEveryKindOfDamage) {
  const Damage cases[] = {
      {"before it is defined",
       [](OpTrace& t) { std::swap(t.loops[0].body.front(), t.loops[0].body.back()); }},
      {"outside the loop",
       [](OpTrace& t) { t.values[t.body.back()].args[1] = find(t, TraceOp::kMul); }},
      {"stands in a body twice", [](OpTrace& t) { t.body.push_back(t.body.front()); }},
      {"stands in no body", [](OpTrace& t) { t.loops.emplace_back(); }},
      {"type its op cannot have",
       [](OpTrace& t) { t.values[find(t, TraceOp::kMul)].type = TraceType::kBool; }},
      {"argument of type",
       [](OpTrace& t) { t.values[find(t, TraceOp::kMul)].type = TraceType::kF64; }},
      {"lacks argument", [](OpTrace& t) { t.values[find(t, TraceOp::kMul)].args[1] = kNoValue; }},
      {"too many", [](OpTrace& t) { t.values[find(t, TraceOp::kMul)].args[2] = 0; }},
      {"which does not exist",
       [](OpTrace& t) { t.values[find(t, TraceOp::kMul)].args[1] = 12345; }},
      {"no proper name", [](OpTrace& t) { t.params[0].name = "a b"; }},
      {"name of another", [](OpTrace& t) { t.params[0].name = "y"; }},
      {"loop counter", [](OpTrace& t) { t.params[3].name = "i0"; }},
      {"not marked so", [](OpTrace& t) { t.params[0].read = false; }},
      {"not marked so", [](OpTrace& t) { t.params[2].written = false; }},
      {"no pointer", [](OpTrace& t) { t.values[find(t, TraceOp::kLoad)].index = 3; }},
      {"index of type",
       [](OpTrace& t) { t.values[t.body.back()].args[0] = find(t, TraceOp::kConst); }},
      {"value of type",
       [](OpTrace& t) { t.values[t.body.back()].args[1] = t.values[t.body.back()].args[0]; }},
      {"guard of type",
       [](OpTrace& t) { t.values[t.body.back()].args[2] = t.values[t.body.back()].args[1]; }},
      {"but not both",
       [](OpTrace& t) {
         Value& load = t.values[find(t, TraceOp::kLoad)];
         load.args[1] = load.args[0];
       }},
      {"is not what x holds", [](OpTrace& t) { t.params[0].dtype = DType::kF64; }},
      {"next value of type", [](OpTrace& t) { t.loops[0].carries[0].next = t.loops[0].iv; }},
      {"is not carry", [](OpTrace& t) { t.values[t.loops[0].carries[0].carry].bits = 1; }},
      {"extent of type", [](OpTrace& t) { t.loops[0].extent = t.loops[0].carries[0].init; }},
      {"is listed in a body", [](OpTrace& t) { t.loops[0].body.push_back(t.loops[0].iv); }},
  };
  for (const Damage& c : cases) {
    OpTrace trace = parsed(kVecDot);
    c.damage(trace);
    const Expected<void> verdict = verify_trace(trace);
    ASSERT_FALSE(verdict) << c.expected;
    EXPECT_NE(verdict.error().message().find(c.expected), std::string::npos)
        << verdict.error().message();
  }
}

TEST(TraceVerify, ComparesLikeWithLike) {
  OpTrace trace = parsed(kArgmax);
  trace.values[find(trace, TraceOp::kCmp)].predicate = Predicate::kLt;
  const Expected<void> verdict = verify_trace(trace);
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.error().message().find("compares f32 by lt"), std::string::npos);
}

}  // namespace
}  // namespace nrd
