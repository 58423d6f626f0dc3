// SPDX-License-Identifier: MIT
// tests/compiler/lower_plan_test.cpp: which loops become vector loops, what is refused and why,
// when a scratch row is needed, what can be shared out.
#include <cmath>

#include "../unit/trace_texts.h"
#include "jit/vectorize.h"
#include "lower_run.h"

namespace nrd::jit {
namespace {

const Target kTarget = {.isa = "avx512",
                        .vector_bytes = 64,
                        .vector_registers = 32,
                        .has_scale = true,
                        .has_tables = true,
                        .cheap_masks = true};

constexpr std::string_view kSoftmax = R"(trace softmax : norm
param x : in f32
param out : inout f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = exp f32 %3
  store out[i0] %4
  %5 = add f32 %2 %4
} next %5 -> %6
for i1 < n {
  %7 = load f32 out[i1]
  %8 = div f32 %7 %6
  store out[i1] %8
}
)";

// The body of a loop over n, between x and out.
OpTrace map_of(std::string_view body) {
  return parsed(
      "trace f : opaque\nparam x : in f32\nparam out : inout f32\nparam n : size\n"
      "param k : size\nfor i0 < n {\n" +
      std::string(body) + "}\n");
}

std::string refusal(const OpTrace& trace, DType dtype = DType::kF32) {
  const auto lowered = lower(trace, binding_in(trace, dtype), kTarget);
  return lowered ? "" : lowered.error().message();
}

TEST(LowerPlan, TheVectorLoopIsTheContiguousOne) {
  const OpTrace trace = parsed(trace_texts::kGemm);
  Analysis analysis(trace);
  ASSERT_TRUE(plan_vector_loops(analysis, 16));
  std::vector<LoopForm> by_depth(3);
  for (uint16_t loop = 0; loop < 3; loop++) {
    size_t depth = 0;
    for (uint32_t at = analysis.scopes.loop_of_loop[loop]; at != kNoLoop;
         at = analysis.scopes.loop_of_loop[at]) {
      depth++;
    }
    by_depth[depth] = analysis.loops[loop].form;
  }
  EXPECT_EQ(by_depth,
            (std::vector<LoopForm>{LoopForm::kCounted, LoopForm::kMap, LoopForm::kCounted}));
}

TEST(LowerPlan, SaysWhyALoopIsLeftAlone) {
  const OpTrace prefix_sum = parsed(R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = add f32 %2 %3
  store out[i0] %4
} next %4 -> %5
)");
  EXPECT_NE(refusal(prefix_sum).find("carries a value"), std::string::npos) << refusal(prefix_sum);

  const std::string shifted = refusal(map_of("  %1 = load f32 out[i0]\n  store out[i0 + 1] %1\n"));
  EXPECT_NE(shifted.find("may be used by another"), std::string::npos) << shifted;
  const std::string far = refusal(map_of("  %1 = load f32 out[i0]\n  store out[i0 + n] %1\n"));
  EXPECT_EQ(far, "");
  const std::string same = refusal(map_of("  %1 = load f32 x[i0]\n  store out[0] %1\n"));
  EXPECT_NE(same.find("same element"), std::string::npos) << same;
  const std::string guarded =
      refusal(map_of("  %1 = load f32 x[i0]\n  %2 = cmp ogt %1 %1\n  store out[i0] %1 if %2\n"));
  EXPECT_NE(guarded.find("under a condition"), std::string::npos) << guarded;
}

TEST(LowerPlan, RefusesDtypesTheTraceCannotStandFor) {
  const OpTrace trace = map_of("  %1 = load f32 x[i0]\n  store out[i0] %1\n");
  Binding binding = binding_in(trace, DType::kF32);
  binding.dtypes[0] = DType::kI8;
  EXPECT_FALSE(lower(trace, binding, kTarget));
  binding.dtypes.pop_back();
  EXPECT_FALSE(lower(trace, binding, kTarget));
}

