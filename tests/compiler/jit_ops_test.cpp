// SPDX-License-Identifier: MIT
// tests/compiler/jit_ops_test.cpp: every operation of the vector IR against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "jit/op_info.h"
#include "jit_run.h"
#include "jit_values.h"
#include "tests/seed.h"

namespace nrd::jit {
namespace {

class JitOps : public JitTest {
 protected:
  // Runs a body over three input streams and one output stream of 4- or 8-byte elements, vector
  // by vector, in the generated code and in the interpreter.
  template <class In, class Out, class Body>
  void check_streams(const std::string& name, bool is_f64, DType out_dtype, Body body,
                     const std::vector<In>& a, const std::vector<In>& b, const std::vector<In>& c) {
    Builder builder(name, target(), target().lanes(is_f64));
    body(builder);
    builder.ret();
    const Program program = builder.take();
    const Compiled compiled = compile(program, target());
    ASSERT_TRUE(compiled.code);
    const auto lanes = static_cast<size_t>(program.lanes);
    std::vector<Out> expected(lanes), got(lanes);
    for (size_t at = 0; at + lanes <= a.size(); at += lanes) {
      Block block;
      block.in[0] = &a[at];
      block.in[1] = &b[at];
      block.in[2] = &c[at];
      block.out[0] = expected.data();
      Interpreter(program).run(&block);
      block.out[0] = got.data();
      compiled.run(block);
      ASSERT_TRUE(same_elements(expected.data(), got.data(), lanes, out_dtype))
          << name << " at " << at << " of " << std::hex << a[at] << " " << b[at];
    }
  }

  void check_op(Op op, Lane lane, int arity, bool half = false) {
    const bool is_f64 = lane == Lane::kF64;
    const DType dtype = is_f64 ? DType::kF64 : lane == Lane::kF32 ? DType::kF32 : DType::kI32;
    const auto body = [&](Builder& b) {
      V args[3];
      for (int i = 0; i < arity; i++) args[i] = b.load(dtype, lane, {in_pointer(b, i)});
      const V result = arity == 1   ? b.op1(op, lane, args[0])
                       : arity == 2 ? b.op2(op, lane, args[0], args[1])
                                    : b.op3(op, lane, args[0], args[1], args[2]);
      b.store(dtype, lane, {out_pointer(b)}, result);
    };
    const std::string name(op_info(op).word);
    if (is_f64) {
      std::vector<uint64_t> a, b, c;
      fill_pairs(special_f64(), a, b, c, 2000, 1);
      check_streams<uint64_t, uint64_t>(name, true, dtype, body, a, b, c);
    } else {
      std::vector<uint32_t> a, b, c;
      fill_pairs(lane == Lane::kF32 ? special_f32() : special_i32(), a, b, c, 2000, 1);
      if (op == Op::kShlV || op == Op::kShrV || op == Op::kSarV) {
        for (uint32_t& count : b) count &= 31;
      }
      check_streams<uint32_t, uint32_t>(name, half, dtype, body, a, b, c);
    }
  }
};

TEST_P(JitOps, FloatArithmetic) {
  for (Lane lane : {Lane::kF32, Lane::kF64}) {
    for (Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMax, Op::kMin, Op::kAnd, Op::kOr,
                  Op::kXor, Op::kAndNot}) {
      check_op(op, lane, 2);
    }
    for (Op op : {Op::kSqrt, Op::kFloor, Op::kCeil, Op::kTrunc, Op::kRint, Op::kMove}) {
      check_op(op, lane, 1);
    }
    for (Op op : {Op::kFma, Op::kFnma, Op::kFms}) check_op(op, lane, 3);
  }
}

TEST_P(JitOps, MultipliesByALane) {
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_f32(), a, b, c, 500, 4);
  for (int number = 0; number < 2; number++) {
    const auto body = [&](Builder& builder) {
      const V x = builder.load(DType::kF32, Lane::kF32, {in_pointer(builder, 0)});
      const V y = builder.load(DType::kF32, Lane::kF32, {in_pointer(builder, 1)});
      const V z = builder.load(DType::kF32, Lane::kF32, {in_pointer(builder, 2)});
      const V r = builder.target().has_lane_fma
                      ? builder.fma_lane(x, y, number, z, number == 0 ? z : V{})
                      : builder.op3(Op::kFma, Lane::kF32, x, y, z);
      builder.store(DType::kF32, Lane::kF32, {out_pointer(builder)}, r);
    };
    check_streams<uint32_t, uint32_t>("fma_lane", false, DType::kF32, body, a, b, c);
  }
}

