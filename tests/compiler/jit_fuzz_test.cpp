// SPDX-License-Identifier: MIT
// tests/compiler/jit_fuzz_test.cpp: random programs, generated code against the interpreter.
//
// Programs hold more values than there are registers, assign registers again, nest loops, skip
// code and call helpers. Floats and integers do not mix by bits: what a NaN's payload is depends
// on the order of operands, which nobody promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "jit_run.h"
#include "tests/seed.h"

namespace nrd::jit {
namespace {

constexpr int kSlots = 24;  // results, 128 bytes each
constexpr DType kSlotDtypes[] = {DType::kF32,    DType::kI32,    DType::kF16, DType::kBF16,
                                 DType::kF8E4M3, DType::kF8E5M2, DType::kI8,  DType::kU8};

void blend_helper(const void* a, const void* b, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<float*>(out)[i] =
        static_cast<const float*>(a)[i] * 0.5f + static_cast<const float*>(b)[i];
  }
}
constexpr Helper kHelpers[] = {blend_helper};

class Generator {
 public:
  Generator(const Target& target, uint64_t seed)
      : random_(seed),
        is_f64_(pick(3) == 0),
        b_("fuzz", target, target.lanes(is_f64_)),
        live_(static_cast<size_t>(8 + pick(50))) {}

  Program make() {
    in_ = in_pointer(b_, 0);
    out_ = out_pointer(b_, 0);
    numbers_ = {number(b_, 0), number(b_, 1), b_.gconst(3)};
    for (int i = 0; i < 4; i++) {
      f32_.push_back(b_.load(DType::kF32, Lane::kF32, {in_, {}, 1, 64 * i}));
      i32_.push_back(b_.load(DType::kI32, Lane::kI32, {in_, {}, 1, 64 * i + 4}));
      if (is_f64_) f64_.push_back(b_.load(DType::kF64, Lane::kF64, {in_, {}, 1, 64 * i}));
    }
    masks_.push_back(b_.compare(Predicate::kOlt, Lane::kF32, f32_[0], f32_[1]));
    statements(20 + pick(100), 0);
    for (int slot = 0; slot < kSlots; slot++) store(slot);
    b_.gstore({out_pointer(b_, 1)}, choose(numbers_));
    b_.ret();
    return b_.take();
  }

