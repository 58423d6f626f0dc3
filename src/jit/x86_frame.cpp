// SPDX-License-Identifier: MIT
// src/jit/x86_frame.cpp: the function around the instructions: frame, calls, pool.
#include <algorithm>
#include <array>
#include <cstring>

#include "jit/x86_emitter.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

constexpr std::array<uint8_t, 6> kCalleeSaved = {x86::Gp::kIdBx,  x86::Gp::kIdBp,  x86::Gp::kIdR12,
                                                 x86::Gp::kIdR13, x86::Gp::kIdR14, x86::Gp::kIdR15};
constexpr int kFrameAlignment = 64;

bool is_callee_saved(uint32_t physical) {
  return std::find(kCalleeSaved.begin(), kCalleeSaved.end(), physical) != kCalleeSaved.end();
}

bool uses_buffers(const Inst& inst) {
  return inst.op == Op::kLoadStrided || inst.op == Op::kStoreStrided || inst.op == Op::kGather ||
         inst.op == Op::kCallLanes;
}

}  // namespace

X86Emitter::X86Emitter(const Program& program, const Target& target, const Allocation& where)
    : Emitter(program, target, where, asmjit::Arch::kX64) {
  bool any_f64 = false;
  for (const Inst& inst : program.code)
    any_f64 |= inst.lane == Lane::kF64 || inst.op == Op::kF32ToF64 || inst.op == Op::kI32ToF64;
  vector_bytes_ = program.lanes * (any_f64 ? 8 : 4);
}

X86Emitter::~X86Emitter() = default;

bool X86Emitter::lanes_fit() const {
  return vector_bytes_ <= target_.vector_bytes && program_.lanes * 8 >= target_.vector_bytes;
}

// ---- frame ----

void X86Emitter::lay_out_frame() {
  int saved_vectors = 0, saved_small = 0;
  bool has_buffers = false;
  for (size_t i = 0; i < program_.code.size(); i++) {
    has_buffers |= uses_buffers(program_.code[i]);
    if (program_.code[i].op != Op::kCallLanes) continue;
    int vectors = 0, small = 0;
    for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
      if (!allocation_.lives_across(reg, i)) continue;
      (program_.registers[reg] == RegClass::kVector ? vectors : small)++;
      // A mask that is a vector needs the larger place.
      if (program_.registers[reg] == RegClass::kMask) vectors++;
    }
    saved_vectors = std::max(saved_vectors, vectors);
    saved_small = std::max(saved_small, small);
  }
  int32_t at = static_cast<int32_t>(allocation_.vector_slots) * vector_bytes_;
  frame_.buffers = at;
  if (has_buffers) at += 3 * vector_bytes_;
  frame_.saved_vectors = at;
  at += saved_vectors * vector_bytes_;
  frame_.small = at;
  at += static_cast<int32_t>(allocation_.small_slots) * 8;
  frame_.saved_small = at;
  at += saved_small * 8;
  if (at == 0 && !has_calls_) return;
  frame_.block = at;
  frame_.old_rsp = at + 8;
  frame_.size = (at + 16 + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}

void X86Emitter::prologue() {
  lay_out_frame();
  for (uint8_t physical : kCalleeSaved) {
    if (allocation_.used_gprs >> physical & 1) a_.push(x86::gpq(physical));
  }
  if (frame_.size == 0) return;
  a_.mov(x86::rax, x86::rsp);
  a_.sub(x86::rsp, frame_.size);
  a_.and_(x86::rsp, -kFrameAlignment);
  a_.mov(x86::ptr(x86::rsp, frame_.old_rsp), x86::rax);
  if (has_calls_) a_.mov(x86::ptr(x86::rsp, frame_.block), x86::rdi);
}

void X86Emitter::epilogue() {
  a_.vzeroupper();
  if (frame_.size != 0) a_.mov(x86::rsp, x86::ptr(x86::rsp, frame_.old_rsp));
  for (size_t i = kCalleeSaved.size(); i-- > 0;) {
    if (allocation_.used_gprs >> kCalleeSaved[i] & 1) a_.pop(x86::gpq(kCalleeSaved[i]));
  }
  a_.ret();
}

// ---- calls ----

// What lives across the call and the callee may overwrite: every vector and mask, and the general
// registers that belong to the callee.
void X86Emitter::move_live_registers(size_t instruction, bool is_save) {
  int32_t vector_at = frame_.saved_vectors, small_at = frame_.saved_small;
  const uint32_t dst = program_.code[instruction].dst;
  for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
    if (reg == dst || !allocation_.lives_across(reg, instruction)) continue;
    const uint32_t physical = where(reg).reg;
    const RegClass kind = program_.registers[reg];
    if (kind == RegClass::kVector || (kind == RegClass::kMask && masks_are_vectors())) {
      const x86::Mem place = x86::ptr(x86::rsp, vector_at);
      const Vec own = vec(physical, vector_bytes_);
      vector_at += vector_bytes_;
      if (is_save) {
        a_.emit(Id::kIdVmovups, place, own);
      } else {
        a_.emit(Id::kIdVmovups, own, place);
      }
    } else if (kind == RegClass::kMask) {
      const x86::Mem place = x86::ptr(x86::rsp, small_at, 8);
      small_at += 8;
      is_save ? save_mask(physical, place) : restore_mask(physical, place);
    } else if (!is_callee_saved(physical)) {
      const x86::Mem place = x86::ptr(x86::rsp, small_at, 8);
      small_at += 8;
      is_save ? a_.mov(place, x86::gpq(physical)) : a_.mov(x86::gpq(physical), place);
    }
  }
}

// Operands in registers go first: an operand in memory passes through register 0.
void X86Emitter::pass_argument(uint32_t reg, int index, int bytes, bool registers_only) {
  if (reg == kNoReg || in_memory(reg) == registers_only) return;
  Vec value = vec(0, bytes);
  if (registers_only) {
    value = vec(where(reg).reg, bytes);
  } else {
    load_place(value, reg);
  }
  a_.emit(Id::kIdVmovups, buffer(index), value);
}

void X86Emitter::call_stub(const CallStub& stub) {
  const Inst& inst = program_.code[stub.instruction];
  const int width = bytes(inst.lane);
  a_.bind(stub.begin);
  move_live_registers(stub.instruction, true);
  for (bool registers_only : {true, false}) {
    pass_argument(inst.a, 0, width, registers_only);
    pass_argument(inst.b, 1, width, registers_only);
  }
  a_.mov(x86::rax, x86::ptr(x86::rsp, frame_.block));
  a_.mov(x86::rax, x86::ptr(x86::rax, kHelpersOffset));
  a_.lea(x86::rdi, buffer(0));
  a_.lea(x86::rsi, buffer(1));
  a_.lea(x86::rdx, buffer(2));
  a_.mov(x86::ecx, lanes());
  a_.vzeroupper();
  a_.call(x86::ptr(x86::rax, static_cast<int32_t>(inst.imm * 8), 8));
  if (in_memory(inst.dst)) {
    a_.emit(Id::kIdVmovups, vec(0, width), buffer(2));
    a_.emit(Id::kIdVmovups, vector_slot(where(inst.dst).slot, width), vec(0, width));
  }
  move_live_registers(stub.instruction, false);
  if (!in_memory(inst.dst)) {
    a_.emit(Id::kIdVmovups, vec(where(inst.dst).reg, width), buffer(2));
  }
  a_.jmp(stub.back);
}

}  // namespace nrd::jit