TEST_P(JitOps, HalfOfTheLanes) {
  for (Op op : {Op::kAdd, Op::kMax, Op::kAnd}) check_op(op, Lane::kF32, 2, true);
  check_op(Op::kFma, Lane::kF32, 3, true);
  check_op(Op::kRint, Lane::kF32, 1, true);
}

TEST_P(JitOps, IntegerArithmetic) {
  for (Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor,
                Op::kAndNot, Op::kShlV, Op::kShrV, Op::kSarV}) {
    check_op(op, Lane::kI32, 2);
  }
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_i32(), a, b, c, 200, 2);
  for (Op op : {Op::kShl, Op::kShr, Op::kSar}) {
    for (int count : {0, 1, 7, 23, 31}) {
      const auto body = [&](Builder& builder) {
        const V x = builder.load(DType::kI32, Lane::kI32, {in_pointer(builder, 0)});
        builder.store(DType::kI32, Lane::kI32, {out_pointer(builder)}, builder.shift(op, x, count));
      };
      check_streams<uint32_t, uint32_t>("shift", false, DType::kI32, body, a, b, c);
    }
  }
}

TEST_P(JitOps, Conversions) {
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_f32(), a, b, c, 4000, 3);
  std::vector<uint64_t> wide, x, y;
  fill_pairs(special_f64(), wide, x, y, 4000, 3);
  const auto narrow_body = [](Op op, DType from, Lane from_lane, DType to, Lane to_lane) {
    return [=](Builder& builder) {
      const V value = builder.load(from, from_lane, {in_pointer(builder, 0)});
      builder.store(to, to_lane, {out_pointer(builder)}, builder.op1(op, to_lane, value));
    };
  };
  constexpr DType kF32 = DType::kF32, kF64 = DType::kF64, kI32 = DType::kI32;
  for (bool half : {false, true}) {
    check_streams<uint32_t, uint32_t>(
        "i32_to_f32", half, kF32, narrow_body(Op::kI32ToF32, kI32, Lane::kI32, kF32, Lane::kF32), a,
        b, c);
    for (Op op : {Op::kF32ToI32, Op::kF32ToI32Nearest}) {
      check_streams<uint32_t, uint32_t>(
          "f32_to_i32", half, kI32, narrow_body(op, kF32, Lane::kF32, kI32, Lane::kI32), a, b, c);
    }
  }
  check_streams<uint32_t, uint64_t>("f32_to_f64", true, kF64,
                                    narrow_body(Op::kF32ToF64, kF32, Lane::kF32, kF64, Lane::kF64),
                                    a, b, c);
  check_streams<uint32_t, uint64_t>("i32_to_f64", true, kF64,
                                    narrow_body(Op::kI32ToF64, kI32, Lane::kI32, kF64, Lane::kF64),
                                    a, b, c);
  check_streams<uint64_t, uint32_t>("f64_to_f32", true, kF32,
                                    narrow_body(Op::kF64ToF32, kF64, Lane::kF64, kF32, Lane::kF32),
                                    wide, x, y);
  check_streams<uint64_t, uint32_t>("f64_to_i32", true, kI32,
                                    narrow_body(Op::kF64ToI32, kF64, Lane::kF64, kI32, Lane::kI32),
                                    wide, x, y);
}

