// SPDX-License-Identifier: MIT
// src/lift/x86.h: inside the x86-64 front end: the decoded record, the table of instructions and
// the translator. Start reading at x86_table.cpp: it is the list of what is understood.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/zydis.h"
#include "lift/frontend.h"

namespace nrd::lift {

enum : uint32_t { kRax = 0, kRcx = 1, kRdx = 2, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7, kR8 = 8 };
// AVX-512's mask registers k0 ... k7 are general registers that x86 does not have. Scalar code
// uses their lowest bit.
constexpr uint32_t kMaskBase = 16;

struct X86Operand {
  enum class Kind : uint8_t { kNone, kGpr, kVector, kMask, kMemory, kImmediate, kOther };
  static constexpr uint8_t kNoRegister = 0xff;

  Kind kind = Kind::kNone;
  uint8_t reg = kNoRegister;                                   // of kGpr, kVector and kMask
  bool high_byte = false;                                      // ah, bh, ch, dh
  uint8_t base = kNoRegister, index = kNoRegister, scale = 1;  // of kMemory
  bool segment = false;                                        // of kMemory: fs or gs
  uint16_t bits = 0;
  int64_t value = 0;  // immediate; displacement (rip-relative ones are absolute already)
};

class X86Translator;

// Which conditions may be read after an instruction. A linear scan backwards from the reader
// finds the instruction: compilers do not keep flags over a join of control flow.
enum class X86Flags : uint8_t {
  kKept,      // the instruction writes none
  kInteger,   // all but parity
  kNoCarry,   // inc, dec: the carry is an older one
  kZeroSign,  // shifts: carry and overflow are not modelled
  kCarry,     // bt: only the carry
  kFloat,     // comiss: unsigned conditions, equality and parity
  kNone,      // written, but nothing is modelled
};

struct X86Rule {
  ZydisMnemonic mnemonic = ZYDIS_MNEMONIC_INVALID;
  void (X86Translator::*translate)() = nullptr;
  TraceOp op = TraceOp::kConst;
  Type type = Type::kNone;  // of the lowest lane
  X86Flags flags = X86Flags::kKept;
  uint8_t variant = 0;  // of fused(): see kNegateProduct ...
};

// What distinguishes the fused multiply-adds: which operands are multiplied, and two signs.
enum : uint8_t {
  kNegateProduct = 1,
  kNegateAddend = 2,
  kForm132 = 0,
  kForm213 = 4,
  kForm231 = 8,
};

struct X86Record {
  uint64_t address = 0;
  ZydisMnemonic mnemonic = ZYDIS_MNEMONIC_INVALID;
  ZydisInstructionCategory category = ZYDIS_CATEGORY_INVALID;
  const X86Rule* rule = nullptr;  // null: not in the table
  Flow flow = Flow::kNext;
  uint8_t length = 0;
  uint8_t operand_count = 0;
  Cond cond = Cond::kO;    // of jcc, setcc, cmovcc
  bool vex = false;        // VEX or EVEX: the first source has an operand of its own
  bool address32 = false;  // an address-size prefix
  bool broadcast = false;  // the memory operand is one element, repeated
  uint8_t mask = X86Operand::kNoRegister;  // {k1}: where its bit is 0 the result is not written
  bool mask_zeroes = false;                // {z}: but cleared
  const char* unsupported = nullptr;       // a prefix or mode nobody models: why
  std::array<X86Operand, 4> operands;
  std::array<uint8_t, ZYDIS_MAX_INSTRUCTION_LENGTH> bytes{};
};

const X86Rule* find_x86_rule(const ZydisDecodedInstruction& instruction);
// What an instruction that is not in the table is, for the refusal.
std::string_view describe_unknown(const X86Record& record);

// Translates one record. Members of x86_integer.cpp, x86_float.cpp and x86_vector.cpp are named
// by the table and work on the current record.
class X86Translator {
 public:
  X86Translator(std::span<const X86Record> records, uint32_t current, Builder& builder)
      : records_(records), current_(current), in_(records[current]), b_(builder) {}

  void translate();
  NodeId branch_condition() { return condition(in_.cond); }

  // x86_integer.cpp
  void nothing() {}
  void move();
  void extend_zero();
  void extend_sign();
  void extend_accumulator();
  void sign_of_accumulator();
  void load_address();
  void add();
  void subtract();
  void compare();
  void test();
  void logic();
  void and_not();
  void negate();
  void complement();
  void increment();
  void decrement();
  void add_carry();
  void subtract_borrow();
  void multiply();
  void multiply_unsigned();
  void divide();
  void divide_unsigned();
  void shift();
  void shift_without_flags();
  void rotate();
  void bit_test();
  void set_byte();
  void conditional_move();
  void exchange();
  void push();
  void pop();
  void leave();
  void return_();

  // x86_float.cpp
  void scalar_binary();
  void scalar_unary();
  void scalar_round();
  void scalar_compare_mask();
  void low_compare_mask();
  void scalar_compare_flags();
  void fused();
  void integer_to_float();
  void unsigned_to_float();
  void float_to_integer();
  void float_to_integer_rounded();
  void convert_float();
  void convert_low_lane();

  // x86_vector.cpp
  void move_scalar();
  void move_integer();
  void move_vector();
  void keep_low_lane();
  void duplicate_low_lane();
  void shuffle();
  void permute();
  void broadcast_low_lane();
  void vector_logic();
  void vector_and_not();
  void ternary_logic();
  void all_ones();
  void shift_lanes();
  void blend_by_sign();
  void move_mask();

 private:
  // x86_operand.cpp
  [[noreturn]] void refuse(std::string_view what);
  [[noreturn]] void refuse_vectorised();
  const X86Operand& operand(int i);
  Type operand_type(int i);
  NodeId constant(Type type, int64_t value);
  NodeId address(const X86Operand& memory);
  NodeId read(int i);  // an integer operand; an immediate has the type of operand 0
  void write(int i, NodeId value);
  NodeId mask_bit(uint32_t mask);
  NodeId read_lane(int i, Type type);  // a vector register's low lane, or memory
  void write_lane(NodeId value);       // to operand 0, a vector register
  NodeId condition(Cond cond);
  int source() const { return in_.vex ? 1 : 0; }  // the first of two
  NodeId stack_read();
  void stack_write(NodeId address);

  // x86_integer.cpp
  NodeId integer(TraceOp op, NodeId a, NodeId b);
  NodeId carry(Type type);
  NodeId shift_count(int i, Type type);
  void set_result_flags(NodeId result);
  void widening_multiply(bool sign);
  void divide_as(bool sign);
  // x86_vector.cpp
  NodeId read_whole(int i);
  Type logic_type(NodeId a, NodeId b);
  NodeId lane_of(int i, NodeId whole, Type type);
  void bitwise(bool invert_first);
  NodeId logic_of_two(unsigned truth, NodeId x, NodeId y, Type type);
  void select_low_lane(int from);
  void store_vector();

  std::span<const X86Record> records_;
  uint32_t current_;
  const X86Record& in_;
  Builder& b_;
};

}  // namespace nrd::lift