TEST(LowerPlan, ANarrowOutputThatIsReadBackGetsAScratchRow) {
  const OpTrace trace = parsed(kSoftmax);
  const auto wide = lower(trace, binding_in(trace, DType::kF32), kTarget);
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->scratch.empty());
  const auto narrow = lower(trace, binding_in(trace, DType::kBF16), kTarget);
  ASSERT_TRUE(narrow) << narrow.error().message();
  ASSERT_EQ(narrow->scratch.size(), 1u);
  const int64_t sizes[] = {77};
  EXPECT_EQ(evaluate_size(narrow->trace, narrow->scratch[0], sizes), 77);
  EXPECT_EQ(narrow->layout.pointers, 3);

  const OpTrace again = parsed(R"(trace f : opaque
param x : in f32
param out : inout f32
param n : size
param k : size
for i0 < k {
  for i1 < n {
    %1 = load f32 out[i1]
    %2 = load f32 x[i0 * n + i1]
    %3 = add f32 %1 %2
    store out[i1] %3
  }
}
)");
  EXPECT_EQ(refusal(again), "");
  EXPECT_NE(refusal(again, DType::kF16).find("again and again"), std::string::npos);
}

TEST(LowerPlan, TellsWhatCanBeSharedOut) {
  const OpTrace gemm = parsed(trace_texts::kGemm);
  const auto lowered = lower(gemm, binding_in(gemm, DType::kF32), kTarget);
  ASSERT_TRUE(lowered);
  const int64_t sizes[] = {5, 7, 9};
  ASSERT_NE(lowered->range, kNoValue);
  EXPECT_EQ(evaluate_size(lowered->trace, lowered->range, sizes), 5);
  EXPECT_EQ(lowered->grain, 1);

  const OpTrace blocks =
      map_of("  %1 = load f32 x[i0 / 96]\n  %2 = add f32 %1 %1\n  store out[i0] %2\n");
  const auto in_blocks = lower(blocks, binding_in(blocks, DType::kF32), kTarget);
  ASSERT_TRUE(in_blocks);
  EXPECT_EQ(in_blocks->grain, 192);

  const OpTrace softmax = parsed(kSoftmax);
  const auto whole = lower(softmax, binding_in(softmax, DType::kF32), kTarget);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->range, kNoValue);

  // Rows that overlap.
  const OpTrace overlapping = parsed(R"(trace f : opaque
param x : in f32
param out : out f32
param n : size
param k : size
for i0 < n {
  for i1 < k {
    %1 = load f32 x[i1]
    store out[i0 + i1] %1
  }
}
)");
  const auto rows = lower(overlapping, binding_in(overlapping, DType::kF32), kTarget);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->range, kNoValue);
}

// Whatever access a loop has, on every ISA and length.
TEST(LowerPlan, EveryKindOfAccess) {
  const std::string_view bodies[] = {
      "  %1 = load f32 x[3 * i0 + 1]\n  store out[i0] %1\n",
      "  %1 = load f32 x[n - 1 - i0]\n  store out[i0] %1\n",
      "  %1 = load f32 x[i0 * k]\n  store out[i0] %1\n",
      "  %1 = load f32 x[i0]\n  store out[2 * i0] %1\n",
      "  %1 = load f32 x[2 * i0]\n  %2 = load f32 x[2 * i0 + 1]\n  %3 = sub f32 %1 %2\n"
      "  store out[2 * i0] %3\n  store out[2 * i0 + 1] %1\n",
      "  %1 = load f32 x[i0 / 128]\n  store out[i0] %1\n",
      "  %1 = load f32 x[i0 / 8]\n  store out[i0] %1\n",
      "  %1 = load f32 x[i0 % 4]\n  store out[i0] %1\n",
      "  %1 = load f32 x[k]\n  %2 = to_f32 i0\n  %3 = add f32 %1 %2\n  store out[i0] %3\n",
      "  %1 = const f32 0x1p+0\n  %2 = cmp lt i0 k\n  %3 = load f32 x[i0] if %2 else %1\n"
      "  store out[i0] %3\n",
      "  %1 = const f32 0x1p+0\n  %2 = cmp ge k (2 * i0)\n  %3 = load f32 x[i0] if %2 else %1\n"
      "  store out[i0] %3 if %2\n",
      "  %1 = load f32 x[i0]\n  %2 = cmp lt i0 k\n  %3 = neg f32 %1\n"
      "  %4 = select f32 %2 %1 %3\n  store out[i0] %4\n",
  };
  for (std::string_view body : bodies) {
    const OpTrace trace = map_of(body);
    for (const Machine& machine : machines()) {
      SCOPED_TRACE(std::string(machine.target.isa) + "\n" + std::string(body));
      const Binding binding = binding_in(trace, DType::kF32);
      const auto lowered = lower(trace, binding, machine.target);
      ASSERT_TRUE(lowered) << lowered.error().message();
      const Runnable code(lowered->program, machine);
      for (int64_t n : {0, 1, 7, 16, 31, 70, 130}) {
        auto sample = make_sample(trace, {n, 11}, Spread::kNormal, static_cast<uint64_t>(n));
        ASSERT_TRUE(sample) << sample.error().message();
        Operands operands(trace, *sample, binding);
        std::vector<std::vector<char>> rows;
        code.run(block_for(*lowered, *sample, operands, rows));
        EXPECT_TRUE(operands.fits(trace, *sample));
      }
    }
  }
}

