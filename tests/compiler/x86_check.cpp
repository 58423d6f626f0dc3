// SPDX-License-Identifier: MIT
// tests/compiler/x86_check.cpp: instructions run on this processor and as translated nodes, on
// random and special states.
#include "x86_check.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "lift/image.h"
#include "recording_builder.h"
#include "tests/seed.h"

namespace nrd::lift {
namespace {

constexpr int kTrials = 200;
constexpr uint32_t kStackRegister = 4;
constexpr uint32_t kScratchRegister = 7;  // rdi points at memory

struct Memory {
  alignas(16) std::array<uint64_t, 8> words{};
};

double special_number(std::mt19937_64& random) {
  static constexpr double kInf = std::numeric_limits<double>::infinity();
  static constexpr double kList[] = {0.0,     -0.0,   1.0,      -1.0, 0.5,   1.5,   2.5,
                                     -2.5,    1e-42,  3e9,      -3e9, 1e19,  -1e19, 0x1p31,
                                     -0x1p31, 0x1p63, -0x1p63,  kInf, -kInf, NAN,   1e-310,
                                     7.0,     1e300,  16777217, 0.1,  -0.1};
  if (random() % 3 != 0) return kList[random() % std::size(kList)];
  return std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -50);
}

uint64_t special_integer(std::mt19937_64& random) {
  static constexpr uint64_t kList[] = {0,
                                       1,
                                       2,
                                       ~0ull,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x1ffffffff,
                                       0x80,
                                       0xff,
                                       0x8000,
                                       0x7fff,
                                       31,
                                       32,
                                       63,
                                       64,
                                       0x7fffffffffffffff,
                                       1ull << 63};
  return random() % 3 == 0 ? kList[random() % std::size(kList)] : random();
}

uint64_t special_lane(std::mt19937_64& random) {
  const double number = special_number(random);
  if (random() % 2) return std::bit_cast<uint64_t>(number);
  const auto narrow = static_cast<float>(number);
  return std::bit_cast<uint32_t>(narrow) | random() << 32;
}

MachineState random_state(std::mt19937_64& random, Memory& memory) {
  MachineState state;
  for (uint64_t& reg : state.gpr) reg = special_integer(random);
  for (auto& reg : state.vector) reg = {special_lane(random), random()};
  for (uint64_t& word : memory.words)
    word = random() % 2 ? special_lane(random) : special_integer(random);
  if (random() % 2) state.vector[1] = state.vector[0];
  if (random() % 4 == 0) state.gpr[1] = state.gpr[0];
  state.gpr[kScratchRegister] = reinterpret_cast<uint64_t>(memory.words.data());
  return state;
}

std::vector<Bits> entry_values(const MachineState& state) {
  std::vector<Bits> entry(kVariables);
  for (size_t i = 0; i < state.gpr.size(); i++) entry[i] = {state.gpr[i], 0};
  for (size_t i = 0; i < state.vector.size(); i++)
    entry[kVectorBase + i] = {state.vector[i][0], state.vector[i][1]};
  return entry;
}

// Translates up to the closing ret.
void translate(const void* code, RecordingBuilder& builder) {
  std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  auto address = reinterpret_cast<uint64_t>(code);
  for (;;) {
    Instruction instruction;
    std::string reason;
    ASSERT_TRUE(front_end->decode(process_image(), address, instruction, reason)) << reason;
    if (instruction.flow == Flow::kReturn) return;
    front_end->translate(instruction, process_image(), builder);
    address += instruction.length;
  }
}

// Equal, or both NaN where the value is a number.
bool equal(Type type, Bits a, Bits b) {
  switch (type) {
    case Type::kF32: {
      const auto x = std::bit_cast<float>(static_cast<uint32_t>(a.low));
      const auto y = std::bit_cast<float>(static_cast<uint32_t>(b.low));
      return static_cast<uint32_t>(a.low) == static_cast<uint32_t>(b.low) || (x != x && y != y);
    }
    case Type::kF64: {
      const auto x = std::bit_cast<double>(a.low), y = std::bit_cast<double>(b.low);
      return a.low == b.low || (x != x && y != y);
    }
    case Type::kI32: return static_cast<uint32_t>(a.low) == static_cast<uint32_t>(b.low);
    case Type::kI64: return a.low == b.low;
    default: return a.low == b.low && a.high == b.high;
  }
}

// What the nodes say, computed before the snippet changes the memory they load from.
struct Prediction {
  std::array<uint64_t, 16> gpr{};
  std::array<Bits, 8> vector{};
  std::array<Type, 8> type{};
  Memory memory;
};

Prediction predict(const RecordingBuilder& builder, const std::vector<Bits>& entry,
                   const Memory& memory) {
  Prediction prediction{.memory = memory};
  for (uint32_t i = 0; i < 16; i++)
    prediction.gpr[i] = evaluate(builder, builder.variable(i), entry).low;
  for (uint32_t i = 0; i < 8; i++) {
    const NodeId id = builder.variable(kVectorBase + i);
    prediction.vector[i] = evaluate(builder, id, entry);
    prediction.type[i] = builder.node(id).type;
  }
  for (const RecordingBuilder::Store& store : builder.stores()) {
    const uint64_t at = evaluate(builder, store.address, entry).low - entry[kScratchRegister].low;
    const Bits value = evaluate(builder, store.value, entry);
    const auto bytes = static_cast<size_t>(type_bits(builder.node(store.value).type)) / 8;
    std::memcpy(reinterpret_cast<char*>(prediction.memory.words.data()) + at, &value, bytes);
  }
  return prediction;
}

void expect_state(const Snippet& snippet, const Prediction& got, const MachineState& want) {
  for (uint32_t i = 0; i < 16; i++) {
    if (i == kStackRegister) continue;
    ASSERT_EQ(got.gpr[i], want.gpr[i]) << snippet.text << ": register " << i;
  }
  for (uint32_t i = 0; i < 8; i++)
    ASSERT_TRUE(equal(got.type[i], got.vector[i], {want.vector[i][0], want.vector[i][1]}))
        << snippet.text << ": xmm" << i << std::hex << " got " << got.vector[i].low << " want "
        << want.vector[i][0];
}

}  // namespace

void check_snippet(const Snippet& snippet) {
  if (!snippet.available) return;
  RecordingBuilder builder;
  try {
    ASSERT_NO_FATAL_FAILURE(translate(snippet.code, builder));
  } catch (const Refused& refused) {
    FAIL() << snippet.text << ": " << refused.what();
  }
  std::mt19937_64 random(test_seed(1));
  for (int trial = 0; trial < kTrials; trial++) {
    Memory memory;
    MachineState state = random_state(random, memory);
    const Prediction prediction = predict(builder, entry_values(state), memory);
    nrd_test_run_snippet(snippet.code, &state);
    ASSERT_EQ(prediction.memory.words, memory.words) << snippet.text;
    ASSERT_NO_FATAL_FAILURE(expect_state(snippet, prediction, state));
  }
}

std::string refusal_of(const Snippet& snippet) {
  RecordingBuilder builder;
  try {
    translate(snippet.code, builder);
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "not refused";
}

}  // namespace nrd::lift
