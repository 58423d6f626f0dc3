// SPDX-License-Identifier: MIT
// tests/compiler/a64_test.cpp: the aarch64 front end on any host: functions that GCC 12 compiled
// run on A64Machine, control flow and stubs decode as they should, the rest is refused by name.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "a64_machine.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kCodeAddress = 0x330;
constexpr uint64_t kMemoryAddress = 0x100000;

class A64 : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(front_end_, nullptr);
    machine_.memory = memory_;
    machine_.memory_base = kMemoryAddress;
    machine_.gpr[31] = kMemoryAddress + memory_.size();  // sp
  }

  uint64_t place_floats(uint64_t offset, std::initializer_list<float> values) {
    std::memcpy(memory_.data() + offset, std::data(values), values.size() * sizeof(float));
    return kMemoryAddress + offset;
  }

  Instruction decode(std::vector<uint32_t> words) {
    const A64Code code(kCodeAddress, std::move(words));
    Instruction in;
    std::string reason;
    EXPECT_TRUE(front_end_->decode(code, kCodeAddress, in, reason)) << reason;
    return in;
  }

  // Translates straight-line code; returns why it was refused.
  std::string translate(std::vector<uint32_t> words) {
    const A64Code code(kCodeAddress, words);
    try {
      for (size_t i = 0; i < words.size(); i++) {
        Instruction in;
        std::string reason;
        if (!front_end_->decode(code, kCodeAddress + 4 * i, in, reason)) return reason;
        front_end_->translate(in, code, machine_);
      }
    } catch (const Refused& refused) {
      return refused.what();
    }
    return "";
  }

  std::unique_ptr<FrontEnd> front_end_ = make_a64_front_end();
  std::array<uint8_t, 4096> memory_{};
  A64Machine machine_;
};

TEST_F(A64, BranchesOnFloatsSeeNan) {
  // float clamp3(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }
  const A64Code code(kCodeAddress, {
                                       0x1e204003,  // fmov s3, s0
                                       0x1e204020,  // fmov s0, s1
                                       0x1e212060,  // fcmp s3, s1
                                       0x54000045,  // b.pl .+8
                                       0x14000003,  // b .+12
                                       0x1e222070,  // fcmpe s3, s2
                                       0x1e23cc40,  // fcsel s0, s2, s3, gt
                                       0xd65f03c0,  // ret
                                   });
  const auto clamp = [&](float x) {
    machine_.set_float(0, x);
    machine_.set_float(1, -1.0f);
    machine_.set_float(2, 2.0f);
    machine_.run(*front_end_, code, kCodeAddress);
    return machine_.float_of(0);
  };
  EXPECT_EQ(clamp(-5.0f), -1.0f);
  EXPECT_EQ(clamp(0.5f), 0.5f);
  EXPECT_EQ(clamp(7.0f), 2.0f);
  EXPECT_TRUE(std::isnan(clamp(NAN)));
}

TEST_F(A64, ConditionalComparesChain) {
  // int between(int a, int b, int c) { return a < b && b < c && a != 3; }
  const A64Code code(kCodeAddress, {
                                       0x6b01001f,  // cmp w0, w1
                                       0x7a43b804,  // ccmp w0, #3, #4, lt
                                       0x7a421020,  // ccmp w1, w2, #0, ne
                                       0x1a9fa7e0,  // cset w0, lt
                                       0xd65f03c0,  // ret
                                   });
  for (int a = -4; a <= 4; a++) {
    for (int b = -4; b <= 4; b++) {
      for (int c = -4; c <= 4; c++) {
        machine_.gpr[0] = static_cast<uint32_t>(a);
        machine_.gpr[1] = static_cast<uint32_t>(b);
        machine_.gpr[2] = static_cast<uint32_t>(c);
        machine_.run(*front_end_, code, kCodeAddress);
        ASSERT_EQ(machine_.gpr[0], a < b && b < c && a != 3) << a << " " << b << " " << c;
      }
    }
  }
}