// Stores that bypass the cache, from every alignment.
TEST(LowerPlan, StoresPastTheCacheAreAligned) {
  const OpTrace trace = map_of("  %1 = load f32 x[i0]\n  %2 = neg f32 %1\n  store out[i0] %2\n");
  Binding binding = binding_in(trace, DType::kF32);
  binding.non_temporal = true;
  for (const Machine& machine : machines()) {
    const auto lowered = lower(trace, binding, machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    EXPECT_NE(program_text(lowered->program).find("fence"), std::string::npos);
    const Runnable code(lowered->program, machine);
    std::vector<float> x(600), out(700);
    for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i + 1);
    for (size_t first = 0; first < 17; first++) {
      for (size_t n : {0, 1, 15, 16, 100, 555}) {
        std::fill(out.begin(), out.end(), 0.5f);
        ArgumentBlock block(lowered->layout);
        block.set_pointer(0, x.data());
        block.set_pointer(1, out.data() + first);
        block.set_size(0, static_cast<int64_t>(n));
        code.run(block);
        for (size_t i = 0; i < out.size(); i++) {
          const bool is_inside = i >= first && i < first + n;
          ASSERT_EQ(out[i], is_inside ? -x[i - first] : 0.5f) << machine.target.isa << " " << i;
        }
      }
    }
  }
}

// What a later loop reads stays in the cache: a row of sums that its norm needs again.
TEST(LowerPlan, WhatIsReadAgainIsNotStoredPastTheCache) {
  const OpTrace trace = parsed(R"(trace add_norm : norm
param x : in f32
param sum : inout f32
param out : out f32
param n : size
for i0 < n {
  %1 = load f32 x[i0]
  %2 = add f32 %1 %1
  store sum[i0] %2
}
%3 = const f32 0x0p+0
for i1 < n carry %4 = %3 {
  %5 = load f32 sum[i1]
  %6 = add f32 %4 %5
} next %6 -> %7
for i2 < n {
  %8 = load f32 sum[i2]
  %9 = mul f32 %8 %7
  store out[i2] %9
}
)");
  Binding binding = binding_in(trace, DType::kF32);
  binding.non_temporal = true;
  const auto lowered = lower(trace, binding, kTarget);
  ASSERT_TRUE(lowered) << lowered.error().message();
  G pointers, base_of_out;
  int past_cache = 0;
  for (const Inst& inst : lowered->program.code) {
    if (inst.op == Op::kGArgument && inst.imm == 1) pointers = {inst.dst};
    const bool loads_out =
        inst.op == Op::kGLoad && inst.mem.base.id == pointers.id && inst.mem.offset == 8 * 2;
    if (loads_out) base_of_out = {inst.dst};
    if (inst.op != Op::kStore || !inst.nt) continue;
    past_cache++;
    EXPECT_EQ(inst.mem.base.id, base_of_out.id);
  }
  EXPECT_GT(past_cache, 0);
}

// The next iteration's loads stand before this one's stores, and never behind the end.
TEST(LowerPlan, LoadsStandAheadOfStores) {
  const OpTrace trace = map_of("  %1 = load f32 x[i0]\n  %2 = exp f32 %1\n  store out[i0] %2\n");
  const auto lowered = lower(trace, binding_in(trace, DType::kF32), kTarget);
  ASSERT_TRUE(lowered) << lowered.error().message();
  const std::vector<Inst>& code = lowered->program.code;
  size_t at = 0;
  while (at < code.size() && (code[at].op != Op::kLoad || code[at].count != kNoReg)) at++;
  while (at < code.size() && code[at].op != Op::kLoopBegin) at++;  // the loop of whole vectors
  int loads = 0, stores = 0;
  for (; at < code.size() && code[at].op != Op::kLoopEnd; at++) {
    loads += code[at].op == Op::kLoad;
    if (code[at].op == Op::kLoad) {
      EXPECT_EQ(stores, 0);
    }
    stores += code[at].op == Op::kStore;
  }
  EXPECT_EQ(loads, stores);
  EXPECT_GT(loads, 1);
}

}  // namespace
}  // namespace nrd::jit
