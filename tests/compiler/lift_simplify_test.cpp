// SPDX-License-Identifier: MIT
// tests/compiler/lift_simplify_test.cpp: the lifter's rules on single expressions, and the graph
// algorithms under it.
#include <gtest/gtest.h>

#include <bit>

#include "lift/cfg.h"
#include "lift/flags.h"
#include "lift/function.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kSign = 0x80000000;

class Simplify : public testing::Test {
 protected:
  Function f;
  NodeFactory n{f};

  NodeId arg(uint32_t index, Type type) {
    return n.add({.kind = Kind::kArg, .type = type, .index = index});
  }
  NodeId number(float x) { return n.constant(Type::kF32, std::bit_cast<uint32_t>(x)); }
  NodeId i32(uint64_t x) { return n.constant(Type::kI32, x); }
  NodeId i64(int64_t x) { return n.constant(Type::kI64, static_cast<uint64_t>(x)); }
  NodeId op(TraceOp op, Type type, NodeId x, NodeId y = kNoNode) { return n.pure(op, type, x, y); }
  NodeId bits(NodeId x) { return n.low(x, Type::kI32); }
  NodeId lane(NodeId x) { return n.low(x, Type::kF32); }
  NodeId mask(NodeId condition) { return n.select(condition, i32(0xffffffff), i32(0)); }

  NodeId a = arg(0, Type::kF32), b = arg(1, Type::kF32);
  NodeId p = arg(2, Type::kI64), i = arg(3, Type::kI64);
  NodeId x = arg(4, Type::kI32);
  NodeId c = n.compare(Predicate::kOlt, a, b);
};

TEST_F(Simplify, SignMasksAreArithmetic) {
  EXPECT_EQ(lane(op(TraceOp::kXor, Type::kI32, bits(a), i32(kSign))),
            op(TraceOp::kNeg, Type::kF32, a));
  EXPECT_EQ(lane(op(TraceOp::kAnd, Type::kI32, bits(a), i32(kSign - 1))),
            op(TraceOp::kAbs, Type::kF32, a));
  EXPECT_EQ(lane(op(TraceOp::kOr, Type::kI32, bits(a), i32(kSign))),
            op(TraceOp::kNeg, Type::kF32, op(TraceOp::kAbs, Type::kF32, a)));
  const NodeId sign = op(TraceOp::kAnd, Type::kI32, bits(b), i32(kSign));
  const NodeId size = op(TraceOp::kAnd, Type::kI32, bits(a), i32(kSign - 1));
  EXPECT_EQ(lane(op(TraceOp::kOr, Type::kI32, size, sign)),
            op(TraceOp::kCopySign, Type::kF32, a, b));
}

TEST_F(Simplify, MasksOfComparisonsAreChoices) {
  const NodeId yes = op(TraceOp::kAnd, Type::kI32, bits(a), mask(c));
  const NodeId inverted = op(TraceOp::kXor, Type::kI32, mask(c), i32(0xffffffff));
  const NodeId no = op(TraceOp::kAnd, Type::kI32, inverted, x);
  EXPECT_EQ(lane(op(TraceOp::kOr, Type::kI32, yes, no)), n.select(c, a, lane(x)));
  EXPECT_EQ(lane(yes), n.select(c, a, number(0)));
}

TEST_F(Simplify, ExtremaByTheirExactMeaning) {
  const NodeId above = n.compare(Predicate::kOgt, a, b);
  EXPECT_EQ(n.select(above, a, b), op(TraceOp::kMaxFirst, Type::kF32, a, b));
  EXPECT_EQ(n.select(c, b, a), op(TraceOp::kMaxFirst, Type::kF32, b, a));
  EXPECT_EQ(n.select(c, a, b), op(TraceOp::kMinFirst, Type::kF32, a, b));
  // !(a <= b) ? a : b also takes a where b is a NaN.
  const NodeId unordered = n.compare(Predicate::kUgt, a, b);
  EXPECT_EQ(n.select(unordered, a, b), n.select(n.compare(Predicate::kOle, a, b), b, a));
  EXPECT_EQ(f[n.select(unordered, a, b)].op, TraceOp::kSelect);
}

