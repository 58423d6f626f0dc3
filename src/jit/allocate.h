// SPDX-License-Identifier: MIT
// src/jit/allocate.h: linear scan: a place for every register of a program.
//
// Each virtual register has one place for its whole life: a physical register, a stack slot or,
// for a constant, the pool. An instruction whose operands lie in memory gets temporaries, physical
// registers of its own for the time it takes; nothing is set aside for them beforehand.
//
// Instruction i reads at time 2i and writes at time 2i + 1, so a result may take the register of
// an operand that dies with it. A sequence of machine instructions therefore writes the result
// last, or its needs keep the operands apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "jit/ir.h"

namespace nrd::jit {

// Operands as bits, for Needs.
constexpr uint8_t kOperandA = 1, kOperandB = 2, kOperandC = 4;

// What one instruction asks of the allocator.
struct Needs {
  uint8_t vectors = 0, masks = 0;  // temporaries of its own
  uint8_t memory = 0;              // vector operands that may stay in memory, one at a time
  uint8_t apart = 0;               // operands whose registers the result must not take over
};

// What a back end lends: physical numbers in the order of preference. Registers that are missing
// (a stack pointer, scratch registers) belong to the back end.
struct RegisterFile {
  std::span<const uint8_t> vectors, masks, gprs;
  bool masks_are_vectors = false;  // then `masks` is empty
};

struct Location {
  enum Kind : uint8_t { kUnused, kRegister, kSlot, kPool } kind = kUnused;
  uint8_t reg = 0;
  uint32_t slot = 0;  // vector slots and 8-byte slots (masks, gprs) are counted apart
};

struct Interval {
  static constexpr uint32_t kNever = ~uint32_t{0};
  uint32_t start = kNever, end = 0;
  float weight = 0;  // touches, each loop around one counting eightfold
};

struct Temporaries {
  uint32_t begin = 0;  // in Allocation::temporaries: vectors, then masks
  uint8_t vectors = 0, masks = 0;
};

struct Allocation {
  std::vector<Location> where;  // of each virtual register
  std::vector<Interval> lives;  // of each virtual register
  std::vector<Temporaries> of_instruction;
  std::vector<uint8_t> temporaries;  // physical numbers
  uint32_t vector_slots = 0, small_slots = 0;
  uint32_t used_gprs = 0;  // bits
  int spills = 0;          // registers that went to the stack

  bool lives_across(uint32_t reg, size_t instruction) const {
    return where[reg].kind == Location::kRegister && lives[reg].start <= 2 * instruction &&
           lives[reg].end > 2 * instruction;
  }
};

// Lifetimes: from the first touch to the last, over the whole of a loop that a value enters.
void find_lives(const Program& program, std::vector<Interval>& lives);

// `needs` is asked once an instruction. `to` is overwritten; its memory is reused.
Expected<void> allocate(const Program& program, const RegisterFile& file,
                        Needs (*needs)(const Inst&), Allocation& to);

}  // namespace nrd::jit
