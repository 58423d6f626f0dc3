// SPDX-License-Identifier: MIT
// tests/compiler/lift_analyse_test.cpp: functions in SSA form, made by hand, to traces.
#include <gtest/gtest.h>

#include "function_maker.h"
#include "lift/unrolled.h"

namespace nrd::lift {
namespace {

constexpr const char* kReduction = "void(const float* x, float* out, size_t n)";

// for (i...) sum += x[i], rotated by the compiler, with a moving pointer and a guard before it.
TEST(LiftAnalyse, RotatedLoopWithZeroTripGuard) {
  FunctionMaker m;
  const BlockId entry = m.block(), body = m.block(), end = m.block();
  const NodeId x = m.pointer(0), n = m.arg(2, Type::kI64);
  m.branch(entry, m.factory.compare(Predicate::kEq, n, m.i64(0)), end, body);
  const NodeId at = m.phi(body, Type::kI64), sum = m.phi(body, Type::kF32);
  const NodeId next = m.add(at, m.i64(4));
  const NodeId total = m.add(sum, m.load(body, Type::kF32, at));
  m.branch(body, m.factory.compare(Predicate::kNe, next, m.element(x, n)), body, end);
  m.set_phi(at, {x, next});
  m.set_phi(sum, {m.f32(0), total});
  const NodeId result = m.phi(end, Type::kF32);
  m.set_phi(result, {m.f32(0), total});
  m.store(end, m.pointer(1), result);
  EXPECT_EQ(m.analysed(kReduction), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = add f32 %2 %3
} next %4 -> %5
store out[0] %5
)");
}

// The same, tested on top, counting an int; what is added is chosen by a diamond.
TEST(LiftAnalyse, TopTestedLoopWithDiamond) {
  FunctionMaker m;
  const BlockId entry = m.block(), head = m.block(), body = m.block(), other = m.block(),
                join = m.block(), end = m.block();
  const NodeId n = m.arg(2, Type::kI32);
  m.jump(entry, head);
  const NodeId i = m.phi(head, Type::kI32), sum = m.phi(head, Type::kF32);
  m.branch(head, m.factory.compare(Predicate::kLt, i, n), body, end);
  const NodeId index = m.factory.convert(i, Type::kI64, true);
  const NodeId v = m.load(body, Type::kF32, m.element(m.pointer(0), index));
  m.branch(body, m.factory.compare(Predicate::kOgt, v, m.f32(0)), join, other);
  m.jump(other, join);
  const NodeId chosen = m.phi(join, Type::kF32);
  m.set_phi(chosen, {v, m.f32(0)});
  m.jump(join, head);
  m.set_phi(i, {m.i32(0), m.add(i, m.i32(1))});
  m.set_phi(sum, {m.f32(0), m.add(sum, chosen)});
  m.store(end, m.pointer(1), sum);
  EXPECT_EQ(m.analysed("void(const float* x, float* out, int n)"), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = max_first f32 %3 %1
  %5 = add f32 %2 %4
} next %5 -> %6
store out[0] %6
)");
}

// out[0] += x[i] with the sum in memory all the time, behind out[0] = 0.
TEST(LiftAnalyse, SumInMemoryIsCarried) {
  FunctionMaker m;
  const BlockId entry = m.block(), head = m.block(), body = m.block(), end = m.block();
  const NodeId out = m.pointer(1);
  m.store(entry, out, m.f32(0));
  m.jump(entry, head);
  const NodeId i = m.phi(head, Type::kI64);
  m.branch(head, m.factory.compare(Predicate::kB, i, m.arg(2, Type::kI64)), body, end);
  const NodeId sum = m.load(body, Type::kF32, out);
  m.store(body, out, m.add(sum, m.load(body, Type::kF32, m.element(m.pointer(0), i))));
  m.jump(body, head);
  m.set_phi(i, {m.i64(0), m.add(i, m.i64(1))});
  EXPECT_EQ(m.analysed(kReduction), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = add f32 %2 %3
} next %4 -> %5
store out[0] %5
)");
}

