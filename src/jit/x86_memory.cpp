// SPDX-License-Identifier: MIT
// src/jit/x86_memory.cpp: loads and stores; strided and gathered elements go one by one.
//
// An element-wise access walks with rax and moves through rdx. A whole strided vector is put
// together in registers; one with a tail, and narrow gathers, pass through a buffer of the frame.
#include "jit/x86_emitter.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

void move_element(x86::Assembler& a, x86::Mem to, x86::Mem from, int element) {
  const auto size = static_cast<uint32_t>(element);
  to.setSize(size);
  from.setSize(size);
  switch (element) {
    case 1:
      a.movzx(x86::edx, from);
      a.mov(to, x86::dl);
      break;
    case 2:
      a.movzx(x86::edx, from);
      a.mov(to, x86::dx);
      break;
    case 4:
      a.mov(x86::edx, from);
      a.mov(to, x86::edx);
      break;
    default:
      a.mov(x86::rdx, from);
      a.mov(to, x86::rdx);
      break;
  }
}

// Element `index` of a 16-byte register; the first one clears the rest.
void insert_element(x86::Assembler& a, const x86::Xmm& to, const x86::Mem& from, int element,
                    int index) {
  switch (element) {
    case 1:
    case 2:
      if (index == 0) a.vxorps(to, to, to);
      a.emit(element == 1 ? Id::kIdVpinsrb : Id::kIdVpinsrw, to, to, from, asmjit::Imm(index));
      break;
    case 4:
      if (index == 0) {
        a.vmovss(to, from);
      } else {
        a.vinsertps(to, to, from, index << 4);
      }
      break;
    default:
      if (index == 0) {
        a.vmovsd(to, from);
      } else {
        a.vmovhps(to, to, from);
      }
      break;
  }
}

}  // namespace

void X86Emitter::load(const Inst& inst) {
  const x86::Mem from = address(inst.mem);
  const Vec to = define(inst.dst, bytes(inst.lane));
  if (inst.count != kNoReg) return load_tail(inst, to, from);
  widen(to, from, inst.dtype);
}

void X86Emitter::store(const Inst& inst) {
  const Vec a = use(inst.a, bytes(inst.lane));
  const x86::Mem to = address(inst.mem);
  if (inst.nt) {
    a_.emit(Id::kIdVmovntps, to, a);
  } else {
    store_lanes(inst, a, to, inst.count != kNoReg);
  }
}

// Leaves the code of a lane where the instruction's tail ends before it.
void X86Emitter::skip_from_count(const Inst& inst, int lane, asmjit::Label done) {
  if (inst.count == kNoReg) return;
  a_.emit(Id::kIdCmp, gpr_operand(inst.count), asmjit::Imm(lane));
  a_.jle(done);
}

void X86Emitter::load_strided(const Inst& inst) {
  const int element = static_cast<int>(byte_size(inst.dtype));
  const Vec to = define(inst.dst, bytes(inst.lane));
  a_.lea(x86::rax, address(inst.mem));
  if (inst.count == kNoReg) {
    insert_elements(to, inst);
    const int raw_bytes = lanes() * element;
    if (element < 4) widen(to, vec(to.id(), raw_bytes), inst.dtype);
    return;
  }
  a_.vxorps(to.xmm(), to.xmm(), to.xmm());
  a_.emit(Id::kIdVmovups, buffer(0), vec(to.id(), vector_bytes_));
  const asmjit::Label done = a_.newLabel();
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    move_element(a_, buffer(0).cloneAdjusted(lane * element), x86::ptr(x86::rax), element);
    a_.emit(Id::kIdAdd, x86::rax, gpr_operand(inst.b));
  }
  a_.bind(done);
  widen(to, buffer(0), inst.dtype);
}

// The raw elements at rax, rax + stride, ... side by side.
void X86Emitter::insert_elements(Vec to, const Inst& inst) {
  const int element = static_cast<int>(byte_size(inst.dtype));
  const int in_quarter = 16 / element;
  const Gp stride = gpr(inst.b, x86::rdx);
  const Vec quarter = temporary(16);
  for (int lane = 0; lane < lanes(); lane++) {
    const int index = lane % in_quarter;
    const bool is_odd = lane % 2 != 0;
    const x86::Mem from = is_odd ? x86::ptr(x86::rax, stride) : x86::ptr(x86::rax);
    insert_element(a_, lane < in_quarter ? to.xmm() : quarter.xmm(), from, element, index);
    if (is_odd && lane + 1 < lanes()) a_.lea(x86::rax, x86::ptr(x86::rax, stride, 1));
    if (lane >= in_quarter && index + 1 == in_quarter) {
      insert_quarter(vec(to.id(), lanes() * element), quarter.xmm(), lane / in_quarter);
    }
  }
}

void X86Emitter::store_strided(const Inst& inst) {
  const int element = static_cast<int>(byte_size(inst.dtype));
  store_lanes(inst, use(inst.a, bytes(inst.lane)), buffer(0), false);
  a_.lea(x86::rax, address(inst.mem));
  const asmjit::Label done = a_.newLabel();
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    move_element(a_, x86::ptr(x86::rax), buffer(0).cloneAdjusted(lane * element), element);
    if (lane + 1 < lanes()) a_.emit(Id::kIdAdd, x86::rax, gpr_operand(inst.b));
  }
  a_.bind(done);
}

void X86Emitter::gather(const Inst& inst) {
  const int element = static_cast<int>(byte_size(inst.dtype));
  a_.lea(x86::rax, address(inst.mem));
  if (element >= 4) return gather_wide(inst);
  const Vec indices = use(inst.a, bytes(Lane::kI32));
  a_.emit(Id::kIdVmovups, buffer(1), indices);
  const Vec to = define(inst.dst, bytes(inst.lane));
  a_.vxorps(to.xmm(), to.xmm(), to.xmm());
  a_.emit(Id::kIdVmovups, buffer(0), vec(to.id(), vector_bytes_));
  const asmjit::Label done = a_.newLabel();
  for (int lane = 0; lane < lanes(); lane++) {
    skip_from_count(inst, lane, done);
    x86::Mem index = buffer(1).cloneAdjusted(lane * 4);
    index.setSize(4);
    a_.movsxd(x86::rdx, index);
    const uint32_t shift = element == 2 ? 1 : 0;
    move_element(a_, buffer(0).cloneAdjusted(lane * element), x86::ptr(x86::rax, x86::rdx, shift),
                 element);
  }
  a_.bind(done);
  widen(to, buffer(0), inst.dtype);
}

}  // namespace nrd::jit
