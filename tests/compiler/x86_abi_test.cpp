// SPDX-License-Identifier: MIT
// tests/compiler/x86_abi_test.cpp: control flow, the stack and the calling convention of x86-64.
#include <gtest/gtest.h>

#include "lift/image.h"
#include "recording_builder.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kBase = 0x401000;
constexpr uint32_t kRax = 0, kRbx = 3, kRsp = 4, kRbp = 5;

struct Decoded {
  Instruction instruction;
  std::string text;
};

Decoded decode(std::vector<uint8_t> bytes) {
  const std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  const MemoryImage image(std::move(bytes), kBase);
  Decoded decoded;
  std::string reason;
  EXPECT_TRUE(front_end->decode(image, kBase, decoded.instruction, reason)) << reason;
  decoded.text = front_end->text(decoded.instruction);
  return decoded;
}

TEST(X86Flow, TargetsAndSlots) {
  Decoded d = decode({0xe8, 0x10, 0, 0, 0});
  EXPECT_EQ(d.instruction.flow, Flow::kCall);
  EXPECT_EQ(d.instruction.target, kBase + 5 + 0x10);
  EXPECT_EQ(d.text, "call 0x0000000000401015");
  d = decode({0xeb, 0xfe});  // jmp to itself
  EXPECT_EQ(d.instruction.flow, Flow::kJump);
  EXPECT_EQ(d.instruction.target, kBase);
  d = decode({0x0f, 0x84, 0, 1, 0, 0});  // je
  EXPECT_EQ(d.instruction.flow, Flow::kBranch);
  EXPECT_EQ(d.instruction.target, kBase + 6 + 0x100);
  d = decode({0xff, 0x25, 0x20, 0, 0, 0});  // jmp [rip + 0x20]
  EXPECT_EQ(d.instruction.flow, Flow::kIndirect);
  EXPECT_EQ(d.instruction.call_slot, kBase + 6 + 0x20);
  d = decode({0xf2, 0xff, 0x25, 0x20, 0, 0, 0});  // bnd jmp [rip + 0x20]
  EXPECT_EQ(d.instruction.flow, Flow::kIndirect);
  EXPECT_EQ(d.instruction.call_slot, kBase + 7 + 0x20);
  d = decode({0xff, 0x15, 0x20, 0, 0, 0});  // call [rip + 0x20]
  EXPECT_EQ(d.instruction.flow, Flow::kCall);
  EXPECT_EQ(d.instruction.target, 0u);
  EXPECT_EQ(d.instruction.call_slot, kBase + 6 + 0x20);
  d = decode({0xff, 0xd0});  // call rax
  EXPECT_EQ(d.instruction.flow, Flow::kCall);
  EXPECT_EQ(d.instruction.target | d.instruction.call_slot, 0u);
  d = decode({0x3e, 0xff, 0x24, 0xc5, 0, 0x10, 0, 0});  // notrack jmp [rax*8 + 0x1000]
  EXPECT_EQ(d.instruction.flow, Flow::kIndirect);
  EXPECT_EQ(d.instruction.call_slot, 0u);
  EXPECT_EQ(decode({0xc3}).instruction.flow, Flow::kReturn);
  EXPECT_EQ(decode({0xf3, 0xc3}).instruction.flow, Flow::kReturn);  // rep ret
  EXPECT_EQ(decode({0x0f, 0x0b}).instruction.flow, Flow::kTrap);    // ud2
  EXPECT_EQ(decode({0xcc}).instruction.flow, Flow::kTrap);          // int3
  EXPECT_EQ(decode({0xf4}).instruction.flow, Flow::kTrap);          // hlt
  EXPECT_EQ(decode({0x90}).instruction.flow, Flow::kNext);
}

void translate(const std::vector<uint8_t>& bytes, RecordingBuilder& builder) {
  const std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  const MemoryImage image(bytes, kBase);
  for (uint64_t at = kBase; at < kBase + bytes.size();) {
    Instruction in;
    std::string reason;
    ASSERT_TRUE(front_end->decode(image, at, in, reason)) << reason;
    front_end->translate(in, image, builder);
    at += in.length;
  }
}

// Registers at entry: the stack pointer points into `stack`.
std::vector<Bits> entry_with(const std::vector<uint64_t>& stack, size_t top) {
  std::vector<Bits> entry(kVariables);
  entry[kRsp].low = reinterpret_cast<uint64_t>(stack.data() + top);
  entry[kRbp].low = reinterpret_cast<uint64_t>(stack.data() + 1);
  entry[kRbx].low = 0x1234;
  return entry;
}

