// SPDX-License-Identifier: MIT
// src/lift/a64.h: inside the aarch64 front end: the decoded record, the table of instructions and
// the translator. Start reading at a64_table.cpp: it is the list of what is understood.
#pragma once

#include <capstone/capstone.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lift/frontend.h"

namespace nrd::lift {

enum : uint32_t { kA64Frame = 29, kA64Link = 30, kA64Sp = 31 };

struct A64Operand {
  enum class Kind : uint8_t { kNone, kGpr, kZero, kVector, kImmediate, kFloat, kMemory, kOther };
  static constexpr uint8_t kNoRegister = 0xff;

  Kind kind = Kind::kNone;
  uint8_t reg = kNoRegister;  // of kGpr (31: sp) and kVector
  uint8_t bits = 0;           // width of the register; of the index of kMemory
  uint8_t lane_bits = 0;      // of a vector with an arrangement or a lane
  int8_t lane = -1;           // of v0.s[1]
  uint8_t base = kNoRegister, index = kNoRegister;  // of kMemory
  arm64_shifter shift = ARM64_SFT_INVALID;
  uint8_t amount = 0;
  arm64_extender extend = ARM64_EXT_INVALID;
  int64_t value = 0;    // immediate, displacement
  double number = 0.0;  // of kFloat

  bool packed() const { return lane_bits != 0 && lane < 0; }
};

class A64Translator;

struct A64Rule {
  arm64_insn id = ARM64_INS_INVALID;
  void (A64Translator::*translate)() = nullptr;
  TraceOp op = TraceOp::kConst;
  bool is_signed = false;
  uint8_t bits = 0;  // of memory, or of what is extended; 0: the register's
};

struct A64Record {
  uint64_t address = 0;
  uint32_t word = 0;
  arm64_insn id = ARM64_INS_INVALID;
  Flow flow = Flow::kNext;
  arm64_cc condition = ARM64_CC_INVALID;
  bool sets_flags = false;
  bool writeback = false;
  uint8_t operand_count = 0;
  std::array<A64Operand, 4> operands;
};

const A64Rule* find_a64_rule(arm64_insn id);

// Capstone behind our own record, so that its quirks stay in one file.
class A64Decoder {
 public:
  A64Decoder();
  ~A64Decoder();
  A64Decoder(const A64Decoder&) = delete;
  A64Decoder& operator=(const A64Decoder&) = delete;

  bool ready() const { return scratch_ != nullptr; }
  bool decode(uint32_t word, uint64_t address, A64Record& out) const;
  std::string text(uint32_t word, uint64_t address) const;

 private:
  bool disassemble(uint32_t word, uint64_t address) const;
  csh handle_ = 0;
  cs_insn* scratch_ = nullptr;
};

// A linker's stub: adrp x16; ldr x17, [x16, #slot]; add x16, x16, #slot; br x17 jumps through a
// slot, adrp x16; add x16, x16, #target; br x16 to a far place. Read as one instruction, like
// jmp [rip + slot] of other machines.
struct A64Stub {
  uint64_t slot = 0;  // or
  uint64_t target = 0;
  uint8_t length = 0;
};
std::optional<A64Stub> match_a64_stub(const Image& image, uint64_t address);

// Translates one record. Members are named by the table and work on the current record.
class A64Translator {
 public:
  A64Translator(std::span<const A64Record> records, uint32_t current, const A64Decoder& decoder,
                Builder& builder)
      : records_(records),
        current_(current),
        in_(records[current]),
        decoder_(decoder),
        b_(builder) {}

  void translate();
  NodeId branch_condition();

  // a64_integer.cpp
  void nothing() {}
  void move();
  void move_wide();
  void move_wide_inverted();
  void move_keep();
  void load_address();
  void add();
  void subtract();
  void negate();
  void compare();
  void compare_negative();
  void logic();
  void logic_inverted();
  void complement();
  void test();
  void multiply();
  void multiply_negated();
  void multiply_add();
  void multiply_long();
  void multiply_long_add();
  void multiply_long_negated();
  void multiply_high();
  void divide();

  // a64_bits.cpp
  void shift();
  void rotate();
  void extract();
  void extend();
  void field_extract();
  void field_insert_in_zero();
  void field_insert();
  void field_extract_and_insert();

