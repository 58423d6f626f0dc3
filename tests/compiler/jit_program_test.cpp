// SPDX-License-Identifier: MIT
// tests/compiler/jit_program_test.cpp: general registers, control flow, calls, the text form and
// the verifier.
#include <gtest/gtest.h>

#include <cmath>

#include "jit_run.h"

namespace nrd::jit {
namespace {

class JitProgram : public JitTest {};

// ---- general registers ----

TEST_P(JitProgram, GeneralRegisterArithmetic) {
  const int64_t values[] = {0, 1, 5, -7, 1000, -1, INT64_C(1) << 40, (INT64_C(1) << 33) + 3};
  const Op operations[] = {Op::kGAdd, Op::kGSub, Op::kGMul, Op::kGAnd, Op::kGMin, Op::kGMax};
  for (Op op : operations) {
    for (int64_t right : values) {
      for (bool has_imm : {false, true}) {
        for (int into : {0, 1, 2}) {  // a new register, the first operand's, the second's
          Builder b("gpr", target(), target().lanes(false));
          const G x = number(b, 0), y = number(b, 1);
          const G dst = into == 0 ? G{} : into == 1 ? x : y;
          const G r = has_imm ? b.gop(op, x, right, dst) : b.gop(op, x, y, dst);
          b.gstore({out_pointer(b)}, r);
          b.ret();
          const Program program = b.take();
          const Compiled compiled = compile(program, target());
          ASSERT_TRUE(compiled.code);
          for (int64_t left : values) {
            int64_t expected = 0, got = 1;
            Block block;
            block.number[0] = left;
            block.number[1] = right;
            block.out[0] = &expected;
            Interpreter(program).run(&block);
            block.out[0] = &got;
            compiled.run(block);
            ASSERT_EQ(expected, got) << program_text(program) << left << " " << right;
          }
        }
      }
    }
  }
}

TEST_P(JitProgram, ShiftsAndDivisions) {
  for (int64_t divisor : {1, 2, 3, 64, 1000}) {
    for (bool has_imm : {false, true}) {
      Builder b("div", target(), target().lanes(false));
      const G x = number(b, 0);
      const G q = has_imm ? b.gop(Op::kGDiv, x, divisor) : b.gop(Op::kGDiv, x, number(b, 1));
      const G s = b.gop(Op::kGShl, q, 3);
      const G t = b.gop(Op::kGSar, b.gop(Op::kGSub, b.gconst(0), x), 2);
      b.gstore({out_pointer(b)}, b.gop(Op::kGAdd, s, t));
      b.ret();
      const Program program = b.take();
      const Compiled compiled = compile(program, target());
      ASSERT_TRUE(compiled.code);
      for (int64_t value : {INT64_C(0), INT64_C(7), INT64_C(123456789012345)}) {
        int64_t expected = 0, got = 1;
        Block block;
        block.number[0] = value;
        block.number[1] = divisor;
        block.out[0] = &expected;
        Interpreter(program).run(&block);
        block.out[0] = &got;
        compiled.run(block);
        EXPECT_EQ(expected, got);
      }
    }
  }
}

// More pointers and counters than there are registers: addresses, divisions and comparisons
// through the stack.
TEST_P(JitProgram, SpilledGeneralRegisters) {
  Builder b("many", target(), target().lanes(false));
  std::vector<G> values;
  for (int i = 0; i < 30; i++) values.push_back(b.gop(Op::kGAdd, number(b, i % 4), i));
  const G base = in_pointer(b, 0), out = out_pointer(b);
  G sum = b.gconst(0);
  const Label again = b.label();
  const G counter = b.gconst(3);
  b.loop_begin();
  b.bind(again);
  for (size_t i = 0; i < values.size(); i++) {
    const G product = b.gop(Op::kGMul, values[i], values[(i * 7 + 3) % values.size()]);
    b.gop(Op::kGAdd, sum, product, sum);
    const G index = b.gop(Op::kGAnd, values[i], 7);
    b.gop(Op::kGAdd, sum, b.gload({base, index, 8, 8}), sum);
    b.gop(Op::kGAdd, sum, b.gload({base, index, 4, 0}, 4), sum);
    b.gop(Op::kGMax, sum, values[i], sum);
    const G positive = b.gop(Op::kGAnd, sum, 0xffffff);
    b.gop(Op::kGAdd, sum, b.gop(Op::kGDiv, positive, b.gop(Op::kGAdd, index, 1)), sum);
    const Label skip = b.label();
    b.branch(Predicate::kLt, values[i], values[(i + 5) % values.size()], skip);
    b.gop(Op::kGAdd, values[i], 1, values[i]);
    b.bind(skip);
  }
  b.gop(Op::kGSub, counter, 1, counter);
  b.branch(Predicate::kGt, counter, 0, again);
  b.loop_end();
  for (G value : values) b.gop(Op::kGAdd, sum, value, sum);
  b.gstore({out}, sum);
  b.ret();
  const Program program = b.take();
  const Compiled compiled = compile(program, target());
  ASSERT_TRUE(compiled.code);
  EXPECT_GT(compiled.spills, 10);
  int64_t table[16], expected = 0, got = 1;
  for (int i = 0; i < 16; i++) table[i] = i * 1000 - 3;
  Block block;
  block.in[0] = table;
  for (int i = 0; i < 4; i++) block.number[i] = 10 * i + 1;
  block.out[0] = &expected;
  Interpreter(program).run(&block);
  block.out[0] = &got;
  compiled.run(block);
  EXPECT_EQ(expected, got);
}

TEST_P(JitProgram, LanesToAndFromGeneralRegisters) {
  Builder b("lanes", target(), target().lanes(false));
  const V x = b.splat_gpr(number(b, 0));
  const V y = b.op2(Op::kAdd, Lane::kI32, x, b.iota());
  b.store(DType::kI32, Lane::kI32, {out_pointer(b)}, y);
  b.gstore({out_pointer(b, 1)}, b.glane(y));
  b.ret();
  const Compiled compiled = compile(b.take(), target());
  int32_t lanes[16] = {};
  int64_t first = 0;
  Block block;
  block.number[0] = -5;
  block.out[0] = lanes;
  block.out[1] = &first;
  compiled.run(block);
  for (int i = 0; i < target().lanes(false); i++) EXPECT_EQ(lanes[i], i - 5);
  EXPECT_EQ(first, -5);
}

// ---- calls ----

void add_helper(const void* a, const void* b, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<float*>(out)[i] =
        std::hypot(static_cast<const float*>(a)[i], static_cast<const float*>(b)[i]);
  }
}

void exp_helper(const void* a, const void*, void* out, int64_t lanes) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % (static_cast<uintptr_t>(lanes) * 4), 0u);
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<float*>(out)[i] = std::exp(static_cast<const float*>(a)[i]);
  }
}

