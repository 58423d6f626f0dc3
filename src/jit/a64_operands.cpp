// SPDX-License-Identifier: MIT
// src/jit/a64_operands.cpp: from virtual registers and addresses to machine operands.
#include <array>
#include <bit>

#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

bool is_add_immediate(uint64_t value) {
  return (value & ~uint64_t{0xfff}) == 0 || (value & ~uint64_t{0xfff000}) == 0;
}

bool is_one_byte(uint32_t bits) {
  return bits == 0 || bits >> (std::countr_zero(bits) / 8 * 8) < 0x100;
}

// The eight bits of a float where fmov has them. The assembler's own fmov of this release changes
// the register's number along with a negative sign.
uint32_t short_float(double value) {
  const uint32_t code = a64::Utils::encodeFP64ToImm8(value);
  return code >> 5 << 16 | (code & 31) << 5;
}

// What one load or store of `size` bytes can add to its base.
bool is_offset(int64_t offset, int size) {
  if (offset >= -256 && offset < 256) return true;
  return offset >= 0 && offset % size == 0 && offset / size < 4096;
}

}  // namespace

// ---- vectors ----

a64::Vec A64Emitter::arrange(Vec v, Lane lane) const {
  if (lane == Lane::kF64) return v.d2();
  return lanes() == 4 ? Vec(v.s4()) : Vec(v.s2());
}

a64::Vec A64Emitter::temporary(Lane lane) {
  const Temporaries& own = allocation_.of_instruction[at_];
  if (next_vector_ >= own.vectors) {
    fail("an instruction asks for more temporary vectors than its needs say");
    return arrange(a64::v0, lane);
  }
  const size_t index = own.begin + static_cast<size_t>(next_vector_++);
  return arrange(a64::v(allocation_.temporaries[index]), lane);
}

a64::Vec A64Emitter::use(uint32_t reg, Lane lane) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return arrange(a64::v(place.reg), lane);
  const Vec loaded = temporary(lane);
  load_place(loaded, reg);
  return loaded;
}

a64::Vec A64Emitter::define(uint32_t reg, Lane lane) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return arrange(a64::v(place.reg), lane);
  const Vec result = temporary(lane);
  pending_slot_ = place.slot;
  pending_ = result;
  return result;
}

void A64Emitter::finish() {
  if (pending_slot_ == kNoReg) return;
  a_.str(pending_.q(), vector_slot(pending_slot_));
  pending_slot_ = kNoReg;
}

void A64Emitter::move(Vec to, Vec from) {
  if (to.id() != from.id()) a_.mov(to.b16(), from.b16());
}

// ---- constants and slots ----

void A64Emitter::load_place(Vec to, uint32_t reg) {
  const Location& place = where(reg);
  if (place.kind == Location::kSlot) {
    a_.ldr(to.q(), vector_slot(place.slot));
    return;
  }
  set_constant(to, *constants_[reg]);
}

void A64Emitter::set_constant(Vec to, const Inst& inst) {
  if (inst.lane == Lane::kF64) {
    set_splat64(to, static_cast<uint64_t>(inst.imm));
  } else {
    set_splat32(to, static_cast<uint32_t>(inst.imm));
  }
}

// One byte of a word in its place, its complement or a short float is an immediate; the rest comes
// from the pool.
void A64Emitter::set_splat32(Vec to, uint32_t bits) {
  if (is_one_byte(bits)) {
    a_.movi(to.s4(), bits);
  } else if (is_one_byte(~bits)) {
    a_.mvni(to.s4(), ~bits);
  } else if (a64::Utils::isFP32Imm8(bits)) {
    a_.embedUInt32(0x4f00f400 | short_float(std::bit_cast<float>(bits)) | to.id());
  } else {
    load_pool(to, pool_.add_splat(bits, 4, 16));
  }
}

void A64Emitter::set_splat64(Vec to, uint64_t bits) {
  if (bits == 0) {
    a_.movi(to.s4(), 0);
  } else if (a64::Utils::isFP64Imm8(bits)) {
    a_.embedUInt32(0x6f00f400 | short_float(std::bit_cast<double>(bits)) | to.id());
  } else {
    load_pool(to, pool_.add_splat(bits, 8, 16));
  }
}

void A64Emitter::load_pool(Vec to, uint32_t offset) {
  a_.ldr(to.q(), a64::ptr(pool_label_, static_cast<int32_t>(offset)));
}

void A64Emitter::load_iota(Vec to) {
  constexpr std::array<uint32_t, 4> kWords = {0, 1, 2, 3};
  load_pool(to, pool_.add_words(kWords));
}

a64::Mem A64Emitter::vector_slot(uint32_t slot) const {
  return a64::ptr(a64::sp, frame_.vectors + static_cast<int32_t>(slot) * 16);
}

a64::Mem A64Emitter::small_slot(uint32_t slot) const {
  return a64::ptr(a64::sp, frame_.small + static_cast<int32_t>(slot) * 8);
}

a64::Mem A64Emitter::buffer(int index) const {
  return a64::ptr(a64::sp, frame_.buffers + index * 16);
}

// ---- general-purpose registers and addresses ----

a64::Gp A64Emitter::gpr(uint32_t reg, Gp scratch) {
  const Location& place = where(reg);
  if (place.kind == Location::kRegister) return a64::x(place.reg);
  a_.ldr(scratch, small_slot(place.slot));
  return scratch;
}

void A64Emitter::add_immediate(Gp to, Gp from, uint64_t value) {
  if (value == 0) {
    if (to.id() != from.id()) a_.mov(to, from);
  } else if (is_add_immediate(value)) {
    a_.add(to, from, value);
  } else if (is_add_immediate(0 - value)) {
    a_.sub(to, from, 0 - value);
  } else {
    a_.mov(a64::x17, value);
    a_.add(to, from, a64::x17);
  }
}

a64::Mem A64Emitter::address(const Mem& mem, int size) {
  Gp base = gpr(mem.base.id, a64::x16);
  if (mem.index.valid()) {
    const Gp index = gpr(mem.index.id, a64::x17);
    const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<unsigned>(mem.scale)));
    if (mem.offset == 0 && (mem.scale == 1 || mem.scale == size)) {
      return a64::ptr(base, index, asmjit::arm::lsl(shift));
    }
    a_.add(a64::x16, base, index, asmjit::arm::lsl(shift));
    base = a64::x16;
  }
  if (is_offset(mem.offset, size)) return a64::ptr(base, static_cast<int32_t>(mem.offset));
  add_immediate(a64::x16, base, static_cast<uint64_t>(mem.offset));
  return a64::ptr(a64::x16);
}

a64::Gp A64Emitter::address_register(const Mem& mem) {
  if (!mem.index.valid() && mem.offset == 0) return gpr(mem.base.id, a64::x16);
  walk_from(mem);
  return a64::x16;
}

void A64Emitter::walk_from(const Mem& mem) {
  const Gp base = gpr(mem.base.id, a64::x16);
  if (!mem.index.valid()) return add_immediate(a64::x16, base, static_cast<uint64_t>(mem.offset));
  const Gp index = gpr(mem.index.id, a64::x17);
  const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<unsigned>(mem.scale)));
  a_.add(a64::x16, base, index, asmjit::arm::lsl(shift));
  add_immediate(a64::x16, a64::x16, static_cast<uint64_t>(mem.offset));
}

}  // namespace nrd::jit
