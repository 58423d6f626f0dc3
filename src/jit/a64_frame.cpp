// SPDX-License-Identifier: MIT
// src/jit/a64_frame.cpp: the function around the instructions: frame, calls, pool.
//
// The frame, from sp up: the frame record (with calls), the caller's registers, the block, 8-byte
// slots, room to save general registers around a call, the three buffers of a call, room to save
// vectors, vector slots. What is reached with short offsets comes first.
#include <algorithm>

#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

bool is_kept_gpr(uint32_t physical) { return physical >= 19 && physical <= 28; }
bool is_kept_vector(uint32_t physical) { return physical >= 8 && physical <= 15; }

int32_t round_to_16(int32_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

A64Emitter::A64Emitter(const Program& program, const Target& target, const Allocation& where)
    : Emitter(program, target, where, asmjit::Arch::kAArch64) {
  for (const Inst& inst : program.code) any_f64_ |= inst.lane == Lane::kF64;
}

bool A64Emitter::lanes_fit() const {
  return lanes() == target_.lanes(true) || (!any_f64_ && lanes() == target_.lanes(false));
}

// ---- frame ----

void A64Emitter::find_kept_registers() {
  uint32_t vectors = 0;
  for (uint8_t physical : allocation_.temporaries) vectors |= 1u << physical;
  for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
    if (in_memory(reg) || program_.registers[reg] == RegClass::kGpr) continue;
    vectors |= 1u << where(reg).reg;
  }
  for (uint8_t physical = 0; physical < 32; physical++) {
    if (is_kept_vector(physical) && (vectors >> physical & 1)) kept_vectors_.push_back(physical);
    if (is_kept_gpr(physical) && (allocation_.used_gprs >> physical & 1)) {
      kept_gprs_.push_back(physical);
    }
  }
}

void A64Emitter::lay_out_frame() {
  int32_t saved_vectors = 0, saved_small = 0;
  for (size_t i = 0; i < program_.code.size(); i++) {
    if (program_.code[i].op != Op::kCallLanes) continue;
    int32_t vectors = 0, small = 0;
    for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
      if (!allocation_.lives_across(reg, i)) continue;
      (program_.registers[reg] == RegClass::kGpr ? small : vectors)++;
    }
    saved_vectors = std::max(saved_vectors, vectors);
    saved_small = std::max(saved_small, small);
  }
  const auto kept = static_cast<int32_t>(kept_gprs_.size() + kept_vectors_.size());
  int32_t at = (has_calls_ ? 16 : 0) + kept * 8;
  frame_.block = at;
  at += has_calls_ ? 8 : 0;
  frame_.small = at;
  at += static_cast<int32_t>(allocation_.small_slots) * 8;
  frame_.saved_small = at;
  at = round_to_16(at + saved_small * 8);
  frame_.buffers = at;
  at += has_calls_ ? 3 * 16 : 0;
  frame_.saved_vectors = at;
  at += saved_vectors * 16;
  frame_.vectors = at;
  frame_.size = at + static_cast<int32_t>(allocation_.vector_slots) * 16;
}

void A64Emitter::move_kept_registers(bool is_save) {
  int32_t at = has_calls_ ? 16 : 0;
  for (uint8_t physical : kept_gprs_) {
    const a64::Mem place = a64::ptr(a64::sp, at);
    at += 8;
    is_save ? a_.str(a64::x(physical), place) : a_.ldr(a64::x(physical), place);
  }
  for (uint8_t physical : kept_vectors_) {
    const a64::Mem place = a64::ptr(a64::sp, at);
    at += 8;
    is_save ? a_.str(a64::d(physical), place) : a_.ldr(a64::d(physical), place);
  }
}

void A64Emitter::prologue() {
  find_kept_registers();
  lay_out_frame();
  if (frame_.size == 0) return;
  move_stack(-frame_.size);
  if (has_calls_) {
    a_.stp(a64::x29, a64::x30, a64::ptr(a64::sp));
    a_.mov(a64::x29, a64::sp);
    a_.str(a64::x0, a64::ptr(a64::sp, frame_.block));
  }
  move_kept_registers(true);
}

void A64Emitter::epilogue() {
  if (frame_.size != 0) {
    move_kept_registers(false);
    if (has_calls_) a_.ldp(a64::x29, a64::x30, a64::ptr(a64::sp));
    move_stack(frame_.size);
  }
  a_.ret(a64::x30);
}

// In two steps where one does not reach; the first leaves sp aligned.
void A64Emitter::move_stack(int32_t bytes) {
  const int32_t size = std::abs(bytes);
  for (int32_t step : {size & ~0xfff, size & 0xfff}) {
    if (step == 0) continue;
    bytes < 0 ? a_.sub(a64::sp, a64::sp, step) : a_.add(a64::sp, a64::sp, step);
  }
}

// ---- calls ----

// What lives across the call and the callee may overwrite: every vector, of which it would keep
// the lower half at best, and the general registers that belong to it.
void A64Emitter::move_live_registers(size_t instruction, bool is_save) {
  int32_t vector_at = frame_.saved_vectors, small_at = frame_.saved_small;
  const uint32_t dst = program_.code[instruction].dst;
  for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
    if (reg == dst || !allocation_.lives_across(reg, instruction)) continue;
    const uint32_t physical = where(reg).reg;
    if (program_.registers[reg] != RegClass::kGpr) {
      const a64::Mem place = a64::ptr(a64::sp, vector_at);
      vector_at += 16;
      is_save ? a_.str(a64::v(physical), place) : a_.ldr(a64::v(physical), place);
    } else if (!is_kept_gpr(physical)) {
      const a64::Mem place = a64::ptr(a64::sp, small_at);
      small_at += 8;
      is_save ? a_.str(a64::x(physical), place) : a_.ldr(a64::x(physical), place);
    }
  }
}

// Operands in registers go first: an operand in memory passes through v0.
void A64Emitter::pass_argument(uint32_t reg, int index, bool registers_only) {
  if (reg == kNoReg || in_memory(reg) == registers_only) return;
  Vec value = a64::v0;
  if (registers_only) {
    value = a64::v(where(reg).reg);
  } else {
    load_place(value, reg);
  }
  a_.str(value.q(), buffer(index));
}

void A64Emitter::call_stub(const CallStub& stub) {
  const Inst& inst = program_.code[stub.instruction];
  a_.bind(stub.begin);
  move_live_registers(stub.instruction, true);
  for (bool registers_only : {true, false}) {
    pass_argument(inst.a, 0, registers_only);
    pass_argument(inst.b, 1, registers_only);
  }
  a_.ldr(a64::x16, a64::ptr(a64::sp, frame_.block));
  a_.ldr(a64::x16, a64::ptr(a64::x16, static_cast<int32_t>(kHelpersOffset)));
  a_.ldr(a64::x16, a64::ptr(a64::x16, static_cast<int32_t>(inst.imm * 8)));
  add_immediate(a64::x0, a64::sp, static_cast<uint64_t>(frame_.buffers));
  add_immediate(a64::x1, a64::x0, 16);
  add_immediate(a64::x2, a64::x0, 32);
  a_.mov(a64::x3, lanes());
  a_.blr(a64::x16);
  if (in_memory(inst.dst)) {
    a_.ldr(a64::v0, buffer(2));
    a_.str(a64::v0, vector_slot(where(inst.dst).slot));
  }
  move_live_registers(stub.instruction, false);
  if (!in_memory(inst.dst)) a_.ldr(a64::v(where(inst.dst).reg), buffer(2));
  a_.b(stub.back);
}

}  // namespace nrd::jit