constexpr Predicate kLastFloat = Predicate::kUno;

TEST_P(JitOps, FloatComparisonsAndSelect) {
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_f32(), a, b, c, 500, 4);
  std::vector<uint64_t> wa, wb, wc;
  fill_pairs(special_f64(), wa, wb, wc, 500, 4);
  for (int p = 0; p <= static_cast<int>(kLastFloat); p++) {
    for (Lane lane : {Lane::kF32, Lane::kF64}) {
      const bool is_f64 = lane == Lane::kF64;
      const DType dtype = is_f64 ? DType::kF64 : DType::kF32;
      const auto to_vector = [&](Builder& builder) {
        const V x = builder.load(dtype, lane, {in_pointer(builder, 0)});
        const V y = builder.load(dtype, lane, {in_pointer(builder, 1)});
        const M m = builder.compare(static_cast<Predicate>(p), lane, x, y);
        builder.store(DType::kI32, Lane::kI32, {out_pointer(builder)}, builder.mask_to_vector(m));
      };
      const auto to_select = [&](Builder& builder) {
        const V x = builder.load(dtype, lane, {in_pointer(builder, 0)});
        const V y = builder.load(dtype, lane, {in_pointer(builder, 1)});
        const M m = builder.compare(static_cast<Predicate>(p), lane, x, y);
        const V z = builder.load(dtype, lane, {in_pointer(builder, 2)});
        builder.store(dtype, lane, {out_pointer(builder)}, builder.select(lane, m, z, x));
      };
      if (is_f64) {
        check_streams<uint64_t, uint32_t>("compare", true, DType::kI32, to_vector, wa, wb, wc);
        check_streams<uint64_t, uint64_t>("select", true, dtype, to_select, wa, wb, wc);
      } else {
        check_streams<uint32_t, uint32_t>("compare", false, DType::kI32, to_vector, a, b, c);
        check_streams<uint32_t, uint32_t>("select", false, dtype, to_select, a, b, c);
      }
    }
  }
}

TEST_P(JitOps, IntegerComparisons) {
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_i32(), a, b, c, 500, 5);
  for (int p = static_cast<int>(Predicate::kEq); p <= static_cast<int>(Predicate::kAe); p++) {
    const auto body = [&](Builder& builder) {
      const V x = builder.load(DType::kI32, Lane::kI32, {in_pointer(builder, 0)});
      const V y = builder.load(DType::kI32, Lane::kI32, {in_pointer(builder, 1)});
      const M m = builder.compare(static_cast<Predicate>(p), Lane::kI32, x, y);
      builder.store(DType::kI32, Lane::kI32, {out_pointer(builder)}, builder.mask_to_vector(m));
    };
    check_streams<uint32_t, uint32_t>("compare", false, DType::kI32, body, a, b, c);
    check_streams<uint32_t, uint32_t>("compare", true, DType::kI32, body, a, b, c);
  }
}

TEST_P(JitOps, MaskLogic) {
  std::vector<uint32_t> a, b, c;
  fill_pairs(special_i32(), a, b, c, 100, 6);
  for (bool half : {false, true}) {
    for (Op op : {Op::kMaskAnd, Op::kMaskOr, Op::kMaskXor, Op::kMaskNot}) {
      const auto body = [&](Builder& builder) {
        const V x = builder.load(DType::kI32, Lane::kI32, {in_pointer(builder, 0)});
        const V y = builder.load(DType::kI32, Lane::kI32, {in_pointer(builder, 1)});
        const M m = builder.compare(Predicate::kLt, Lane::kI32, x, y);
        const M n = builder.compare(Predicate::kEq, Lane::kI32, x, builder.iota());
        const M r = builder.mask_op(op, m, op == Op::kMaskNot ? M{} : n);
        const M s = builder.mask_op(Op::kMaskXor, r, builder.mask_constant(true));
        const M t = builder.mask_op(Op::kMaskOr, s, builder.mask_constant(false));
        builder.store(DType::kI32, Lane::kI32, {out_pointer(builder)}, builder.mask_to_vector(t));
      };
      check_streams<uint32_t, uint32_t>("mask", half, DType::kI32, body, a, b, c);
    }
  }
}

