// SPDX-License-Identifier: MIT
// src/jit/a64_memory.cpp: loads and stores; strided and gathered elements go one by one.
//
// A tail goes by pieces of two and one elements. Elements that are narrower than a lane are
// loaded side by side at the bottom of the register and widened there.
#include <bit>

#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

// The register as one number of so many bytes; loading it clears the rest.
a64::Vec whole(const a64::Vec& v, int bytes) {
  switch (bytes) {
    case 1: return v.b();
    case 2: return v.h();
    case 4: return v.s();
    case 8: return v.d();
    default: return v.q();
  }
}

a64::Vec element_of(const a64::Vec& v, int bytes, int index) {
  const auto at = static_cast<uint32_t>(index);
  switch (bytes) {
    case 1: return v.b(at);
    case 2: return v.h(at);
    case 4: return v.s(at);
    default: return v.d(at);
  }
}

a64::Vec splat_of(const a64::Vec& v, int bytes) {
  switch (bytes) {
    case 1: return v.b8();
    case 2: return v.h4();
    case 4: return v.s4();
    default: return v.d2();
  }
}

int element_bytes(const Inst& inst) { return static_cast<int>(byte_size(inst.dtype)); }

}  // namespace

void A64Emitter::load(const Inst& inst) {
  const int element = element_bytes(inst), size = lanes() * element;
  const Vec to = define(inst.dst, inst.lane);
  if (inst.count == kNoReg) {
    a_.ldr(whole(to, size), address(inst.mem, size));
  } else {
    walk_from(inst.mem);
    load_pieces(inst, to, element);
  }
  widen(to, inst.dtype);
}

// Plain stores serve as non-temporal ones: the machine has those for pairs of registers only, and
// they ask for no fence.
void A64Emitter::store(const Inst& inst) {
  const int element = element_bytes(inst), size = lanes() * element;
  const Vec raw = narrow(use(inst.a, inst.lane), inst.dtype);
  if (inst.count == kNoReg) {
    a_.str(whole(raw, size), address(inst.mem, size));
  } else {
    walk_from(inst.mem);
    store_pieces(inst, raw, element);
  }
}

void A64Emitter::broadcast(const Inst& inst) {
  const Gp from = address_register(inst.mem);
  const Vec to = define(inst.dst, inst.lane);
  a_.ld1r(splat_of(to, element_bytes(inst)), a64::ptr(from));
  widen(to, inst.dtype);
}

// ---- tails ----

// From x16. A count has one bit set above, or is put together of two and one.
void A64Emitter::load_pieces(const Inst& inst, Vec to, int element) {
  const asmjit::Label partial = a_.newLabel(), single = a_.newLabel(), done = a_.newLabel();
  const Gp count = gpr(inst.count, a64::x17);
  a_.tbz(count, lanes() == 4 ? 2 : 1, partial);
  a_.ldr(whole(to, lanes() * element), a64::ptr(a64::x16));
  a_.b(done);
  a_.bind(partial);
  if (lanes() == 4) {
    a_.tbz(count, 1, single);
    a_.ldr(whole(to, 2 * element), a64::ptr_post(a64::x16, 2 * element));
    a_.tbz(count, 0, done);
    a_.ld1(element_of(to, element, 2), a64::ptr(a64::x16));
    a_.b(done);
    a_.bind(single);
  }
  a_.movi(to.s4(), 0);
  a_.tbz(count, 0, done);
  a_.ldr(whole(to, element), a64::ptr(a64::x16));
  a_.bind(done);
}

void A64Emitter::store_pieces(const Inst& inst, Vec raw, int element) {
  const asmjit::Label partial = a_.newLabel(), single = a_.newLabel(), done = a_.newLabel();
  const Gp count = gpr(inst.count, a64::x17);
  a_.tbz(count, lanes() == 4 ? 2 : 1, partial);
  a_.str(whole(raw, lanes() * element), a64::ptr(a64::x16));
  a_.b(done);
  a_.bind(partial);
  if (lanes() == 4) {
    a_.tbz(count, 1, single);
    a_.str(whole(raw, 2 * element), a64::ptr_post(a64::x16, 2 * element));
    a_.tbz(count, 0, done);
    a_.st1(element_of(raw, element, 2), a64::ptr(a64::x16));
    a_.b(done);
    a_.bind(single);
  }
  a_.tbz(count, 0, done);
  a_.str(whole(raw, element), a64::ptr(a64::x16));
  a_.bind(done);
}

// ---- element by element ----

// Leaves the code of a lane where the instruction's tail ends before it.
void A64Emitter::skip_from_count(const Inst& inst, int lane, asmjit::Label done) {
  if (inst.count == kNoReg) return;
  a_.cmp(gpr(inst.count, a64::x15), lane);
  a_.b_le(done);
}

void A64Emitter::load_strided(const Inst& inst) {
  const Vec to = define(inst.dst, inst.lane);
  walk_from(inst.mem);
  const Gp stride = gpr(inst.b, a64::x17);
  const asmjit::Label done = a_.newLabel();
  a_.movi(to.s4(), 0);
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    a_.ld1(element_of(to, element_bytes(inst), lane), a64::ptr_post(a64::x16, stride));
  }
  a_.bind(done);
  widen(to, inst.dtype);
}

void A64Emitter::store_strided(const Inst& inst) {
  const Vec raw = narrow(use(inst.a, inst.lane), inst.dtype);
  walk_from(inst.mem);
  const Gp stride = gpr(inst.b, a64::x17);
  const asmjit::Label done = a_.newLabel();
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    a_.st1(element_of(raw, element_bytes(inst), lane), a64::ptr_post(a64::x16, stride));
  }
  a_.bind(done);
}

void A64Emitter::gather(const Inst& inst) {
  const int element = element_bytes(inst);
  const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<unsigned>(element)));
  const Vec index = use(inst.a, Lane::kI32), to = define(inst.dst, inst.lane);
  const Vec work = to.id() == index.id() ? temporary(inst.lane) : to;
  const Gp base = address_register(inst.mem);
  const asmjit::Label done = a_.newLabel();
  a_.movi(work.s4(), 0);
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    a_.smov(a64::x17, index.s(static_cast<uint32_t>(lane)));
    a_.add(a64::x17, base, a64::x17, asmjit::arm::lsl(shift));
    a_.ld1(element_of(work, element, lane), a64::ptr(a64::x17));
  }
  a_.bind(done);
  widen(work, inst.dtype);
  move(to, work);
}

}  // namespace nrd::jit