// float dot(const float* a, const float* b, size_t n), without and with optimisation.
TEST_F(A64, LoopThroughStackSlots) {
  const A64Code code(kCodeAddress, {
                                       0xd100c3ff,  // sub sp, sp, #0x30
                                       0xf9000fe0,  // str x0, [sp, #24]
                                       0xf9000be1,  // str x1, [sp, #16]
                                       0xf90007e2,  // str x2, [sp, #8]
                                       0xb9002fff,  // str wzr, [sp, #44]
                                       0xf90013ff,  // str xzr, [sp, #32]
                                       0x14000012,  // b .+72
                                       0xf94013e0,  // ldr x0, [sp, #32]
                                       0xd37ef400,  // lsl x0, x0, #2
                                       0xf9400fe1,  // ldr x1, [sp, #24]
                                       0x8b000020,  // add x0, x1, x0
                                       0xbd400001,  // ldr s1, [x0]
                                       0xf94013e0,  // ldr x0, [sp, #32]
                                       0xd37ef400,  // lsl x0, x0, #2
                                       0xf9400be1,  // ldr x1, [sp, #16]
                                       0x8b000020,  // add x0, x1, x0
                                       0xbd400000,  // ldr s0, [x0]
                                       0x1e200820,  // fmul s0, s1, s0
                                       0xbd402fe1,  // ldr s1, [sp, #44]
                                       0x1e202820,  // fadd s0, s1, s0
                                       0xbd002fe0,  // str s0, [sp, #44]
                                       0xf94013e0,  // ldr x0, [sp, #32]
                                       0x91000400,  // add x0, x0, #1
                                       0xf90013e0,  // str x0, [sp, #32]
                                       0xf94013e1,  // ldr x1, [sp, #32]
                                       0xf94007e0,  // ldr x0, [sp, #8]
                                       0xeb00003f,  // cmp x1, x0
                                       0x54fffd83,  // b.lo .-80
                                       0xbd402fe0,  // ldr s0, [sp, #44]
                                       0x9100c3ff,  // add sp, sp, #0x30
                                       0xd65f03c0,  // ret
                                   });
  machine_.gpr[0] = place_floats(0, {1.0f, 2.0f, 3.0f});
  machine_.gpr[1] = place_floats(64, {10.0f, 100.0f, 1000.0f});
  machine_.gpr[2] = 3;
  machine_.run(*front_end_, code, kCodeAddress);
  EXPECT_EQ(machine_.float_of(0), 3210.0f);
  EXPECT_EQ(machine_.gpr[31], kMemoryAddress + memory_.size());
}

TEST_F(A64, LoopOverRegisterOffsets) {
  const A64Code code(kCodeAddress, {
                                       0xb4000162,  // cbz x2, .+44
                                       0xd2800003,  // mov x3, #0
                                       0x0f000400,  // movi v0.2s, #0
                                       0xbc637801,  // ldr s1, [x0, x3, lsl #2]
                                       0xbc637822,  // ldr s2, [x1, x3, lsl #2]
                                       0x1e220821,  // fmul s1, s1, s2
                                       0x1e212800,  // fadd s0, s0, s1
                                       0x91000463,  // add x3, x3, #1
                                       0xeb03005f,  // cmp x2, x3
                                       0x54ffff41,  // b.ne .-24
                                       0xd65f03c0,  // ret
                                       0x0f000400,  // movi v0.2s, #0
                                       0x17fffffe,  // b .-8
                                   });
  machine_.gpr[0] = place_floats(0, {1.0f, 2.0f, 3.0f});
  machine_.gpr[1] = place_floats(64, {10.0f, 100.0f, 1000.0f});
  machine_.gpr[2] = 3;
  machine_.run(*front_end_, code, kCodeAddress);
  EXPECT_EQ(machine_.float_of(0), 3210.0f);
  machine_.gpr[2] = 0;
  machine_.run(*front_end_, code, kCodeAddress);
  EXPECT_EQ(machine_.float_of(0), 0.0f);
}