TEST(LiftAnalyse, LoadsUnderAConditionAreGuarded) {
  FunctionMaker m;
  const BlockId entry = m.block(), head = m.block(), body = m.block(), inside = m.block(),
                join = m.block(), end = m.block();
  const NodeId n = m.arg(2, Type::kI64);
  m.jump(entry, head);
  const NodeId i = m.phi(head, Type::kI64);
  m.branch(head, m.factory.compare(Predicate::kB, i, m.i64(32)), body, end);
  m.branch(body, m.factory.compare(Predicate::kB, i, n), inside, join);
  const NodeId v = m.load(inside, Type::kF32, m.element(m.pointer(0), i));
  m.jump(inside, join);
  const NodeId padded = m.phi(join, Type::kF32);
  m.set_phi(padded, {m.f32(-1), v});
  m.store(join, m.element(m.pointer(1), i), padded);
  m.jump(join, head);
  m.set_phi(i, {m.i64(0), m.add(i, m.i64(1))});
  EXPECT_EQ(m.analysed(kReduction), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 -0x1p+0
for i0 < 32 {
  %2 = cmp b i0 n
  %3 = load f32 x[i0] if %2 else %1
  store out[i0] %3
}
)");
}

// for (rows) for (cols) *out++ = *x++: pointers that move on through both loops.
TEST(LiftAnalyse, PointersThatMoveThroughTwoLoops) {
  FunctionMaker m;
  const BlockId entry = m.block(), rows = m.block(), row = m.block(), cols = m.block(),
                body = m.block(), next_row = m.block(), end = m.block();
  m.jump(entry, rows);
  const NodeId i = m.phi(rows, Type::kI64), x = m.phi(rows, Type::kI64),
               out = m.phi(rows, Type::kI64);
  m.branch(rows, m.factory.compare(Predicate::kB, i, m.arg(2, Type::kI64)), row, end);
  m.jump(row, cols);
  const NodeId j = m.phi(cols, Type::kI64), x2 = m.phi(cols, Type::kI64),
               out2 = m.phi(cols, Type::kI64);
  m.branch(cols, m.factory.compare(Predicate::kB, j, m.arg(3, Type::kI64)), body, next_row);
  m.store(body, out2, m.load(body, Type::kF32, x2));
  m.jump(body, cols);
  m.set_phi(j, {m.i64(0), m.add(j, m.i64(1))});
  m.set_phi(x2, {x, m.add(x2, m.i64(4))});
  m.set_phi(out2, {out, m.add(out2, m.i64(4))});
  m.jump(next_row, rows);
  m.set_phi(i, {m.i64(0), m.add(i, m.i64(1))});
  m.set_phi(x, {m.pointer(0), x2});
  m.set_phi(out, {m.pointer(1), out2});
  EXPECT_EQ(m.analysed("void(const float* x, float* out, size_t rows, size_t cols)"),
            R"(trace f : opaque
param x : in f32
param out : out f32
param rows : size
param cols : size
for i0 < rows {
  for i1 < cols {
    %1 = load f32 x[i0 * cols + i1]
    store out[i0 * cols + i1] %1
  }
}
)");
}

// A field is a parameter, however often it is loaded.
TEST(LiftAnalyse, FieldsOfAStruct) {
  FunctionMaker m;
  const BlockId entry = m.block(), head = m.block(), body = m.block(), end = m.block();
  const NodeId s = m.pointer(0);
  m.jump(entry, head);
  const NodeId i = m.phi(head, Type::kI64);
  const NodeId n = m.load(head, Type::kI64, m.add(s, m.i64(16)));
  m.branch(head, m.factory.compare(Predicate::kB, i, n), body, end);
  const NodeId x = m.load(body, Type::kI64, s);
  const NodeId v = m.load(body, Type::kF32, m.element(x, i));
  m.store(body, m.element(m.load(body, Type::kI64, m.add(s, m.i64(8))), i), v);
  m.jump(body, head);
  m.set_phi(i, {m.i64(0), m.add(i, m.i64(1))});
  EXPECT_EQ(m.analysed("void(const struct{const float* x; float* y; size_t n}* s)"),
            R"(trace f : opaque
param x : in f32
param y : out f32
param n : size
for i0 < n {
  %1 = load f32 x[i0]
  store y[i0] %1
}
)");
}

// Steps of two up to 2 * ((n - 1) / 2 + 1), as gcc counts pairs.
TEST(LiftAnalyse, StepsOfTwo) {
  FunctionMaker m;
  const BlockId entry = m.block(), body = m.block(), end = m.block();
  const NodeId n = m.arg(2, Type::kI64);
  m.branch(entry, m.factory.compare(Predicate::kEq, n, m.i64(0)), end, body);
  const NodeId pairs = m.factory.pure(TraceOp::kShr, Type::kI64, m.add(n, m.i64(-1)), m.i64(1));
  const NodeId i = m.phi(body, Type::kI64), next = m.add(i, m.i64(2));
  m.store(body, m.element(m.pointer(1), i), m.load(body, Type::kF32, m.element(m.pointer(0), i)));
  m.branch(body, m.factory.compare(Predicate::kNe, next, m.mul(m.add(pairs, m.i64(1)), m.i64(2))),
           body, end);
  m.set_phi(i, {m.i64(0), next});
  EXPECT_EQ(m.analysed(kReduction), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
for i0 < (n + 1) / 2 {
  %1 = load f32 x[2 * i0]
  store out[2 * i0] %1
}
)");
}

