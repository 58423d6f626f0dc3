// SPDX-License-Identifier: MIT
// src/jit/a64_scalar.cpp: general-purpose registers and branches.
#include <bit>

#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

using CondCode = asmjit::arm::CondCode;

CondCode condition(Predicate predicate) {
  switch (predicate) {
    case Predicate::kEq: return CondCode::kEQ;
    case Predicate::kNe: return CondCode::kNE;
    case Predicate::kLt: return CondCode::kLT;
    case Predicate::kLe: return CondCode::kLE;
    case Predicate::kGt: return CondCode::kGT;
    default: return CondCode::kGE;
  }
}

bool is_equality(Predicate predicate) {
  return predicate == Predicate::kEq || predicate == Predicate::kNe;
}

}  // namespace

// An immediate comes in x17.
a64::Gp A64Emitter::second_gpr(const Inst& inst) {
  if (!inst.use_imm) return gpr(inst.b, a64::x17);
  a_.mov(a64::x17, inst.imm);
  return a64::x17;
}

// Every result is made in its register, or in x16 on its way to a slot.
void A64Emitter::emit_scalar(const Inst& inst) {
  const bool has_slot = inst.dst != kNoReg && in_memory(inst.dst);
  const Gp to = inst.dst == kNoReg || has_slot ? Gp(a64::x16) : Gp(a64::x(where(inst.dst).reg));
  switch (inst.op) {
    case Op::kGArgument: {
      const Gp from = a64::x(kA64Gprs[inst.imm]);
      if (to.id() != from.id()) a_.mov(to, from);
      break;
    }
    case Op::kGConst: a_.mov(to, inst.imm); break;
    case Op::kGMove: {
      const Gp a = gpr(inst.a, to);
      if (a.id() != to.id()) a_.mov(to, a);
      break;
    }
    case Op::kGLoad: {
      const a64::Mem from = address(inst.mem, static_cast<int>(inst.imm));
      inst.imm == 4 ? a_.ldrsw(to, from) : a_.ldr(to, from);
      break;
    }
    case Op::kGStore: {
      const Gp value = gpr(inst.a, a64::x15);
      const a64::Mem at = address(inst.mem, static_cast<int>(inst.imm));
      a_.str(inst.imm == 4 ? Gp(value.w()) : value, at);
      break;
    }
    case Op::kGAddress: {
      const Gp at = address_register(inst.mem);
      if (at.id() != to.id()) a_.mov(to, at);
      break;
    }
    case Op::kGLane: a_.smov(to, use(inst.a, Lane::kI32).s(0)); break;
    case Op::kGData:
      a_.adr(to, pool_label_);
      add_immediate(to, to, pool_.add_data(program_.data[static_cast<size_t>(inst.imm)]));
      break;
    case Op::kGShl:
    case Op::kGSar: gpr_shift(inst, to); break;
    case Op::kPrefetch: {
      // prfm pldl1keep (pldl2keep), [register], which the assembler does not know.
      const Gp at = address_register(inst.mem);
      a_.embedUInt32(0xf9800000u | at.id() << 5 | static_cast<uint32_t>(inst.imm) << 1);
      break;
    }
    case Op::kFence: break;  // its stores are plain ones
    default: gpr_binary(inst, to); break;
  }
  if (has_slot) a_.str(to, small_slot(where(inst.dst).slot));
}

void A64Emitter::gpr_shift(const Inst& inst, Gp to) {
  const Gp a = gpr(inst.a, a64::x16);
  inst.op == Op::kGShl ? a_.lsl(to, a, inst.imm) : a_.asr(to, a, inst.imm);
}

void A64Emitter::gpr_binary(const Inst& inst, Gp to) {
  const Gp a = gpr(inst.a, a64::x16);
  if (inst.use_imm) {
    const auto imm = static_cast<uint64_t>(inst.imm);
    if (inst.op == Op::kGAdd) return add_immediate(to, a, imm);
    if (inst.op == Op::kGSub) return add_immediate(to, a, 0 - imm);
    if (inst.op == Op::kGAnd && a64::Utils::isLogicalImm(imm, 64)) {
      a_.and_(to, a, inst.imm);
      return;
    }
    if (inst.op == Op::kGDiv && std::has_single_bit(imm)) {
      a_.lsr(to, a, std::countr_zero(imm));
      return;
    }
  }
  const Gp b = second_gpr(inst);
  switch (inst.op) {
    case Op::kGAdd: a_.add(to, a, b); return;
    case Op::kGSub: a_.sub(to, a, b); return;
    case Op::kGMul: a_.mul(to, a, b); return;
    case Op::kGAnd: a_.and_(to, a, b); return;
    case Op::kGDiv: a_.udiv(to, a, b); return;
    case Op::kGMin:
    case Op::kGMax:
      a_.cmp(a, b);
      a_.csel(to, a, b, inst.op == Op::kGMin ? CondCode::kLT : CondCode::kGT);
      return;
    default: return fail("an operation that this back end does not know");
  }
}

void A64Emitter::compare_gprs(const Inst& inst) {
  const Gp a = gpr(inst.a, a64::x16);
  if (inst.use_imm && inst.imm >= 0 && inst.imm < 4096) {
    a_.cmp(a, inst.imm);
  } else {
    a_.cmp(a, second_gpr(inst));
  }
}

// A branch over a jump becomes the opposite branch: `if any go to slow; go to done; slow:`.
bool A64Emitter::branch(size_t index) {
  const Inst& inst = program_.code[index];
  const bool is_inverted =
      index + 2 < program_.code.size() && program_.code[index + 1].op == Op::kJump &&
      program_.code[index + 2].op == Op::kLabel && program_.code[index + 2].label == inst.label;
  const asmjit::Label to = labels_[is_inverted ? program_.code[index + 1].label : inst.label];
  if (inst.op == Op::kBranchAny) {
    branch_any(inst, to, is_inverted);
  } else if (inst.use_imm && inst.imm == 0 && is_equality(inst.predicate)) {
    const Gp a = gpr(inst.a, a64::x16);
    (inst.predicate == Predicate::kEq) != is_inverted ? a_.cbz(a, to) : a_.cbnz(a, to);
  } else {
    compare_gprs(inst);
    const CondCode code = condition(inst.predicate);
    a_.b(is_inverted ? asmjit::arm::negateCond(code) : code, to);
  }
  return is_inverted;
}

}  // namespace nrd::jit
