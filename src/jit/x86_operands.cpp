// SPDX-License-Identifier: MIT
// src/jit/x86_operands.cpp: from virtual registers and addresses to machine operands.
#include <array>
#include <limits>

#include "jit/x86_emitter.h"

namespace nrd::jit {

x86::Vec X86Emitter::vec(uint32_t physical, int bytes) {
  return Vec(x86::Reg::signatureOfVecBySize(static_cast<uint32_t>(bytes)), physical);
}

x86::Vec X86Emitter::temporary(int bytes) {
  const Temporaries& own = allocation_.of_instruction[at_];
  if (next_vector_ >= own.vectors) {
    fail("an instruction asks for more temporary vectors than its needs say");
    return vec(0, bytes);
  }
  return vec(allocation_.temporaries[own.begin + static_cast<size_t>(next_vector_++)], bytes);
}

x86::KReg X86Emitter::mask_temporary() {
  const Temporaries& own = allocation_.of_instruction[at_];
  if (next_mask_ >= own.masks) {
    fail("an instruction asks for more temporary masks than its needs say");
    return x86::k1;
  }
  const size_t index = own.begin + own.vectors + static_cast<size_t>(next_mask_++);
  return x86::KReg(allocation_.temporaries[index]);
}

x86::Vec X86Emitter::shared_temporary(int bytes) {
  if (shared_vector_ < 0) shared_vector_ = static_cast<int>(temporary(bytes).id());
  return vec(static_cast<uint32_t>(shared_vector_), bytes);
}

x86::KReg X86Emitter::shared_mask_temporary() {
  if (shared_mask_ < 0) shared_mask_ = static_cast<int>(mask_temporary().id());
  return x86::KReg(static_cast<uint32_t>(shared_mask_));
}

x86::Mem X86Emitter::vector_slot(uint32_t slot, int bytes) const {
  return x86::ptr(x86::rsp, static_cast<int32_t>(slot) * vector_bytes_,
                  static_cast<uint32_t>(bytes));
}

x86::Mem X86Emitter::small_slot(uint32_t slot) const {
  return x86::ptr(x86::rsp, frame_.small + static_cast<int32_t>(slot) * 8, 8);
}

x86::Mem X86Emitter::buffer(int index) const {
  return x86::ptr(x86::rsp, frame_.buffers + index * vector_bytes_);
}

x86::Mem X86Emitter::iota_memory() {
  std::array<uint32_t, 16> words;
  for (uint32_t lane = 0; lane < words.size(); lane++) words[lane] = lane;
  const uint32_t offset = pool_.add_words({words.data(), static_cast<size_t>(lanes())});
  return x86::ptr(pool_label_, static_cast<int32_t>(offset));
}

void X86Emitter::move(Vec to, Vec from) {
  if (to.id() != from.id()) a_.emit(x86::Inst::kIdVmovaps, to, from);
}

// ---- vectors ----

void X86Emitter::load_place(Vec to, uint32_t reg) {
  const Location& place = where(reg);
  if (place.kind == Location::kSlot) {
    a_.emit(x86::Inst::kIdVmovups, to, vector_slot(place.slot, static_cast<int>(to.size())));
    return;
  }
  const Inst& constant = *constants_[reg];
  if (constant.imm == 0) {
    a_.emit(x86::Inst::kIdVxorps, to.xmm(), to.xmm(), to.xmm());
    return;
  }
  const int element = lane_bytes(constant.lane);
  const auto offset = pool_.add_splat(static_cast<uint64_t>(constant.imm), element, element);
  const x86::Mem memory = x86::ptr(pool_label_, static_cast<int32_t>(offset));
  if (element == 4) {
    a_.emit(x86::Inst::kIdVbroadcastss, to, memory);
  } else {
    a_.emit(to.isXmm() ? x86::Inst::kIdVmovddup : x86::Inst::kIdVbroadcastsd, to, memory);
  }
}

x86::Vec X86Emitter::use(uint32_t reg, int bytes) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return vec(place.reg, bytes);
  const Vec loaded = temporary(bytes);
  load_place(loaded, reg);
  return loaded;
}

asmjit::Operand X86Emitter::operand(uint32_t reg, int bytes) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return vec(place.reg, bytes);
  if (place.kind == Location::kSlot) return vector_slot(place.slot, bytes);
  const Inst& constant = *constants_[reg];
  return splat_memory(static_cast<uint64_t>(constant.imm), lane_bytes(constant.lane), bytes);
}

x86::Vec X86Emitter::define(uint32_t reg, int bytes) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return vec(place.reg, bytes);
  const Vec result = temporary(bytes);
  pending_slot_ = place.slot;
  pending_ = vec(result.id(), vector_bytes_);
  return result;
}

void X86Emitter::finish() {
  if (pending_slot_ == kNoReg) return;
  a_.emit(x86::Inst::kIdVmovups, vector_slot(pending_slot_, vector_bytes_), pending_);
  pending_slot_ = kNoReg;
}

// ---- general-purpose registers and addresses ----

x86::Gp X86Emitter::gpr(uint32_t reg, Gp scratch) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return x86::gpq(place.reg);
  a_.mov(scratch, small_slot(place.slot));
  return scratch;
}

asmjit::Operand X86Emitter::gpr_operand(uint32_t reg) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return x86::gpq(place.reg);
  return small_slot(place.slot);
}

x86::Mem X86Emitter::address(const Mem& mem) {
  constexpr std::array<uint32_t, 9> kShifts = {0, 0, 1, 0, 2, 0, 0, 0, 3};
  const uint32_t shift = kShifts[static_cast<size_t>(mem.scale)];
  const auto offset = static_cast<int32_t>(mem.offset);
  Gp base = x86::rax;
  if (offset != mem.offset) {
    a_.mov(x86::rax, mem.offset);
    a_.emit(x86::Inst::kIdAdd, x86::rax, gpr_operand(mem.base.id));
  } else {
    base = gpr(mem.base.id, x86::rax);
  }
  const int32_t rest = offset == mem.offset ? offset : 0;
  if (!mem.index.valid()) return x86::ptr(base, rest);
  if (!in_memory(mem.index.id)) {
    return x86::ptr(base, gpr(mem.index.id, x86::rdx), shift, rest);
  }
  if (base.id() != x86::rax.id()) return x86::ptr(base, gpr(mem.index.id, x86::rax), shift, rest);
  // Both came through memory: the sum frees rdx again.
  a_.lea(x86::rax, x86::ptr(base, gpr(mem.index.id, x86::rdx), shift, rest));
  return x86::ptr(x86::rax);
}

}  // namespace nrd::jit