  static DType slot_dtype(int slot) { return kSlotDtypes[slot % 8]; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  template <class T>
  T choose(const std::vector<T>& from) {
    // Often an old one, so that values live long.
    return from[static_cast<size_t>(pick(static_cast<int>(from.size())))];
  }
  // Adds a result, or drops it among the others when enough are alive.
  template <class T>
  void keep(std::vector<T>& to, T value) {
    if (to.size() < live_) {
      to.push_back(value);
    } else {
      to[static_cast<size_t>(pick(static_cast<int>(to.size())))] = value;
    }
  }
  V into(const std::vector<V>& from) { return pick(4) == 0 ? choose(from) : V{}; }

  V f32_operand() {
    if (pick(4) != 0) return choose(f32_);
    return b_.constant(static_cast<float>(pick(20)) * 0.25f - 2.0f);
  }

  void float_statement() {
    const bool wide = is_f64_ && pick(2) == 0;
    const Lane lane = wide ? Lane::kF64 : Lane::kF32;
    std::vector<V>& pool = wide ? f64_ : f32_;
    const auto operand = [&] { return wide ? choose(f64_) : f32_operand(); };
    constexpr Op kBinary[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kMin, Op::kDiv};
    constexpr Op kUnary[] = {Op::kSqrt, Op::kFloor, Op::kRint, Op::kMove, Op::kTrunc};
    constexpr Op kTernary[] = {Op::kFma, Op::kFnma, Op::kFms};
    constexpr Op kShuffle[] = {Op::kEven, Op::kOdd, Op::kZipLow, Op::kZipHigh};
    switch (pick(6)) {
      case 0: return keep(pool, b_.op2(kBinary[pick(6)], lane, operand(), operand(), into(pool)));
      case 1: return keep(pool, b_.op1(kUnary[pick(5)], lane, operand(), into(pool)));
      case 2: return keep(pool, b_.op2(kShuffle[pick(4)], lane, operand(), operand(), into(pool)));
      case 3: {
        const V m = b_.fold(lane, operand(), std::min(1 << pick(2), b_.lanes() / 2));
        return keep(pool, b_.splat(lane, m));
      }
      default:
        return keep(pool,
                    b_.op3(kTernary[pick(3)], lane, operand(), operand(), operand(), into(pool)));
    }
  }

  void integer_statement() {
    constexpr Op kBinary[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax,   Op::kMin,
                              Op::kAnd, Op::kOr,  Op::kXor, Op::kAndNot};
    constexpr Op kShifts[] = {Op::kShl, Op::kShr, Op::kSar};
    constexpr Op kShiftsV[] = {Op::kShlV, Op::kShrV, Op::kSarV};
    switch (pick(5)) {
      case 0: return keep(i32_, b_.shift(kShifts[pick(3)], choose(i32_), pick(32), into(i32_)));
      case 1: {
        const V count = b_.op2(Op::kAnd, Lane::kI32, choose(i32_), b_.constant(Lane::kI32, 31));
        return keep(i32_, b_.op2(kShiftsV[pick(3)], Lane::kI32, choose(i32_), count));
      }
      case 2: return keep(i32_, b_.splat_gpr(choose(numbers_)));
      case 3: return keep(i32_, pick(2) == 0 ? b_.iota() : b_.mask_to_vector(choose(masks_)));
      default:
        return keep(i32_,
                    b_.op2(kBinary[pick(9)], Lane::kI32, choose(i32_), choose(i32_), into(i32_)));
    }
  }

  void mask_statement() {
    constexpr Op kOps[] = {Op::kMaskAnd, Op::kMaskOr, Op::kMaskXor};
    switch (pick(6)) {
      case 0:
        return keep(masks_, b_.compare(static_cast<Predicate>(pick(14)), Lane::kF32, choose(f32_),
                                       f32_operand()));
      case 1:
        return keep(masks_, b_.compare(static_cast<Predicate>(14 + pick(10)), Lane::kI32,
                                       choose(i32_), choose(i32_)));
      case 2: return keep(masks_, b_.mask_op(kOps[pick(3)], choose(masks_), choose(masks_)));
      case 3: return keep(masks_, b_.mask_op(Op::kMaskNot, choose(masks_)));
      case 4:
        if (!is_f64_) return keep(masks_, b_.mask_constant(pick(2) == 0));
        keep(masks_,
             b_.compare(static_cast<Predicate>(pick(14)), Lane::kF64, choose(f64_), choose(f64_)));
        return keep(f64_, b_.select(Lane::kF64, choose(masks_), choose(f64_), choose(f64_)));
      default:
        return keep(
            f32_, b_.select(Lane::kF32, choose(masks_), f32_operand(), f32_operand(), into(f32_)));
    }
  }

  void conversion_statement() {
    switch (pick(is_f64_ ? 6 : 2)) {
      case 0: return keep(f32_, b_.op1(Op::kI32ToF32, Lane::kF32, choose(i32_)));
      case 1:
        return keep(i32_, b_.op1(pick(2) == 0 ? Op::kF32ToI32 : Op::kF32ToI32Nearest, Lane::kI32,
                                 f32_operand()));
      case 2: return keep(f64_, b_.op1(Op::kF32ToF64, Lane::kF64, f32_operand()));
      case 3: return keep(f64_, b_.op1(Op::kI32ToF64, Lane::kF64, choose(i32_)));
      case 4: return keep(f32_, b_.op1(Op::kF64ToF32, Lane::kF32, choose(f64_)));
      default: return keep(i32_, b_.op1(Op::kF64ToI32, Lane::kI32, choose(f64_)));
    }
  }

  void memory_statement() {
    constexpr DType kDtypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3,
                                 DType::kF8E5M2};
    const DType dtype = kDtypes[pick(5)];
    const G offset = b_.gop(Op::kGAnd, choose(numbers_), 31);
    const Mem mem = {in_, offset, 1 << pick(4), pick(64)};
    Tail tail;
    const Tail* used = nullptr;
    if (pick(2) == 0) {
      tail = b_.tail(b_.gop(Op::kGAnd, choose(numbers_), b_.lanes() - 1));
      used = &tail;
    }
    switch (pick(5)) {
      case 0: return keep(f32_, b_.broadcast(dtype, Lane::kF32, mem));
      case 1: {
        const G stride = b_.gop(Op::kGAnd, choose(numbers_), 15);
        return keep(f32_, b_.load_strided(dtype, Lane::kF32, mem, stride, used));
      }
      case 2: {
        const V index = b_.op2(Op::kAnd, Lane::kI32, choose(i32_), b_.constant(Lane::kI32, 63));
        return keep(f32_, b_.gather(dtype, Lane::kF32, mem, index, used));
      }
      case 3: store(pick(kSlots), used); return;
      default: return keep(f32_, b_.load(dtype, Lane::kF32, mem, used, into(f32_)));
    }
  }

  void store(int slot, const Tail* tail = nullptr) {
    const DType dtype = slot_dtype(slot);
    const Mem mem = {out_, {}, 1, 128 * slot};
    const bool is_real = is_float(dtype);
    const V value = is_real ? choose(f32_) : choose(i32_);
    const Lane lane = is_real ? Lane::kF32 : Lane::kI32;
    if (pick(6) == 0) {
      b_.store_strided(dtype, lane, mem, b_.gconst(static_cast<int64_t>(byte_size(dtype))), value,
                       tail);
    } else {
      b_.store(dtype, lane, mem, value, tail);
    }
  }