// Two floats written over the halves of a register that was pushed to make room.
TEST_F(Simplify, HalvesReplaceWhatWasUndefined) {
  const NodeId high = op(TraceOp::kShl, Type::kI64, n.convert(bits(a), Type::kI64), i64(32));
  const NodeId pushed = n.undefined(Type::kI64);
  const NodeId first =
      op(TraceOp::kOr, Type::kI64, op(TraceOp::kAnd, Type::kI64, pushed, i64(0xffffffff)), high);
  const NodeId kept = op(TraceOp::kAnd, Type::kI64, first, i64(-4294967296));
  EXPECT_EQ(kept, high);
  const NodeId both = op(TraceOp::kOr, Type::kI64, kept, n.convert(bits(b), Type::kI64));
  EXPECT_EQ(n.low(both, Type::kF32), b);
  EXPECT_EQ(lane(n.convert(op(TraceOp::kShr, Type::kI64, both, i64(32)), Type::kI32)), a);
}

TEST_F(Simplify, ExtremaWithNan) {
  const NodeId above = n.compare(Predicate::kOgt, a, b), nan = n.compare(Predicate::kUne, a, a);
  const NodeId max = op(TraceOp::kMaxNan, Type::kF32, a, b);
  EXPECT_EQ(n.select(op(TraceOp::kOr, Type::kBool, above, nan), a, b), max);
  EXPECT_EQ(n.select(above, a, n.select(nan, a, b)), max);
  EXPECT_EQ(n.select(nan, a, n.select(above, a, b)), max);
  EXPECT_EQ(n.select(op(TraceOp::kAnd, Type::kBool, n.invert(above), n.invert(nan)), b, a), max);
  const NodeId maxss = op(TraceOp::kMaxFirst, Type::kF32, b, a);
  // As clang expands fmaxf(a, b): of two zeros it returns a, so a is the second operand here.
  EXPECT_EQ(n.select(nan, b, maxss), op(TraceOp::kMaxNum, Type::kF32, b, a));
}

TEST_F(Simplify, ComparisonsOfTheSameValuesJoin) {
  const auto cmp = [&](Predicate q) { return n.compare(q, a, b); };
  EXPECT_EQ(op(TraceOp::kOr, Type::kBool, cmp(Predicate::kUno), cmp(Predicate::kOne)),
            cmp(Predicate::kUne));
  EXPECT_EQ(op(TraceOp::kAnd, Type::kBool, cmp(Predicate::kOrd), cmp(Predicate::kUeq)),
            cmp(Predicate::kOeq));
  EXPECT_EQ(n.invert(cmp(Predicate::kOlt)), cmp(Predicate::kUge));
  EXPECT_EQ(op(TraceOp::kOr, Type::kBool, c, n.compare(Predicate::kOeq, b, a)),
            cmp(Predicate::kOle));
}

TEST_F(Simplify, SetAndTestIsTheCondition) {
  const NodeId byte = n.convert(c, Type::kI8);
  const NodeId wide = n.convert(byte, Type::kI32);
  EXPECT_EQ(n.compare(Predicate::kNe, wide, i32(0)), c);
  EXPECT_EQ(n.compare(Predicate::kEq, byte, n.constant(Type::kI8, 0)), n.invert(c));
  const NodeId nan = n.compare(Predicate::kUno, a, a);
  const NodeId both = op(TraceOp::kOr, Type::kI8, byte, n.convert(nan, Type::kI8));
  EXPECT_EQ(n.compare(Predicate::kNe, both, n.constant(Type::kI8, 0)),
            op(TraceOp::kOr, Type::kBool, c, nan));
}