TEST_P(JitOps, BranchAny) {
  for (bool half : {false, true}) {
    for (bool over_a_jump : {false, true}) {
      for (bool inverted_mask : {false, true}) {
        const auto body = [&](Builder& b) {
          const V x = b.load(DType::kI32, Lane::kI32, {in_pointer(b, 0)});
          const V one = b.constant(Lane::kI32, 1);
          M m = b.compare(Predicate::kEq, Lane::kI32, x, one);
          if (inverted_mask) m = b.mask_op(Op::kMaskNot, m);
          const V result = b.op1(Op::kMove, Lane::kI32, one);
          const Label yes = b.label(), done = b.label();
          b.branch_any(m, yes);
          if (!over_a_jump) b.op2(Op::kAdd, Lane::kI32, result, one, result);
          b.jump(done);
          b.bind(yes);
          b.op2(Op::kAdd, Lane::kI32, result, x, result);
          b.bind(done);
          b.store(DType::kI32, Lane::kI32, {out_pointer(b)}, result);
        };
        std::vector<uint32_t> a(16 * 20, 0);
        for (size_t i = 16; i < 288; i += 17) a[i] = 1;
        for (size_t i = 288; i < a.size(); i++) a[i] = 1;
        check_streams<uint32_t, uint32_t>("any", half, DType::kI32, body, a, a, a);
      }
    }
  }
}

TEST_P(JitOps, AcrossLanes) {
  for (Lane lane : {Lane::kF32, Lane::kF64, Lane::kI32}) {
    const bool is_f64 = lane == Lane::kF64;
    const DType dtype = is_f64 ? DType::kF64 : lane == Lane::kF32 ? DType::kF32 : DType::kI32;
    std::vector<uint32_t> a(64), b(64);
    std::vector<uint64_t> wa(64), wb(64);
    for (uint32_t i = 0; i < 64; i++) {
      a[i] = i;
      b[i] = 100 + i;
      wa[i] = i;
      wb[i] = 100 + i;
    }
    for (Op op : {Op::kEven, Op::kOdd, Op::kZipLow, Op::kZipHigh, Op::kSplat}) {
      for (bool into_first : {false, true}) {
        const auto body = [&](Builder& builder) {
          const V x = builder.load(dtype, lane, {in_pointer(builder, 0)});
          const V y = builder.load(dtype, lane, {in_pointer(builder, 1)});
          const V into = into_first ? x : V{};
          const V r =
              op == Op::kSplat ? builder.op1(op, lane, x, into) : builder.op2(op, lane, x, y, into);
          builder.store(dtype, lane, {out_pointer(builder)}, r);
        };
        if (is_f64) {
          check_streams<uint64_t, uint64_t>("shuffle", true, dtype, body, wa, wb, wa);
        } else {
          check_streams<uint32_t, uint32_t>("shuffle", false, dtype, body, a, b, a);
          check_streams<uint32_t, uint32_t>("shuffle", true, dtype, body, a, b, a);
        }
      }
    }
    // A whole reduction: only its lane 0 is defined.
    const auto sum = [&](Builder& builder) {
      V x = builder.load(dtype, lane, {in_pointer(builder, 0)});
      for (int d = builder.lanes() / 2; d >= 1; d /= 2) {
        x = builder.op2(Op::kAdd, lane, x, builder.fold(lane, x, d));
      }
      builder.store(dtype, lane, {out_pointer(builder)}, builder.splat(lane, x));
    };
    if (is_f64) {
      for (uint64_t& x : wa) x = std::bit_cast<uint64_t>(static_cast<double>(x));
      check_streams<uint64_t, uint64_t>("sum", true, dtype, sum, wa, wb, wa);
    } else {
      if (lane == Lane::kF32) {
        for (uint32_t& x : a) x = std::bit_cast<uint32_t>(static_cast<float>(x));
      }
      check_streams<uint32_t, uint32_t>("sum", false, dtype, sum, a, b, a);
      check_streams<uint32_t, uint32_t>("sum", true, dtype, sum, a, b, a);
    }
  }
}

