// SPDX-License-Identifier: MIT
// tests/compiler/a64_native_test.cpp: what the front end makes of an instruction against what the
// processor does, on random and special register contents. Only an aarch64 build has one.
#if defined(__aarch64__)
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>

#include "a64_machine.h"
#include "a64_words.h"
#include "lift/a64.h"
#include "tests/seed.h"

extern "C" void nrd_a64_enter(void* state, const void* code);

// Loads every register from the state, calls the code and stores them back.
asm(R"(
  .text
  .p2align 2
  .type nrd_a64_enter, %function
nrd_a64_enter:
  stp x29, x30, [sp, #-192]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  str x0, [sp, #160]
  mov x30, x1
  ldr x2, [x0, #232]
  msr nzcv, x2
  add x3, x0, #240
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  ldr q\n, [x3], #16
  .endr
  .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28
  ldr x\n, [x0, #(8 * \n)]
  .endr
  ldr x0, [x0]
  blr x30
  ldr x30, [sp, #160]
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28
  str x\n, [x30, #(8 * \n)]
  .endr
  mrs x0, nzcv
  str x0, [x30, #232]
  add x3, x30, #240
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  str q\n, [x3], #16
  .endr
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #192
  ret
)");

namespace nrd::lift {
namespace {

constexpr uint32_t kUsableGprs = 29;  // x29, x30 and sp belong to nrd_a64_enter
constexpr size_t kMemoryBytes = 4096;
constexpr int kRounds = 60;
using Memory = std::array<uint8_t, kMemoryBytes>;

struct State {
  uint64_t gpr[kUsableGprs];
  uint64_t nzcv;
  uint64_t vector[32][2];
};
static_assert(offsetof(State, nzcv) == 232 && offsetof(State, vector) == 240);

class Code {
 public:
  Code() {
    page_ = mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  ~Code() { munmap(page_, kMemoryBytes); }
  void set(uint32_t word) {
    const uint32_t words[] = {word, 0xd65f03c0};  // ret
    mprotect(page_, kMemoryBytes, PROT_READ | PROT_WRITE);
    std::memcpy(page_, words, sizeof words);
    auto* begin = static_cast<char*>(page_);
    __builtin___clear_cache(begin, begin + sizeof words);
    mprotect(page_, kMemoryBytes, PROT_READ | PROT_EXEC);
  }
  const void* entry() const { return page_; }

 private:
  void* page_;
};

class A64Native : public testing::Test {
 protected:
  uint64_t random_integer() {
    constexpr uint64_t kSpecial[] = {0,
                                     1,
                                     2,
                                     31,
                                     63,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     uint64_t{1} << 63,
                                     ~uint64_t{0} >> 1,
                                     ~uint64_t{0}};
    switch (random_() % 4) {
      case 0: return kSpecial[random_() % std::size(kSpecial)];
      case 1: return random_() % 128;
      default: return random_() >> random_() % 64;
    }
  }
  template <class T>
  T random_float() {
    const T special[] = {
        T(0.0),       -T(0.0), T(1.0),          -T(1.5),          T(INFINITY),
        -T(INFINITY), T(NAN),  T(2147483648.0), -T(2147483648.0), T(1e-40),
        T(0.5),       T(2.5),  T(4294967296.0), T(9.3e18),        T(1.8446744073709552e19)};
    if (random_() % 2 == 0) return special[random_() % std::size(special)];
    const auto mantissa = static_cast<T>(static_cast<int64_t>(random_()));
    return std::ldexp(mantissa, -static_cast<int>(random_() % 80));
  }

  State random_state(Type lane);
  void place_memory(const A64Record& record, State& state);
  bool run_once(uint32_t word, Type lane);
  void expect_vector(const A64Machine& machine, uint32_t reg, const uint64_t (&native)[2],
                     bool packed);

  std::mt19937_64 random_{test_seed(20)};
  std::unique_ptr<FrontEnd> front_end_ = make_a64_front_end();
  A64Decoder decoder_;
  Code code_;
  Memory memory_{};
};

// Vector registers hold one lone lane, as scalar code leaves them.
State A64Native::random_state(Type lane) {
  State state{};
  for (uint64_t& reg : state.gpr) reg = random_integer();
  state.nzcv = (random_() & 15) << 28;
  for (auto& reg : state.vector) {
    reg[0] = lane == Type::kF32 ? std::bit_cast<uint32_t>(random_float<float>())
                                : std::bit_cast<uint64_t>(random_float<double>());
  }
  for (uint8_t& byte : memory_) byte = static_cast<uint8_t>(random_());
  return state;
}

void A64Native::place_memory(const A64Record& record, State& state) {
  for (int i = 0; i < record.operand_count; i++) {
    const A64Operand& operand = record.operands[i];
    if (operand.kind != A64Operand::Kind::kMemory) continue;
    if (operand.index != A64Operand::kNoRegister) state.gpr[operand.index] = random_() % 32;
    state.gpr[operand.base] = reinterpret_cast<uint64_t>(memory_.data()) + kMemoryBytes / 2;
  }
}

bool same_number(Type type, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (type == Type::kF64) {
    return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
  }
  return type == Type::kF32 && std::isnan(std::bit_cast<float>(static_cast<uint32_t>(a))) &&
         std::isnan(std::bit_cast<float>(static_cast<uint32_t>(b)));
}

// After an operation on all lanes only the lone one is claimed.
void A64Native::expect_vector(const A64Machine& machine, uint32_t reg, const uint64_t (&native)[2],
                              bool packed) {
  const Node& held = machine.node(machine.vector[reg]);
  const bool is_32 = held.type == Type::kF32 || held.type == Type::kI32;
  const uint64_t low = packed && is_32 ? native[0] & 0xffffffff : native[0];
  EXPECT_TRUE(same_number(held.type, held.bits, low))
      << "v" << reg << " " << std::hex << held.bits << " processor " << low;
  if (held.type == Type::kV128) {
    EXPECT_EQ(held.high, native[1]) << "v" << reg;
  }
}

// False where the front end refuses the instruction on registers of this kind.
bool A64Native::run_once(uint32_t word, Type lane) {
  const auto address = reinterpret_cast<uint64_t>(code_.entry());
  A64Record record;
  EXPECT_TRUE(decoder_.decode(word, address, record));
  State state = random_state(lane);
  place_memory(record, state);

  Memory lifted_memory = memory_;
  A64Machine machine;
  machine.memory = lifted_memory;
  machine.memory_base = reinterpret_cast<uint64_t>(memory_.data());
  for (uint32_t i = 0; i < kUsableGprs; i++) machine.gpr[i] = state.gpr[i];
  for (uint32_t i = 0; i < 32; i++) machine.vector[i] = machine.constant(lane, state.vector[i][0]);
  machine.set_flags_bits(static_cast<unsigned>(state.nzcv >> 28));
  try {
    const A64Code image(address, {word});
    Instruction in;
    std::string reason;
    EXPECT_TRUE(front_end_->decode(image, address, in, reason)) << reason;
    front_end_->translate(in, image, machine);
  } catch (const Refused&) {
    return false;
  }

  nrd_a64_enter(&state, code_.entry());
  bool packed = false;
  for (const A64Operand& operand : record.operands) packed = packed || operand.packed();
  for (uint32_t i = 0; i < kUsableGprs; i++) EXPECT_EQ(machine.gpr[i], state.gpr[i]) << "x" << i;
  for (uint32_t i = 0; i < 32; i++) expect_vector(machine, i, state.vector[i], packed);
  EXPECT_EQ(machine.flags.bits(), state.nzcv >> 28) << "nzcv";
  EXPECT_EQ(lifted_memory, memory_);
  return true;
}

TEST_F(A64Native, EveryFormMatchesTheProcessor) {
  ASSERT_NE(front_end_, nullptr);
  for (const uint32_t word : kA64Words) {
    code_.set(word);
    SCOPED_TRACE(decoder_.text(word, 0));
    bool lifted = false;
    for (int i = 0; i < kRounds; i++) {
      const bool on_floats = run_once(word, Type::kF32);
      const bool on_doubles = run_once(word, Type::kF64);
      lifted = lifted || on_floats || on_doubles;
      if (HasFailure()) return;
    }
    EXPECT_TRUE(lifted);
  }
}

}  // namespace
}  // namespace nrd::lift
#endif