  // a64_select.cpp
  void select();
  void select_increment();
  void select_invert();
  void select_negate();
  void set_one();
  void set_all();
  void increment_if();
  void invert_if();
  void negate_if();
  void compare_if();
  void compare_negative_if();
  void float_compare();
  void float_compare_if();
  void float_select();

  // a64_memory.cpp
  void load();
  void store();
  void load_pair();
  void store_pair();

  // a64_float.cpp
  void float_binary();
  void float_multiply_negated();
  void float_unary();
  void float_negate();
  void float_extremum();
  void float_difference();
  void fused();
  void fused_negated_product();
  void fused_negated();
  void fused_negated_addend();
  void float_move();
  void convert_float();
  void integer_to_float();
  void float_to_integer();

  // a64_vector.cpp
  void lane_immediate();
  void lane_immediate_inverted();
  void choose_by_mask_in_target();
  void choose_inserted();
  void choose_kept();
  void lane_to_gpr();
  void insert_lane();
  void lane_shift();
  void lane_widen();

 private:
  // a64_operand.cpp
  [[noreturn]] void refuse(std::string_view what);
  [[noreturn]] void refuse_packed();
  const A64Operand& operand(int i);
  const A64Rule& rule() const { return *rule_; }
  Type integer_type(int i);
  Type float_type(int i);
  NodeId constant(Type type, uint64_t value);
  NodeId float_constant(Type type, double value);
  NodeId read_gpr(const A64Operand& reg, Type type);
  NodeId extended(NodeId value, arm64_extender extend, Type type);
  NodeId shifted(NodeId value, arm64_shifter shift, unsigned amount, Type type);
  NodeId rotated(NodeId value, unsigned amount, Type type);
  NodeId read(int i, Type type);  // an integer operand with its shift or extension
  void write(int i, NodeId value);
  NodeId read_float(int i, Type type);
  void write_float(NodeId value);  // to operand 0
  NodeId double_bits_of(uint32_t vector);
  NodeId lane_bits_of(const A64Operand& vector, unsigned bits);  // i32 or i64, zero extended
  NodeId condition(arm64_cc condition);

  // a64_integer.cpp
  NodeId inverted(NodeId value, Type type);
  void add_flags(NodeId a, int addend);
  NodeId long_product();
  // a64_bits.cpp
  NodeId field(NodeId value, unsigned low, unsigned width, Type type);
  // a64_select.cpp
  void write_selected(arm64_cc condition, NodeId a, NodeId b);
  arm64_cc opposite(arm64_cc condition);
  void check_carry(arm64_cc condition);
  // a64_memory.cpp
  struct Address {
    NodeId value;    // of the access
    NodeId written;  // to the base afterwards, or kNoNode
    uint32_t base = 0;
  };
  Address address(int memory);
  void write_back(const Address& address);
  NodeId load_register(const A64Operand& reg, NodeId address);
  void write_register(int i, NodeId value);
  void store_register(const A64Operand& reg, NodeId address);
  void store_vector(uint32_t reg, unsigned bytes, NodeId address);
  unsigned access_bytes(const A64Operand& reg);
  // a64_float.cpp
  void fuse(bool negate_product, bool negate_addend);
  NodeId saturated(NodeId value, Type from, Type to);
  NodeId saturated_unsigned(NodeId value, Type from, Type to);
  NodeId negative_zero_aware(TraceOp op, Type type, NodeId a, NodeId b);
  // a64_vector.cpp
  void write_lane_constant(uint64_t lane);
  uint64_t immediate_lane();
  void vector_move();
  void vector_logic(TraceOp op, bool invert);
  void vector_complement();
  void vector_arithmetic(TraceOp op);
  void vector_negate_constant();
  NodeId lone(int i, Type type);
  struct Whole {
    NodeId node = kNoNode;
    uint32_t reg = 0;
  };
  Whole read_whole(const A64Operand& vector);
  Type common_lane(std::span<const Whole> operands);
  NodeId lane_of(const Whole& whole, Type type);
  void choose(const A64Operand& mask, const A64Operand& yes, const A64Operand& no);

  std::span<const A64Record> records_;
  uint32_t current_;
  const A64Record& in_;
  const A64Rule* rule_ = nullptr;
  const A64Decoder& decoder_;
  Builder& b_;
};

}  // namespace nrd::lift