TEST_F(A64, CallThroughStubIsOneJump) {
  const A64Code code(kCodeAddress, {
                                       0x90000110,  // adrp x16, 0x20000: expf@plt
                                       0xf9400211,  // ldr x17, [x16]
                                       0x91000210,  // add x16, x16, #0
                                       0xd61f0220,  // br x17
                                       0xf81f0ffe,  // str x30, [sp, #-16]!: silu
                                       0xfd0007e8,  // str d8, [sp, #8]
                                       0x1e204008,  // fmov s8, s0
                                       0x1e214000,  // fneg s0, s0
                                       0x97fffff8,  // bl expf@plt
                                       0x1e2e1001,  // fmov s1, #1.0
                                       0x1e212800,  // fadd s0, s0, s1
                                       0x1e201900,  // fdiv s0, s8, s0
                                       0xfd4007e8,  // ldr d8, [sp, #8]
                                       0xf84107fe,  // ldr x30, [sp], #16
                                       0xd65f03c0,  // ret
                                   });
  machine_.set_float(0, 0.75f);
  machine_.set_float(8, 3.0f);
  machine_.run(*front_end_, code, kCodeAddress + 16, [](A64Machine& machine, uint64_t slot) {
    EXPECT_EQ(slot, 0x20000u);
    machine.set_float(0, std::exp(machine.float_of(0)));
  });
  EXPECT_EQ(machine_.float_of(0), 0.75f / (1.0f + std::exp(-0.75f)));
  EXPECT_EQ(machine_.float_of(8), 3.0f) << "a callee-saved register comes back";
}

TEST_F(A64, ControlFlow) {
  EXPECT_EQ(decode({0x14000003}).flow, Flow::kJump);
  EXPECT_EQ(decode({0x14000003}).target, kCodeAddress + 12);
  EXPECT_EQ(decode({0x54ffff41}).flow, Flow::kBranch);  // b.ne .-24
  EXPECT_EQ(decode({0x54ffff41}).target, kCodeAddress - 24);
  EXPECT_EQ(decode({0xb4000162}).target, kCodeAddress + 44);  // cbz x2
  EXPECT_EQ(decode({0x37f80040}).target, kCodeAddress + 8);   // tbnz w0, #31
  EXPECT_EQ(decode({0x97fffff8}).flow, Flow::kCall);
  EXPECT_EQ(decode({0xd63f0100}).flow, Flow::kCall);  // blr x8: nowhere known
  EXPECT_EQ(decode({0xd63f0100}).target, 0u);
  EXPECT_EQ(decode({0xd61f0100}).flow, Flow::kIndirect);  // br x8
  EXPECT_EQ(decode({0xd65f03c0}).flow, Flow::kReturn);
  EXPECT_EQ(decode({0xd65f0bff}).flow, Flow::kReturn);  // retaa
  EXPECT_EQ(decode({0xd4207d00}).flow, Flow::kTrap);    // brk #1000
  EXPECT_EQ(decode({0x00000000}).flow, Flow::kTrap);    // udf #0
  EXPECT_EQ(decode({0xd503245f}).flow, Flow::kNext);    // bti c
}

TEST_F(A64, BranchConditions) {
  const auto taken = [&](uint32_t word, uint64_t x0) {
    const A64Code code(kCodeAddress, {word});
    Instruction in;
    std::string reason;
    EXPECT_TRUE(front_end_->decode(code, kCodeAddress, in, reason)) << reason;
    machine_.gpr[0] = x0;
    return machine_.node(front_end_->translate(in, code, machine_)).bits != 0;
  };
  constexpr uint64_t kHighHalf = 0xffffffff00000000;
  EXPECT_TRUE(taken(0x34000040, kHighHalf));    // cbz w0: the low half only
  EXPECT_FALSE(taken(0xb4000040, kHighHalf));   // cbz x0
  EXPECT_TRUE(taken(0xb5000040, 1));            // cbnz x0
  EXPECT_TRUE(taken(0x37f80040, 0x80000000));   // tbnz w0, #31: the sign
  EXPECT_FALSE(taken(0x36f80040, 0x80000000));  // tbz w0, #31
  EXPECT_FALSE(taken(0x37f80040, 0x7fffffff | kHighHalf));
  EXPECT_TRUE(taken(0xb7180040, uint64_t{1} << 35));   // tbnz x0, #35
  EXPECT_FALSE(taken(0xb6180040, uint64_t{1} << 35));  // tbz x0, #35
  EXPECT_TRUE(taken(0xb6180040, ~(uint64_t{1} << 35)));
}

TEST_F(A64, Stubs) {
  // adrp x16, 0x20000; ldr x17, [x16, #24]; add x16, x16, #24; autia1716; br x17
  const Instruction checked = decode({0x90000110, 0xf9400e11, 0x91006210, 0xd503219f, 0xd61f0220});
  EXPECT_EQ(checked.flow, Flow::kIndirect);
  EXPECT_EQ(checked.call_slot, 0x20018u);
  EXPECT_EQ(checked.length, 20);
  // adrp x16, 0x20000; add x16, x16, #24; br x16
  const Instruction far_jump = decode({0x90000110, 0x91006210, 0xd61f0200});
  EXPECT_EQ(far_jump.flow, Flow::kJump);
  EXPECT_EQ(far_jump.target, 0x20018u);
  EXPECT_EQ(far_jump.length, 12);
}