  void scalar_statement() {
    constexpr Op kOps[] = {Op::kGAdd, Op::kGSub, Op::kGMul, Op::kGAnd, Op::kGMin, Op::kGMax};
    const G into = pick(3) == 0 ? choose(numbers_) : G{};
    const G a = choose(numbers_);
    switch (pick(4)) {
      case 0: return keep(numbers_, b_.gop(kOps[pick(6)], a, choose(numbers_), into));
      case 1: return keep(numbers_, b_.gop(kOps[pick(6)], a, int64_t{pick(1000)}, into));
      case 2: return keep(numbers_, b_.glane(choose(i32_)));
      default: return keep(numbers_, b_.gop(Op::kGShl, b_.gop(Op::kGAnd, a, 255), pick(4), into));
    }
  }

  // A do-while loop; values made inside live on behind it.
  void loop(int depth) {
    const G counter = b_.gconst(1 + pick(3));
    const Label again = b_.label();
    b_.loop_begin();
    b_.bind(again);
    statements(5 + pick(20), depth + 1);
    b_.gop(Op::kGSub, counter, 1, counter);
    b_.branch(Predicate::kGt, counter, 0, again);
    b_.loop_end();
  }

  // Code that may be skipped; what it makes is forgotten behind it, what it changes is not.
  void conditional(int depth) {
    const auto f32 = f32_, f64 = f64_, i32 = i32_;
    const auto masks = masks_;
    const auto numbers = numbers_;
    const Label skip = b_.label();
    if (pick(2) == 0) {
      const Label enter = b_.label();
      b_.branch_any(choose(masks_), enter);
      b_.jump(skip);
      b_.bind(enter);
    } else {
      b_.branch(static_cast<Predicate>(static_cast<int>(Predicate::kEq) + pick(6)),
                choose(numbers_), choose(numbers_), skip);
    }
    statements(3 + pick(10), depth + 1);
    b_.bind(skip);
    f32_ = f32;
    f64_ = f64;
    i32_ = i32;
    masks_ = masks;
    numbers_ = numbers;
  }

  void statements(int count, int depth) {
    for (int i = 0; i < count; i++) {
      switch (pick(24)) {
        case 0:
          if (depth < 2) loop(depth);
          break;
        case 1:
          if (depth < 3) conditional(depth);
          break;
        case 2: keep(f32_, b_.call_lanes(Lane::kF32, 0, f32_operand(), f32_operand())); break;
        case 3:
        case 4: scalar_statement(); break;
        case 5:
        case 6: conversion_statement(); break;
        case 7:
        case 8:
        case 9: memory_statement(); break;
        case 10:
        case 11:
        case 12: mask_statement(); break;
        case 13:
        case 14:
        case 15: integer_statement(); break;
        default: float_statement(); break;
      }
    }
  }

  std::mt19937_64 random_;
  bool is_f64_;
  Builder b_;
  size_t live_;
  G in_, out_;
  std::vector<V> f32_, f64_, i32_;
  std::vector<M> masks_;
  std::vector<G> numbers_;
};

class JitFuzz : public JitTest {};

TEST_P(JitFuzz, RandomPrograms) {
  constexpr uint64_t kPrograms = 600;
  std::vector<float> in(1024);
  std::mt19937 random(test_seed(1));
  for (float& x : in) x = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 128.0f;
  int spilling = 0;
  for (uint64_t trial = 0; trial < kPrograms; trial++) {
    const Program program = Generator(target(), test_seed(trial)).make();
    const Compiled compiled = compile(program, target());
    ASSERT_TRUE(compiled.code) << "trial " << trial;
    spilling += compiled.spills > 0;
    std::vector<uint8_t> expected(kSlots * 128), got(kSlots * 128);
    int64_t number_expected = 0, number_got = 0;
    Block block;
    block.helpers = kHelpers;
    block.in[0] = in.data();
    block.number[0] = static_cast<int64_t>(trial % 7);
    block.number[1] = 5;
    block.out[0] = expected.data();
    block.out[1] = &number_expected;
    Interpreter(program).run(&block);
    block.out[0] = got.data();
    block.out[1] = &number_got;
    compiled.run(block);
    for (size_t slot = 0; slot < kSlots; slot++) {
      const DType dtype = Generator::slot_dtype(static_cast<int>(slot));
      ASSERT_TRUE(
          same_elements(&expected[slot * 128], &got[slot * 128], 128 / byte_size(dtype), dtype))
          << "trial " << trial << " slot " << slot << " " << word(dtype);
    }
    ASSERT_EQ(number_expected, number_got) << "trial " << trial;
  }
  // The point of it: about half of them do not fit the registers.
  EXPECT_GT(spilling, static_cast<int>(kPrograms) / 10);
}

NRD_FOR_EACH_ISA(JitFuzz);

}  // namespace
}  // namespace nrd::jit