TEST_F(Simplify, FloatsKeepTheirZerosAndRounding) {
  EXPECT_EQ(f[op(TraceOp::kAdd, Type::kF32, a, number(0))].op, TraceOp::kAdd);
  EXPECT_EQ(op(TraceOp::kAdd, Type::kF32, a, number(-0.0f)), a);
  EXPECT_EQ(op(TraceOp::kMul, Type::kF32, a, number(1)), a);
  EXPECT_EQ(f[op(TraceOp::kMul, Type::kF32, a, number(0))].op, TraceOp::kMul);
  EXPECT_EQ(op(TraceOp::kAdd, Type::kF32, number(0.1f), number(0.2f)), number(0.1f + 0.2f));
  // 0/0 is a NaN whose sign depends on the machine.
  EXPECT_EQ(f[op(TraceOp::kDiv, Type::kF32, number(0), number(0))].op, TraceOp::kDiv);
}

TEST_F(Simplify, AddressesAreBasePlusConstant) {
  const auto add = [&](NodeId u, NodeId v) { return op(TraceOp::kAdd, Type::kI64, u, v); };
  const NodeId expected = add(add(p, i), i64(12));
  EXPECT_EQ(add(add(p, i64(8)), add(i, i64(4))), expected);
  EXPECT_EQ(op(TraceOp::kSub, Type::kI64, add(i, add(p, i64(20))), i64(8)), expected);
  EXPECT_EQ(op(TraceOp::kSub, Type::kI64, expected, add(p, i)), i64(12));
}

TEST_F(Simplify, Widths) {
  const NodeId sum = op(TraceOp::kAdd, Type::kI64, n.convert(x, Type::kI64), i64(5));
  EXPECT_EQ(n.convert(sum, Type::kI32), op(TraceOp::kAdd, Type::kI32, x, i32(5)));
  const NodeId up = op(TraceOp::kShl, Type::kI64, p, i64(32));
  EXPECT_EQ(
      op(TraceOp::kSar, Type::kI64, up, i64(30)),
      op(TraceOp::kShl, Type::kI64, n.convert(n.convert(p, Type::kI32), Type::kI64, true), i64(2)));
  const NodeId low = n.convert(n.convert(p, Type::kI32), Type::kI64);
  const NodeId high = op(TraceOp::kShr, Type::kI64, p, i64(32));
  const NodeId upper =
      op(TraceOp::kShl, Type::kI64, n.convert(n.convert(high, Type::kI32), Type::kI64), i64(32));
  EXPECT_EQ(op(TraceOp::kOr, Type::kI64, low, upper), p);
}

TEST_F(Simplify, UndefinedBitsVanishWhereTheyAreMaskedOff) {
  const NodeId old = n.undefined(Type::kI64);
  const NodeId kept = op(TraceOp::kAnd, Type::kI64, old, i64(-256));
  const NodeId set = n.convert(n.convert(c, Type::kI8), Type::kI64);
  const NodeId rax = op(TraceOp::kOr, Type::kI64, kept, set);
  EXPECT_EQ(n.compare(Predicate::kNe, n.convert(rax, Type::kI8), n.constant(Type::kI8, 0)), c);
}