TEST_P(JitOps, ScaleAndExponent) {
  if (!target().has_scale) GTEST_SKIP() << "no such operations";
  std::vector<uint32_t> a, b, c;
  std::mt19937 random(test_seed(7));
  for (int i = 0; i < 4096; i++) {
    a.push_back(random() & 0xbfffffffu);
    b.push_back(
        std::bit_cast<uint32_t>(static_cast<float>(static_cast<int>(random() % 300) - 150)));
    c.push_back(0);
  }
  const auto scale = [](Builder& x) {
    const V value = x.load(DType::kF32, Lane::kF32, {in_pointer(x, 0)});
    const V power = x.load(DType::kF32, Lane::kF32, {in_pointer(x, 1)});
    x.store(DType::kF32, Lane::kF32, {out_pointer(x)}, x.op2(Op::kScale, Lane::kF32, value, power));
  };
  check_streams<uint32_t, uint32_t>("scale", false, DType::kF32, scale, a, b, c);
  // Exponent and mantissa belong together: mantissa * 2^k is the number, mantissa in [0.75, 1.5).
  Builder x("split", target(), target().lanes(false));
  const V value = x.load(DType::kF32, Lane::kF32, {in_pointer(x, 0)});
  x.store(DType::kF32, Lane::kF32, {out_pointer(x, 0)}, x.op1(Op::kExponent, Lane::kF32, value));
  x.store(DType::kF32, Lane::kF32, {out_pointer(x, 1)}, x.op1(Op::kMantissa, Lane::kF32, value));
  x.ret();
  const Compiled compiled = compile(x.take(), target());
  float numbers[16], exponents[16], mantissas[16];
  for (int i = 0; i < 16; i++) numbers[i] = std::ldexp(0.7f + 0.07f * static_cast<float>(i), i - 8);
  Block block;
  block.in[0] = numbers;
  block.out[0] = exponents;
  block.out[1] = mantissas;
  compiled.run(block);
  for (int i = 0; i < 16; i++) {
    EXPECT_EQ(exponents[i], std::logb(numbers[i]));
    EXPECT_GE(mantissas[i], 0.75f);
    EXPECT_LT(mantissas[i], 1.5f);
    EXPECT_EQ(std::exp2(std::rint(std::log2(numbers[i] / mantissas[i]))) * mantissas[i],
              numbers[i]);
  }
}

TEST_P(JitOps, Lookup) {
  if (!target().has_tables) GTEST_SKIP() << "no such operation";
  std::array<float, 16> table{};
  for (size_t i = 0; i < 16; i++) table[i] = 0.5f + static_cast<float>(i);
  std::vector<uint32_t> index(64), none(64);
  for (uint32_t i = 0; i < 64; i++) index[i] = 7 * i;  // only its low four bits count
  for (bool into_first : {false, true}) {
    const auto body = [&](Builder& x) {
      const V at = x.load(DType::kI32, Lane::kI32, {in_pointer(x, 0)});
      const V found = x.lookup(at, table);
      if (into_first) x.op1(Op::kMove, Lane::kI32, found, at);
      x.store(DType::kF32, Lane::kF32, {out_pointer(x)}, into_first ? at : found);
    };
    check_streams<uint32_t, uint32_t>("lookup", false, DType::kF32, body, index, none, none);
  }
}

NRD_FOR_EACH_ISA(JitOps);

}  // namespace
}  // namespace nrd::jit