TEST_F(A64, SignMasksBecomeCopysign) {
  // movi v2.4s, #0x80, lsl #24; bit v0.16b, v1.16b, v2.16b
  machine_.set_float(0, 3.0f);
  machine_.set_float(1, -0.0f);
  EXPECT_EQ(translate({0x4f046402, 0x6ea21c20}), "");
  EXPECT_EQ(machine_.float_of(0), -3.0f);
  // movi v2.2d, #-1; fneg v2.2d, v2.2d; bif v0.16b, v1.16b, v2.16b
  machine_.write_vector(0, machine_.constant(Type::kF64, std::bit_cast<uint64_t>(4.0)));
  machine_.write_vector(1, machine_.constant(Type::kF64, std::bit_cast<uint64_t>(-1.0)));
  EXPECT_EQ(translate({0x6f07e7e2, 0x6ee0f842, 0x6ee21c20}), "");
  EXPECT_EQ(std::bit_cast<double>(machine_.vector_low(0)), -4.0);
}

TEST_F(A64, RefusesByName) {
  EXPECT_EQ(translate({0x4e22d420}),
            "packed arithmetic (fadd v0.4s, v1.4s, v2.4s) at 0x330: vectorised code is not lifted");
  EXPECT_EQ(translate({0x1e264000}), "this instruction (frinta s0, s0) at 0x330 is not lifted");
  EXPECT_EQ(translate({0x1ee24000}),
            "a half-precision operation (fcvt s0, h0) at 0x330 is not lifted");
  EXPECT_EQ(translate({0x88a07c41}), "unknown instruction 0x88a07c41 at 0x330");  // cas
  // adds w0, w1, w2; cset w0, hs: a carry, not a comparison
  EXPECT_NE(translate({0x2b020020, 0x1a9f37e0}).find("a carry"), std::string::npos);
  EXPECT_EQ(translate({0x31001420, 0x1a9f37e0}), "");  // adds w0, w1, #5 is one
}

TEST_F(A64, NothingOutsideTheImageIsRead) {
  const A64Code code(kCodeAddress, {0xd65f03c0});
  Instruction in;
  std::string reason;
  EXPECT_FALSE(front_end_->decode(code, kCodeAddress + 4, in, reason));
  EXPECT_EQ(reason, "0x334 is not code");
  EXPECT_FALSE(front_end_->decode(code, kCodeAddress + 2, in, reason));
}

TEST_F(A64, CallingConvention) {
  std::vector<Type> parameters;
  for (int i = 0; i < 9; i++) parameters.push_back(Type::kI64);
  for (int i = 0; i < 9; i++) parameters.push_back(Type::kF32);
  parameters.push_back(Type::kI32);
  const std::vector<Place> places = front_end_->places(parameters);
  ASSERT_EQ(places.size(), 19u);
  EXPECT_EQ(places[7].where, Place::Where::kGpr);
  EXPECT_EQ(places[7].index, 7u);
  EXPECT_EQ(places[8].where, Place::Where::kStack);
  EXPECT_EQ(places[8].index, 0u);
  EXPECT_EQ(places[16].where, Place::Where::kVector);
  EXPECT_EQ(places[16].index, 7u);
  EXPECT_EQ(places[17].where, Place::Where::kStack);
  EXPECT_EQ(places[17].index, 8u);
  EXPECT_EQ(places[18].index, 16u);

  EXPECT_TRUE(front_end_->caller_saved(kGprBase + 18));
  EXPECT_FALSE(front_end_->caller_saved(kGprBase + 19));
  EXPECT_TRUE(front_end_->caller_saved(kGprBase + 30));
  EXPECT_FALSE(front_end_->caller_saved(kGprBase + 31));
  EXPECT_FALSE(front_end_->caller_saved(kVectorBase + 8));
  EXPECT_TRUE(front_end_->caller_saved(kVectorBase + 16));
  EXPECT_TRUE(front_end_->caller_saved(kFlagsVariable));
}

}  // namespace
}  // namespace nrd::lift