constexpr Helper kHelpers[] = {add_helper, exp_helper};

// Vectors, masks and general registers live across calls, some in registers, some not.
TEST_P(JitProgram, CallsKeepEverythingAlive) {
  for (int live : {2, 12, 40}) {
    Builder b("calls", target(), target().lanes(false));
    const G in = in_pointer(b, 0), out = out_pointer(b);
    std::vector<V> values;
    std::vector<M> masks;
    std::vector<G> numbers;
    const V half = b.constant(0.5f);
    for (int i = 0; i < live; i++) {
      const V x = b.load(DType::kF32, Lane::kF32, {in, {}, 1, 4 * i});
      values.push_back(x);
      masks.push_back(b.compare(Predicate::kOgt, Lane::kF32, x, half));
      numbers.push_back(b.gop(Op::kGAdd, number(b, 0), i));
    }
    const V one = b.call_lanes(Lane::kF32, 1, values[0]);
    const V two = b.call_lanes(Lane::kF32, 0, values[1], half);
    V sum = b.op2(Op::kAdd, Lane::kF32, one, two);
    G total = b.gconst(0);
    for (int i = 0; i < live; i++) {
      const auto at = static_cast<size_t>(i);
      const V chosen = b.select(Lane::kF32, masks[at], values[at], half);
      sum = b.op3(Op::kFma, Lane::kF32, chosen, sum, values[at]);
      b.gop(Op::kGAdd, total, numbers[at], total);
    }
    b.store(DType::kF32, Lane::kF32, {out}, sum);
    b.gstore({out_pointer(b, 1)}, total);
    b.ret();
    const Program program = b.take();
    const Compiled compiled = compile(program, target());
    ASSERT_TRUE(compiled.code);
    std::vector<float> numbers_in(64);
    for (size_t i = 0; i < 64; i++) numbers_in[i] = std::sin(static_cast<float>(i));
    float expected[16], got[16];
    int64_t total_expected = 0, total_got = 1;
    Block block;
    block.helpers = kHelpers;
    block.in[0] = numbers_in.data();
    block.number[0] = 17;
    block.out[0] = expected;
    block.out[1] = &total_expected;
    Interpreter(program).run(&block);
    block.out[0] = got;
    block.out[1] = &total_got;
    compiled.run(block);
    EXPECT_TRUE(same_elements(expected, got, static_cast<size_t>(program.lanes), DType::kF32));
    EXPECT_EQ(total_expected, total_got);
  }
}

// ---- constants and pinned registers ----