TEST(LiftAnalyse, FunctionOfANumberIsAMap) {
  FunctionMaker m;
  m.block();
  const NodeId x = m.arg(0, Type::kF32);
  m.f.result = m.factory.pure(TraceOp::kExp, Type::kF32, x);
  EXPECT_EQ(m.analysed("float(float x)"), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
for i0 < n {
  %1 = load f32 x[i0]
  %2 = exp f32 %1
  store out[i0] %2
}
)");
}

// The exit test stands at the end of both paths through the body.
TEST(LiftAnalyse, ExitTestInTwoPlaces) {
  FunctionMaker m;
  const BlockId entry = m.block(), body = m.block(), low = m.block(), high = m.block(),
                end = m.block();
  m.jump(entry, body);
  const NodeId i = m.phi(body, Type::kI64), next = m.add(i, m.i64(1));
  const NodeId v = m.load(body, Type::kF32, m.element(m.pointer(0), i));
  m.branch(body, m.factory.compare(Predicate::kOlt, v, m.f32(0)), low, high);
  m.store(low, m.element(m.pointer(1), i), m.f32(0));
  m.branch(low, m.factory.compare(Predicate::kNe, next, m.i64(8)), body, end);
  m.store(high, m.element(m.pointer(1), i), v);
  m.branch(high, m.factory.compare(Predicate::kEq, next, m.i64(8)), end, body);
  m.set_phi(i, {m.i64(0), next, next});
  EXPECT_EQ(m.analysed(kReduction), R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < 8 {
  %2 = load f32 x[i0]
  %3 = max_first f32 %1 %2
  store out[i0] %3
}
)");
}

// for (p) for (j) out[j] += x[p]: the sums are carried once the loops are the other way round.
TEST(LiftAnalyse, SumsOfAnInnerLoop) {
  FunctionMaker m;
  const BlockId entry = m.block(), rows = m.block(), row = m.block(), cols = m.block(),
                body = m.block(), next_row = m.block(), end = m.block();
  m.jump(entry, rows);
  const NodeId p = m.phi(rows, Type::kI64);
  m.branch(rows, m.factory.compare(Predicate::kB, p, m.arg(2, Type::kI64)), row, end);
  m.jump(row, cols);
  const NodeId j = m.phi(cols, Type::kI64);
  m.branch(cols, m.factory.compare(Predicate::kB, j, m.arg(3, Type::kI64)), body, next_row);
  const NodeId v = m.load(body, Type::kF32, m.element(m.pointer(0), p));
  const NodeId at = m.element(m.pointer(1), j);
  m.store(body, at, m.add(m.load(body, Type::kF32, at), v));
  m.jump(body, cols);
  m.set_phi(j, {m.i64(0), m.add(j, m.i64(1))});
  m.jump(next_row, rows);
  m.set_phi(p, {m.i64(0), m.add(p, m.i64(1))});
  EXPECT_EQ(m.analysed("void(const float* x, float* out, size_t rows, size_t cols)"),
            R"(trace f : opaque
param x : in f32
param out : inout f32
param rows : size
param cols : size
for i0 < cols {
  %1 = load f32 out[i0]
  for i1 < rows carry %2 = %1 {
    %3 = load f32 x[i1]
    %4 = add f32 %2 %3
  } next %4 -> %5
  store out[i0] %5
}
)");
}

// if (condition) for (i < 8) out[i] = 0;
std::string under(NodeId (*condition)(FunctionMaker&, BlockId)) {
  FunctionMaker m;
  const BlockId entry = m.block(), body = m.block(), end = m.block();
  m.branch(entry, condition(m, entry), body, end);
  const NodeId i = m.phi(body, Type::kI64), next = m.add(i, m.i64(1));
  m.store(body, m.element(m.pointer(1), i), m.f32(0));
  m.branch(body, m.factory.compare(Predicate::kNe, next, m.i64(8)), body, end);
  m.set_phi(i, {m.i64(0), next});
  return m.analysed("void(const float* x, float* out, size_t n, int mode)");
}