TEST(X86Stack, PushAndPop) {
  const std::vector<uint64_t> stack{10, 11, 12, 13, 14};
  const std::vector<Bits> entry = entry_with(stack, 2);
  RecordingBuilder push;
  translate({0x53, 0x6a, 0xff}, push);  // push rbx; push -1
  ASSERT_EQ(push.stores().size(), 2u);
  EXPECT_EQ(evaluate(push, push.variable(kRsp), entry).low, entry[kRsp].low - 16);
  EXPECT_EQ(evaluate(push, push.stores()[0].address, entry).low, entry[kRsp].low - 8);
  EXPECT_EQ(evaluate(push, push.stores()[0].value, entry).low, 0x1234u);
  EXPECT_EQ(evaluate(push, push.stores()[1].value, entry).low, ~uint64_t{0});
  RecordingBuilder pop;
  translate({0x58, 0x5b}, pop);  // pop rax; pop rbx
  EXPECT_EQ(evaluate(pop, pop.variable(kRax), entry).low, 12u);
  EXPECT_EQ(evaluate(pop, pop.variable(kRbx), entry).low, 13u);
  EXPECT_EQ(evaluate(pop, pop.variable(kRsp), entry).low, entry[kRsp].low + 16);
  RecordingBuilder swap;
  translate({0x54, 0x5c}, swap);  // push rsp; pop rsp: the pushed value wins
  EXPECT_EQ(evaluate(swap, swap.stores()[0].value, entry).low, entry[kRsp].low);
}

TEST(X86Stack, LeaveAndReturn) {
  const std::vector<uint64_t> stack{10, 11, 12, 13, 14};
  const std::vector<Bits> entry = entry_with(stack, 3);
  RecordingBuilder leave;
  translate({0xc9}, leave);
  EXPECT_EQ(evaluate(leave, leave.variable(kRbp), entry).low, 11u);
  EXPECT_EQ(evaluate(leave, leave.variable(kRsp), entry).low, entry[kRbp].low + 8);
  RecordingBuilder plain, dropping;
  translate({0xc3}, plain);
  translate({0xc2, 0x10, 0}, dropping);  // ret 16
  EXPECT_EQ(evaluate(plain, plain.variable(kRsp), entry).low, entry[kRsp].low + 8);
  EXPECT_EQ(evaluate(dropping, dropping.variable(kRsp), entry).low, entry[kRsp].low + 24);
}

TEST(X86Stack, CanaryIsOneConstant) {
  RecordingBuilder builder;
  translate({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0,   // mov rax, fs:[0x28]
             0x64, 0x48, 0x2b, 0x04, 0x25, 0x28, 0, 0, 0},  // sub rax, fs:[0x28]
            builder);
  EXPECT_EQ(evaluate(builder, builder.variable(kRax), {}).low, 0u);
}

TEST(X86Convention, PlacesOfArguments) {
  const std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  std::vector<Type> types(7, Type::kI64);
  types.push_back(Type::kF32);
  types.push_back(Type::kI32);
  types.insert(types.end(), 8, Type::kF64);
  const std::vector<Place> places = front_end->places(types);
  ASSERT_EQ(places.size(), types.size());
  const uint32_t registers[] = {7, 6, 2, 1, 8, 9};  // rdi rsi rdx rcx r8 r9
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(places[i].where, Place::Where::kGpr);
    EXPECT_EQ(places[i].index, registers[i]);
  }
  EXPECT_EQ(places[6].where, Place::Where::kStack);
  EXPECT_EQ(places[6].index, 8u);
  EXPECT_EQ(places[7].where, Place::Where::kVector);
  EXPECT_EQ(places[7].index, 0u);
  EXPECT_EQ(places[8].where, Place::Where::kStack);
  EXPECT_EQ(places[8].index, 16u);
  EXPECT_EQ(places[15].index, 7u);  // the last of eight vector registers
  EXPECT_EQ(places[16].where, Place::Where::kStack);
  EXPECT_EQ(places[16].index, 24u);
}

TEST(X86Convention, RegistersThatCallsLose) {
  const std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  for (uint32_t kept : {3u, 4u, 5u, 12u, 13u, 14u, 15u})  // rbx rsp rbp r12 ...
    EXPECT_FALSE(front_end->caller_saved(kept)) << kept;
  for (uint32_t lost : {0u, 1u, 2u, 6u, 7u, 8u, 9u, 10u, 11u, kVectorBase + 0, kVectorBase + 15})
    EXPECT_TRUE(front_end->caller_saved(lost)) << lost;
  EXPECT_TRUE(front_end->caller_saved(kFlagsVariable));
  EXPECT_EQ(front_end->call_pushes(), 8);
}

}  // namespace
}  // namespace nrd::lift
