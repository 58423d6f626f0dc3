// SPDX-License-Identifier: MIT
// tests/compiler/jit_edges_test.cpp: what encodings limit: constants, offsets, frames, registers
// that a result may not take and those of the caller.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "jit_run.h"
#include "jit_values.h"

namespace nrd::jit {
namespace {

class JitEdges : public JitTest {};

// Every way there is to make a constant; the neighbours show where a register was written wrongly.
TEST_P(JitEdges, ConstantsOfEveryShape) {
  std::vector<uint32_t> words = special_f32();
  for (uint32_t byte : {0x01u, 0x7fu, 0x80u, 0xffu}) {
    for (int shift : {0, 8, 16, 24}) {
      words.push_back(byte << shift);
      words.push_back(~(byte << shift));
    }
  }
  for (float value : {0.125f, 1.9375f, 31.0f, 32.0f, 0.1f, 1.96875f}) {
    words.push_back(std::bit_cast<uint32_t>(value));
    words.push_back(std::bit_cast<uint32_t>(-value));
  }
  const int lanes = target().lanes(false);
  Builder b("constants", target(), lanes);
  const G out = out_pointer(b);
  for (size_t i = 0; i < words.size(); i++) {
    b.store(DType::kI32, Lane::kI32, {out, {}, 1, static_cast<int64_t>(i) * lanes * 4},
            b.constant(Lane::kI32, words[i]));
  }
  b.ret();
  const Compiled compiled = compile(b.take(), target());
  ASSERT_TRUE(compiled.code);
  std::vector<uint32_t> got(words.size() * static_cast<size_t>(lanes));
  Block block;
  block.out[0] = got.data();
  compiled.run(block);
  for (size_t i = 0; i < got.size(); i++) {
    ASSERT_EQ(got[i], words[i / static_cast<size_t>(lanes)]) << i;
  }
}

// Whichever a program asks for, and first: *pointers[1] = *pointers[0] and the block's last number.
TEST_P(JitEdges, ArgumentsArrive) {
  for (bool wants_block : {false, true}) {
    for (bool block_first : {false, true}) {
      Builder b("arguments", target(), target().lanes(false));
      if (wants_block && block_first) b.block();
      const G from = b.gload({b.pointers(), {}, 1, 0}), to = b.gload({b.pointers(), {}, 1, 8});
      G sum = b.gload({from});
      if (wants_block) sum = b.gop(Op::kGAdd, sum, number(b, 3));
      b.gstore({to}, sum);
      b.ret();
      const Program program = b.take();
      const Compiled compiled = compile(program, target());
      ASSERT_TRUE(compiled.code);
      int64_t in = 40, expected = 0, got = 0;
      Block block;
      block.number[3] = 2;
      void* pointers[] = {&in, &expected};
      Interpreter(program).run(&block, pointers);
      EXPECT_EQ(expected, wants_block ? 42 : 40);
      pointers[1] = &got;
      compiled.code->entry_with_pointers()(&block, pointers);
      EXPECT_EQ(got, expected) << program_text(program);
    }
  }
}

TEST_P(JitEdges, WideConstantsOfEveryShape) {
  std::vector<uint64_t> words = special_f64();
  for (double value : {0.125, -0.125, 31.0, -31.0, 0.1, 33.0}) {
    words.push_back(std::bit_cast<uint64_t>(value));
  }
  const int lanes = target().lanes(true);
  Builder b("constants", target(), lanes);
  const G out = out_pointer(b);
  for (size_t i = 0; i < words.size(); i++) {
    b.store(DType::kF64, Lane::kF64, {out, {}, 1, static_cast<int64_t>(i) * lanes * 8},
            b.constant(Lane::kF64, words[i]));
  }
  b.ret();
  const Compiled compiled = compile(b.take(), target());
  ASSERT_TRUE(compiled.code);
  std::vector<uint64_t> got(words.size() * static_cast<size_t>(lanes));
  Block block;
  block.out[0] = got.data();
  compiled.run(block);
  for (size_t i = 0; i < got.size(); i++) {
    ASSERT_EQ(got[i], words[i / static_cast<size_t>(lanes)]) << i;
  }
}

// Offsets that an instruction can hold and those it cannot, with and without an index. The base
// lies as far away as the offset, so nothing but the sum is an address.
TEST_P(JitEdges, AddressesFarFromTheirBase) {
  constexpr int64_t kOffsets[] = {0,
                                  4,
                                  -4,
                                  255,
                                  256,
                                  -256,
                                  -257,
                                  4092,
                                  4096,
                                  16380,
                                  65520,
                                  65536,
                                  -4096,
                                  1 << 24,
                                  -(1 << 24),
                                  INT64_C(1) << 33,
                                  -(INT64_C(1) << 33) - 4};
  std::vector<float> in(64), out(64);
  for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i) + 0.5f;
  for (int64_t offset : kOffsets) {
    for (int scale : {0, 1, 2, 4, 8}) {  // 0: no index
      Builder b("address", target(), target().lanes(false));
      const G index = number(b, 0);
      const Mem from = {in_pointer(b, 0), scale == 0 ? G{} : index, std::max(scale, 1), offset};
      const Mem to = {out_pointer(b, 0), scale == 0 ? G{} : index, std::max(scale, 1), offset};
      const V x = b.load(DType::kF32, Lane::kF32, from);
      const V y = b.broadcast(DType::kF32, Lane::kF32, from);
      b.store(DType::kF32, Lane::kF32, to, b.op2(Op::kAdd, Lane::kF32, x, y));
      b.gstore({b.gaddress(to), {}, 1, 128}, b.gload(from));
      b.ret();
      const Compiled compiled = compile(b.take(), target());
      ASSERT_TRUE(compiled.code);
      const int64_t index_value = 3, moved = offset + scale * index_value;
      const auto back = [&](void* data) {
        return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) -
                                       static_cast<uintptr_t>(moved));
      };
      Block block;
      block.number[0] = index_value;
      block.in[0] = back(&in[8]);
      block.out[0] = back(&out[8]);
      compiled.run(block);
      for (int i = 0; i < target().lanes(false); i++) {
        ASSERT_EQ(out[static_cast<size_t>(8 + i)], in[static_cast<size_t>(8 + i)] + in[8])
            << offset << " scale " << scale;
      }
      ASSERT_EQ(std::memcmp(&out[40], &in[8], 8), 0);
    }
  }
}