TEST_F(Simplify, ConditionsOfFloatFlags) {
  const auto condition = [&](FlagsKind kind, Cond cond) {
    const NodeId flags =
        n.add({.kind = Kind::kFlags, .type = Type::kFlags, .flags = kind, .args = {a, b, kNoNode}});
    return resolve_condition(n, flags, cond);
  };
  using enum Cond;
  const std::pair<Cond, Predicate> x86[] = {
      {kA, Predicate::kOgt}, {kAE, Predicate::kOge}, {kB, Predicate::kUlt}, {kBE, Predicate::kUle},
      {kE, Predicate::kUeq}, {kNE, Predicate::kOne}, {kP, Predicate::kUno}, {kNP, Predicate::kOrd}};
  for (const auto& [cond, predicate] : x86)
    EXPECT_EQ(condition(FlagsKind::kFloatX86, cond), n.compare(predicate, a, b));
  const std::pair<Cond, Predicate> a64[] = {
      {kE, Predicate::kOeq}, {kNE, Predicate::kUne}, {kAE, Predicate::kUge},
      {kB, Predicate::kOlt}, {kS, Predicate::kOlt},  {kNS, Predicate::kUge},
      {kA, Predicate::kUgt}, {kBE, Predicate::kOle}, {kGE, Predicate::kOge},
      {kL, Predicate::kUlt}, {kG, Predicate::kOgt},  {kLE, Predicate::kUle},
      {kO, Predicate::kUno}, {kNO, Predicate::kOrd}};
  for (const auto& [cond, predicate] : a64)
    EXPECT_EQ(condition(FlagsKind::kFloatA64, cond), n.compare(predicate, a, b));
  EXPECT_EQ(condition(FlagsKind::kFloatX86, kG), kNoNode);
}

TEST_F(Simplify, ConditionsOfIntegerFlags) {
  const auto condition = [&](FlagsKind kind, NodeId u, NodeId v, Cond cond) {
    const NodeId flags =
        n.add({.kind = Kind::kFlags, .type = Type::kFlags, .flags = kind, .args = {u, v, kNoNode}});
    return resolve_condition(n, flags, cond);
  };
  EXPECT_EQ(condition(FlagsKind::kCompare, p, i, Cond::kL), n.compare(Predicate::kLt, p, i));
  EXPECT_EQ(condition(FlagsKind::kAnd, p, p, Cond::kLE), n.compare(Predicate::kLe, p, i64(0)));
  EXPECT_EQ(condition(FlagsKind::kAdd, p, i64(-1), Cond::kNE),
            n.compare(Predicate::kNe, p, i64(1)));
  // add p, -1 carries unless p is 0.
  EXPECT_EQ(condition(FlagsKind::kAdd, p, i64(-1), Cond::kB), n.compare(Predicate::kNe, p, i64(0)));
  EXPECT_EQ(condition(FlagsKind::kAnd, p, p, Cond::kP), kNoNode);
}

TEST(Cfg, DominatorsAndNestedLoops) {
  // 0 -> 1 <- 4; 1 -> 2 <-> 3; 3 -> 4; 4 -> 5
  Function f;
  f.blocks.resize(6);
  const std::pair<BlockId, BlockId> edges[] = {{0, 1}, {1, 2}, {2, 3}, {3, 2},
                                               {3, 4}, {4, 1}, {4, 5}};
  for (const auto& [from, to] : edges) {
    f.blocks[from].successors.push_back(to);
    f.blocks[to].predecessors.push_back(from);
  }
  find_loops(f);
  ASSERT_EQ(f.loops.size(), 2u);
  EXPECT_EQ(f.loops[0].header, 1u);
  EXPECT_EQ(f.loops[1].header, 2u);
  EXPECT_EQ(f.loops[1].parent, 0);
  EXPECT_EQ(f.loops[1].depth, 2);
  EXPECT_EQ(f.blocks[3].loop, 1);
  EXPECT_EQ(f.blocks[4].loop, 0);
  EXPECT_EQ(f.blocks[5].loop, -1);
  EXPECT_EQ(f.blocks[5].dominator, 4u);
  EXPECT_EQ(f.loops[0].blocks, (std::vector<BlockId>{1, 2, 3, 4}));
}

TEST(Cfg, LoopsWithTwoEntriesAreIrreducible) {
  const std::vector<std::vector<BlockId>> predecessors = {{}, {0, 2}, {0, 1}};
  EXPECT_FALSE(is_reducible(predecessors, dominators(predecessors)));
}

}  // namespace
}  // namespace nrd::lift