TEST(LiftAnalyse, ALoopUnderAConditionOnIntegersRunsNothingElse) {
  const std::string text = under([](FunctionMaker& m, BlockId) {
    return m.factory.compare(Predicate::kEq, m.arg(3, Type::kI32), m.i32(2));
  });
  EXPECT_NE(text.find("%3 = cmp eq %1 %2\n%4 = select i64 %3 8 0\n"), text.npos) << text;
  EXPECT_NE(text.find("for i0 < %4 {"), text.npos) << text;
}

TEST(LiftAnalyse, RefusesALoopUnderAConditionOnData) {
  EXPECT_EQ(under([](FunctionMaker& m, BlockId entry) {
              return m.factory.compare(Predicate::kOgt, m.load(entry, Type::kF32, m.pointer(0)),
                                       m.f32(0));
            }),
            "f: not understood; the loop at 0x1010 runs under a condition that is not about its "
            "size");
}

// What clang makes of `for (i < n) out[i] = 2 * x[i]` (or, where a copy is odd, of no such loop):
// four at a time, then the rest.
std::string unrolled(int odd, std::string& rolled) {
  FunctionMaker m;
  const BlockId fork = m.block(), main = m.block(), join = m.block(), rest = m.block(),
                end = m.block();
  const NodeId n = m.arg(2, Type::kI64), x = m.pointer(0), out = m.pointer(1);
  const auto both = [&](NodeId a, int64_t mask) {
    return m.factory.pure(TraceOp::kAnd, Type::kI64, a, m.i64(mask));
  };
  const auto body = [&](BlockId b, NodeId index, float factor) {
    m.store(b, m.element(out, index),
            m.mul(m.load(b, Type::kF32, m.element(x, index)), m.f32(factor)));
  };
  m.branch(fork, m.factory.compare(Predicate::kAe, n, m.i64(4)), main, join);
  const NodeId i = m.phi(main, Type::kI64), behind = m.phi(join, Type::kI64),
               k = m.phi(rest, Type::kI64);
  for (int c = 0; c < 4; c++) body(main, m.add(i, m.i64(c)), c == odd ? 3.0f : 2.0f);
  const NodeId next = m.add(i, m.i64(4)), one = m.add(k, m.i64(1));
  m.branch(main, m.factory.compare(Predicate::kNe, both(n, -4), next), main, join);
  m.branch(join, m.factory.compare(Predicate::kEq, both(n, 3), m.i64(0)), end, rest);
  body(rest, m.add(behind, k), 2.0f);
  m.branch(rest, m.factory.compare(Predicate::kNe, both(n, 3), one), rest, end);
  m.set_phi(i, {m.i64(0), next});
  m.set_phi(behind, {m.i64(0), next});
  m.set_phi(k, {m.i64(0), one});
  rolled = roll_loops(m.f) ? "rolled" : "as it was";
  return m.analysed(kReduction);
}

TEST(LiftAnalyse, AnUnrolledLoopIsRolledIfAllCopiesAreEqual) {
  std::string what;
  unrolled(-1, what);
  EXPECT_EQ(what, "rolled");
  for (const int odd : {0, 1, 3}) {
    unrolled(odd, what);
    EXPECT_EQ(what, "as it was") << odd;
  }
}

TEST(LiftAnalyse, RefusesHalfAnElement) {
  FunctionMaker m;
  const BlockId entry = m.block();
  m.store(entry, m.add(m.pointer(1), m.i64(2)), m.f32(0));
  EXPECT_EQ(m.analysed(kReduction),
            "f: not understood; the access at 0x0 is not at a whole element of out");
}

TEST(LiftAnalyse, RefusesAnExitThatDependsOnData) {
  FunctionMaker m;
  const BlockId entry = m.block(), body = m.block(), end = m.block();
  m.jump(entry, body);
  const NodeId i = m.phi(body, Type::kI64);
  const NodeId v = m.load(body, Type::kF32, m.element(m.pointer(0), i));
  m.store(body, m.element(m.pointer(1), i), v);
  m.branch(body, m.factory.compare(Predicate::kOgt, v, m.f32(0)), body, end);
  m.set_phi(i, {m.i64(0), m.add(i, m.i64(1))});
  EXPECT_EQ(m.analysed(kReduction),
            "f: not understood; the loop at 0x1010: its exit is not a comparison of integers");
}

}  // namespace
}  // namespace nrd::lift