// A constant in every operand position, with more of them than registers.
TEST_P(JitProgram, ConstantsWithoutARegister) {
  for (bool is_f64 : {false, true}) {
    const Lane lane = is_f64 ? Lane::kF64 : Lane::kF32;
    const DType dtype = is_f64 ? DType::kF64 : DType::kF32;
    Builder b("constants", target(), target().lanes(is_f64));
    V sum = b.load(dtype, lane, {in_pointer(b, 0)});
    for (int i = 0; i < 50; i++) {
      const double number = 1.0 + i * 0.125;
      const V c = is_f64 ? b.constant(lane, std::bit_cast<uint64_t>(number))
                         : b.constant(static_cast<float>(number));
      const V d = is_f64 ? b.constant(lane, std::bit_cast<uint64_t>(-number))
                         : b.constant(static_cast<float>(-number));
      sum = b.op3(Op::kFma, lane, sum, c, d);
      sum = b.op3(Op::kFnma, lane, c, sum, sum);
      sum = b.op3(Op::kFms, lane, c, d, sum);
      sum = b.op2(Op::kSub, lane, c, sum);
      sum = b.op2(Op::kMax, lane, sum, d);
      sum = b.op2(Op::kMul, lane, c, b.op1(Op::kRint, lane, sum));
      sum = b.select(lane, b.compare(Predicate::kOlt, lane, sum, c), c, sum);
      sum = b.select(lane, b.compare(Predicate::kOgt, lane, d, sum), sum, d);
      sum = b.op2(Op::kAdd, lane, b.op1(Op::kSqrt, lane, c), sum);
    }
    b.store(dtype, lane, {out_pointer(b)}, sum);
    b.store(dtype, lane, {out_pointer(b, 1)}, b.constant(lane, 0));
    b.ret();
    const Program program = b.take();
    const Compiled compiled = compile(program, target());
    ASSERT_TRUE(compiled.code);
    EXPECT_EQ(compiled.spills, 0);
    uint64_t in[16], expected[16], got[16], zero[16];
    for (int i = 0; i < 16; i++) in[i] = 0x3f8000003ff00000u + static_cast<uint64_t>(i) * 12345;
    Block block;
    block.in[0] = in;
    block.out[0] = expected;
    block.out[1] = zero;
    Interpreter(program).run(&block);
    block.out[0] = got;
    compiled.run(block);
    EXPECT_TRUE(same_elements(expected, got, static_cast<size_t>(program.lanes), dtype));
  }
}

TEST_P(JitProgram, PinnedRegistersStayWhereTheyAre) {
  Builder b("pinned", target(), target().lanes(false));
  const V accumulator = b.pinned_vector(3), other = b.pinned_vector(4);
  const G in = in_pointer(b, 0);
  b.load(DType::kF32, Lane::kF32, {in}, nullptr, accumulator);
  b.load(DType::kF32, Lane::kF32, {in, {}, 1, 4}, nullptr, other);
  for (int i = 0; i < 20; i++) {
    const V x = b.load(DType::kF32, Lane::kF32, {in, {}, 1, 4 * i});
    b.op3(Op::kFma, Lane::kF32, x, other, accumulator, accumulator);
  }
  b.store(DType::kF32, Lane::kF32, {out_pointer(b)}, accumulator);
  b.ret();
  const Program program = b.take();
  const auto bytes = encode(program, target());
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::string text = disassemble(bytes->data(), bytes->size());
  const std::string fma = target().isa == "avx512" ? "vfmadd231ps zmm3, "
                          : target().isa == "avx2" ? "vfmadd231ps ymm3, "
                                                   : "fmla v3.4s, ";
  size_t found = 0;
  for (size_t at = 0; (at = text.find(fma, at)) != std::string::npos; at++) found++;
  EXPECT_EQ(found, 20u) << text;
}

// An accumulation of the shape GEMM and reductions have: no move, no spill in the loop.
TEST_P(JitProgram, AccumulatorsTakeNoMoves) {
  Builder b("sum", target(), target().lanes(false));
  const G in = in_pointer(b, 0), n = number(b, 0), i = b.gconst(0);
  std::vector<V> sums;
  for (int k = 0; k < 8; k++) sums.push_back(b.op1(Op::kMove, Lane::kF32, b.constant(0.0f)));
  const Label again = b.label();
  b.loop_begin();
  b.bind(again);
  for (V& sum : sums) {
    const V x = b.load(DType::kF32, Lane::kF32, {in, i, 4});
    b.op3(Op::kFma, Lane::kF32, x, x, sum, sum);
  }
  b.gop(Op::kGAdd, i, b.lanes(), i);
  b.branch(Predicate::kLt, i, n, again);
  b.loop_end();
  V sum = sums[0];
  for (size_t k = 1; k < sums.size(); k++) sum = b.op2(Op::kAdd, Lane::kF32, sum, sums[k]);
  b.store(DType::kF32, Lane::kF32, {out_pointer(b)}, sum);
  b.ret();
  int spills = -1;
  const auto bytes = encode(b.take(), target(), &spills);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(spills, 0);
  const std::string text = disassemble(bytes->data(), bytes->size());
  const bool is_neon = target().isa == "neon";
  const std::string_view fma = is_neon ? "fmla" : "vfmadd", move = is_neon ? "mov v" : "vmovaps";
  const size_t loop = text.find(fma), end = text.rfind(fma);
  ASSERT_LT(loop, end);
  EXPECT_EQ(text.substr(loop, end - loop).find(move), std::string::npos) << text;
}

