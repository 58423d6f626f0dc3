// SPDX-License-Identifier: MIT
// tests/compiler/lift_integer_test.cpp: integers that come from memory may wrap and be negative;
// what is known of sizes and counters does not hold for them.
#include <gtest/gtest.h>

#include "function_maker.h"
#include "lift/int_poly.h"

namespace nrd::lift {
namespace {

constexpr const char* kBytes = "void(const uint8_t* x, float* out, size_t n)";
constexpr const char* kWords = "void(const int32_t* x, float* out, size_t n)";

// out[0] = condition ? -1 : 1, from a value of x[0].
class Data : public testing::Test {
 protected:
  FunctionMaker m;
  BlockId entry = m.block();

  NodeId byte() {
    const NodeId loaded = m.load(entry, Type::kI8, m.pointer(0));
    return m.factory.convert(loaded, Type::kI32);
  }
  NodeId word() { return m.load(entry, Type::kI32, m.pointer(0)); }
  NodeId pure(TraceOp op, NodeId a, NodeId b) { return m.factory.pure(op, m.f[a].type, a, b); }
  std::string chosen_by(NodeId condition, const char* signature) {
    m.store(entry, m.pointer(1), m.factory.select(condition, m.f32(-1), m.f32(1)));
    return m.analysed(signature);
  }
  std::string is_negative(NodeId value, const char* signature) {
    return chosen_by(m.factory.compare(Predicate::kLt, value, m.i32(0)), signature);
  }
  static bool has(const std::string& text, const char* part) {
    return text.find(part) != text.npos;
  }
};

// The sign of a 16-bit float that is put together from bytes.
TEST_F(Data, AShiftMayReachTheSign) {
  const std::string text = is_negative(pure(TraceOp::kShl, byte(), m.i32(24)), kBytes);
  EXPECT_TRUE(has(text, "cmp lt") && has(text, "select")) << text;
}

TEST_F(Data, AShiftThatCannotReachTheSignIsNotNegative) {
  const std::string text = is_negative(pure(TraceOp::kShl, byte(), m.i32(23)), kBytes);
  EXPECT_FALSE(has(text, "cmp")) << text;
}

TEST_F(Data, SumsDifferencesAndProductsMayWrap) {
  for (const TraceOp op : {TraceOp::kAdd, TraceOp::kSub, TraceOp::kMul}) {
    FunctionMaker other;
    const BlockId block = other.block();
    const NodeId a = other.load(block, Type::kI32, other.pointer(0));
    const NodeId b = other.load(block, Type::kI32, other.add(other.pointer(0), other.i64(4)));
    const NodeId wide = other.factory.convert(other.factory.pure(op, Type::kI32, a, b), Type::kI64);
    const NodeId big = other.factory.compare(Predicate::kGt, wide, other.i64(1000));
    other.store(block, other.pointer(1), other.factory.select(big, other.f32(-1), other.f32(1)));
    const std::string text = other.analysed(kWords);
    // At 32 bits, and widened without a sign.
    EXPECT_TRUE(has(text, (std::string(trace_op_word(op)) + " i32").c_str())) << text;
    EXPECT_TRUE(has(text, "uto_i64")) << text;
  }
}

// A fact without sign is none with it: x below 8 as unsigned does not make x + 8 positive.
TEST_F(Data, UnsignedOrderIsNotSignedOrder) {
  const NodeId x = word();
  const NodeId above = m.factory.compare(Predicate::kAe, x, m.i32(8));
  const NodeId positive = m.factory.compare(Predicate::kGe, x, m.i32(8));
  const std::string text = chosen_by(
      m.factory.pure(TraceOp::kAnd, Type::kBool, above, m.factory.invert(positive)), kWords);
  EXPECT_TRUE(has(text, "cmp")) << text;
}

// x >> 31 is the sign of data, and 0 only of what counts something.
TEST_F(Data, TheSignBitIsKept) {
  const NodeId sign = pure(TraceOp::kSar, word(), m.i32(31));
  const std::string text = chosen_by(m.factory.compare(Predicate::kNe, sign, m.i32(0)), kWords);
  EXPECT_TRUE(has(text, "cmp")) << text;
}

// What counts something is divided as it stands.
TEST(Quotients, OfSizesByAParameter) {
  for (const bool is_remainder : {false, true}) {
    FunctionMaker m;
    const BlockId entry = m.block();
    const NodeId by =
        m.factory.add({.kind = is_remainder ? Kind::kURem : Kind::kUDiv,
                       .type = Type::kI64,
                       .args = {m.arg(2, Type::kI64), m.arg(3, Type::kI64), kNoNode}});
    m.store(entry, m.pointer(1), m.load(entry, Type::kF32, m.element(m.pointer(0), by)));
    const std::string text = m.analysed("void(const float* x, float* out, size_t n, size_t m)");
    const char* want = is_remainder ? "load f32 x[n % m]" : "load f32 x[n / m]";
    EXPECT_NE(text.find(want), text.npos) << text;
  }
}

// Facts are proved over the integers: what would wrap proves nothing.
TEST(LiftInteger, ProductsThatWouldWrapAreTooLarge) {
  const IntPoly x = IntPoly::atom(1);
  const IntPoly large = IntPoly(int64_t{1} << 32) * x;
  EXPECT_TRUE(exact_product(large, IntPoly((int64_t{1} << 32) - 1)).is_too_large());
  EXPECT_TRUE(exact_product(IntPoly(INT64_MIN) * x, IntPoly(1)).is_too_large());
  EXPECT_EQ(exact_product(large, IntPoly(-3)), IntPoly(-3 * (int64_t{1} << 32)) * x);
  EXPECT_EQ((IntPoly(INT64_MIN) * x).magnitude(), INT64_MAX);
}

}  // namespace
}  // namespace nrd::lift