// Far more values than registers, so that slots lie thousands of bytes away, and calls in between.
void half_helper(const void* a, const void*, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<float*>(out)[i] = static_cast<const float*>(a)[i] * 0.5f;
  }
}
constexpr Helper kHelpers[] = {half_helper};

TEST_P(JitEdges, LargeFrames) {
  constexpr int kVectors = 500, kNumbers = 700;
  Builder b("large", target(), target().lanes(false));
  const G in = in_pointer(b, 0), out = out_pointer(b, 0);
  std::vector<V> vectors;
  std::vector<G> numbers;
  for (int i = 0; i < kVectors; i++) {
    vectors.push_back(b.load(DType::kF32, Lane::kF32, {in, {}, 1, 4 * i}));
  }
  for (int i = 0; i < kNumbers; i++) numbers.push_back(b.gop(Op::kGAdd, number(b, 0), i * i));
  V sum = b.call_lanes(Lane::kF32, 0, vectors[kVectors / 2]);
  G total = b.gconst(0);
  for (int i = 0; i < kVectors; i++) {
    sum = b.op3(Op::kFma, Lane::kF32, sum, b.constant(0.25f), vectors[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < kNumbers; i++) {
    total = b.gop(Op::kGSub, numbers[static_cast<size_t>(i)], total);
  }
  b.store(DType::kF32, Lane::kF32, {out}, sum);
  b.gstore({out_pointer(b, 1)}, total);
  b.ret();
  const Program program = b.take();
  const Compiled compiled = compile(program, target());
  ASSERT_TRUE(compiled.code);
  EXPECT_GT(compiled.spills, 1000);
  std::vector<float> values(kVectors + 16);
  for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i % 17) - 8.0f;
  std::array<float, 16> expected{}, got{};
  int64_t expected_total = 0, got_total = 1;
  Block block;
  block.helpers = kHelpers;
  block.in[0] = values.data();
  block.number[0] = 5;
  block.out[0] = expected.data();
  block.out[1] = &expected_total;
  Interpreter(program).run(&block);
  block.out[0] = got.data();
  block.out[1] = &got_total;
  compiled.run(block);
  EXPECT_TRUE(
      same_elements(expected.data(), got.data(), static_cast<size_t>(program.lanes), DType::kF32));
  EXPECT_EQ(expected_total, got_total);
}

// The result of an operation that takes two steps may be an operand itself, or a pinned register
// that an operand could have had until then.
TEST_P(JitEdges, ResultsThatAreOperands) {
  constexpr Op kOps[] = {Op::kFma, Op::kFnma, Op::kFms, Op::kMax, Op::kMin};
  constexpr int kPinned = -1;
  for (Op op : kOps) {
    const int arity = op == Op::kMax || op == Op::kMin ? 2 : 3;
    for (int into = kPinned; into <= arity; into++) {  // arity: a new register
      for (int same = 0; same < 3; same++) {           // none, a and b, a and c are the same value
        Builder b("into", target(), target().lanes(false));
        std::array<V, 3> x;
        for (int i = 0; i < 3; i++) {
          x[static_cast<size_t>(i)] = b.load(DType::kF32, Lane::kF32, {in_pointer(b, i)});
        }
        if (same > 0) x[static_cast<size_t>(same)] = x[0];
        V result;
        if (into == kPinned) {
          result = b.pinned_vector(0);
        } else if (into < arity) {
          result = x[static_cast<size_t>(into)];
        }
        result = arity == 2 ? b.op2(op, Lane::kF32, x[0], x[1], result)
                            : b.op3(op, Lane::kF32, x[0], x[1], x[2], result);
        b.store(DType::kF32, Lane::kF32, {out_pointer(b)}, result);
        b.ret();
        const Program program = b.take();
        const Compiled compiled = compile(program, target());
        ASSERT_TRUE(compiled.code);
        std::array<float, 16> p, q, r, expected{}, got{};
        for (size_t i = 0; i < 16; i++) {
          p[i] = static_cast<float>(i) - 1.5f;
          q[i] = 3.0f - static_cast<float>(i) * 0.75f;
          r[i] = static_cast<float>(i * i) * 0.1f;
        }
        Block block;
        block.in[0] = p.data();
        block.in[1] = q.data();
        block.in[2] = r.data();
        block.out[0] = expected.data();
        Interpreter(program).run(&block);
        block.out[0] = got.data();
        compiled.run(block);
        EXPECT_TRUE(same_elements(expected.data(), got.data(), static_cast<size_t>(program.lanes),
                                  DType::kF32))
            << program_text(program);
      }
    }
  }
}

#if defined(__aarch64__)

struct KeptRegisters {
  uint64_t general[10];  // x19 to x28
  uint64_t real[8];      // d8 to d15
};

// Calls with these registers set and tells what they hold afterwards.
void call_with(KeptRegisters& registers, Code::Entry entry, const void* block) {
  register KeptRegisters* kept asm("x9") = &registers;
  register Code::Entry function asm("x10") = entry;
  register const void* argument asm("x0") = block;
  asm volatile(
      "stp x9, x29, [sp, #-16]!\n"
      "ldp x19, x20, [x9]\n ldp x21, x22, [x9, #16]\n ldp x23, x24, [x9, #32]\n"
      "ldp x25, x26, [x9, #48]\n ldp x27, x28, [x9, #64]\n"
      "ldp d8, d9, [x9, #80]\n ldp d10, d11, [x9, #96]\n"
      "ldp d12, d13, [x9, #112]\n ldp d14, d15, [x9, #128]\n"
      "blr x10\n"
      "ldp x9, x29, [sp], #16\n"
      "stp x19, x20, [x9]\n stp x21, x22, [x9, #16]\n stp x23, x24, [x9, #32]\n"
      "stp x25, x26, [x9, #48]\n stp x27, x28, [x9, #64]\n"
      "stp d8, d9, [x9, #80]\n stp d10, d11, [x9, #96]\n"
      "stp d12, d13, [x9, #112]\n stp d14, d15, [x9, #128]\n"
      : "+r"(kept), "+r"(function), "+r"(argument)
      :
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0",
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31", "memory", "cc");
}

TEST_P(JitEdges, KeepsTheRegistersOfItsCaller) {
  for (bool has_call : {false, true}) {
    Builder b("kept", target(), target().lanes(false));
    std::vector<V> vectors;
    std::vector<G> numbers;
    for (int i = 0; i < 40; i++) {
      vectors.push_back(b.load(DType::kF32, Lane::kF32, {in_pointer(b, 0), {}, 1, 4 * i}));
      numbers.push_back(b.gop(Op::kGAdd, number(b, 0), i));
    }
    V sum = vectors[0];
    if (has_call) sum = b.call_lanes(Lane::kF32, 0, sum);
    G total = numbers[0];
    for (size_t i = 1; i < vectors.size(); i++) {
      sum = b.op2(Op::kAdd, Lane::kF32, sum, vectors[i]);
      total = b.gop(Op::kGAdd, total, numbers[i]);
    }
    b.store(DType::kF32, Lane::kF32, {out_pointer(b)}, sum);
    b.gstore({out_pointer(b, 1)}, total);
    b.ret();
    const Compiled compiled = compile(b.take(), target());
    ASSERT_TRUE(compiled.code);
    std::vector<float> in(64, 1.0f), out(16);
    int64_t number = 0;
    Block block;
    block.helpers = kHelpers;
    block.in[0] = in.data();
    block.out[0] = out.data();
    block.out[1] = &number;
    KeptRegisters registers;
    for (uint64_t i = 0; i < 10; i++) registers.general[i] = 0x1111111111111111 * (i + 1);
    for (uint64_t i = 0; i < 8; i++) registers.real[i] = 0x4000100020003000 + i;
    const KeptRegisters before = registers;
    call_with(registers, compiled.code->entry(), &block);
    EXPECT_EQ(std::memcmp(&before, &registers, sizeof(registers)), 0);
    EXPECT_EQ(out[0], has_call ? 39.5f : 40.0f);
    EXPECT_EQ(number, 39 * 40 / 2);
  }
}

#endif

NRD_FOR_EACH_ISA(JitEdges);

}  // namespace
}  // namespace nrd::jit