TEST_P(JitProgram, WhatIsWrongIsAnError) {
  Builder b("wrong", target(), target().lanes(false));
  b.op1(Op::kAdd, Lane::kF32, b.constant(1.0f));  // one operand is missing
  b.ret();
  const auto bytes = encode(b.take(), target());
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kInternal);
  Builder c("lanes", target(), 3);
  c.ret();
  EXPECT_FALSE(encode(c.take(), target()));
}

NRD_FOR_EACH_ISA(JitProgram);

// ---- text and verifier: no machine needed ----

constexpr Target kAnyTarget = {.isa = "avx2", .vector_bytes = 32, .vector_registers = 16};

TEST(JitText, IsReadable) {
  Builder b("demo", kAnyTarget, 8);
  const G x = b.gload({b.block(), {}, 1, 8}), n = b.gconst(5);
  const Tail tail = b.tail(n);
  const V v = b.load(DType::kF16, Lane::kF32, {x, n, 2, -4}, &tail);
  const M m = b.compare(Predicate::kOlt, Lane::kF32, v, b.constant(1.0f));
  const V s = b.select(Lane::kF32, m, v, b.op3(Op::kFma, Lane::kF32, v, v, v));
  const Label done = b.label();
  b.branch(Predicate::kLt, n, 16, done);
  b.store(DType::kF32, Lane::kF32, {x}, s);
  b.bind(done);
  b.ret();
  EXPECT_EQ(program_text(b.take()),
            "program demo lanes 8\n"
            "  g0 = argument 0\n"
            "  v5 = const.f32 0x3f800000\n"
            "  g1 = gload [g0 + 8] 8\n"
            "  g2 = gconst 5\n"
            "  m3 = tail_mask g2\n"
            "  v4 = load.f32.f16 [g1 + g2*2 - 4] tail g2 m3\n"
            "  m6 = compare.f32.olt v4 v5\n"
            "  v7 = fma.f32 v4 v4 v4\n"
            "  v8 = select.f32 m6 v4 v7\n"
            "  branch.lt g2 16 L0\n"
            "  store.f32.f32 [g1] v8\n"
            "L0:\n"
            "  return\n");
}

TEST(JitVerify, FindsWhatIsWrong) {
  const auto problem = [](auto body) {
    Builder b("wrong", kAnyTarget, 8);
    body(b);
    b.ret();
    return verify_program(b.take());
  };
  EXPECT_EQ(problem([](Builder&) {}), "");
  EXPECT_NE(problem([](Builder& b) {
              b.op1(Op::kSqrt, Lane::kF32, b.new_vector());
            }).find("read before it is set"),
            std::string::npos);
  EXPECT_NE(problem([](Builder& b) {
              b.op1(Op::kSqrt, Lane::kF32, V{b.gconst(1).id});
            }).find("wrong class"),
            std::string::npos);
  EXPECT_NE(problem([](Builder& b) { b.jump(b.label()); }).find("not bound"), std::string::npos);
  EXPECT_NE(problem([](Builder& b) {
              const Label back = b.label();
              b.bind(back);
              b.jump(back);
            }).find("outside of loop brackets"),
            std::string::npos);
  EXPECT_NE(problem([](Builder& b) { b.loop_begin(); }).find("not closed"), std::string::npos);
  EXPECT_NE(problem([](Builder& b) {
              const V c = b.constant(1.0f);
              b.op2(Op::kAdd, Lane::kF32, c, c, c);
            }).find("is a constant"),
            std::string::npos);
  EXPECT_NE(problem([](Builder& b) {
              b.load(DType::kE8M0, Lane::kF32, {b.gconst(0)});
            }).find("does not move"),
            std::string::npos);
  EXPECT_NE(verify_program({}), "");
  Builder late("late", kAnyTarget, 8);
  late.gload({late.block()});
  late.gload({late.pointers()});
  late.ret();
  Program arguments = late.take();
  EXPECT_EQ(verify_program(arguments), "");
  std::swap(arguments.code[0], arguments.code[1]);
  EXPECT_NE(verify_program(arguments).find("arguments stand first"), std::string::npos);
  Builder b("sound", kAnyTarget, 8);
  b.op1(Op::kScale, Lane::kF32, b.constant(1.0f));
  b.ret();
  Target own = kAnyTarget;
  own.isa = kIsas[0];
  const auto bytes = encode(b.take(), own);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace nrd::jit
