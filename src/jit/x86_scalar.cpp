// SPDX-License-Identifier: MIT
// src/jit/x86_scalar.cpp: general-purpose registers, branches, fences.
#include <bit>

#include "jit/x86_emitter.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

bool fits_i32(int64_t value) { return value == static_cast<int32_t>(value); }

InstId gpr_form(Op op) {
  switch (op) {
    case Op::kGAdd: return Id::kIdAdd;
    case Op::kGSub: return Id::kIdSub;
    case Op::kGMul: return Id::kIdImul;
    case Op::kGAnd: return Id::kIdAnd;
    case Op::kGShl: return Id::kIdShl;
    default: return Id::kIdSar;
  }
}

x86::CondCode condition(Predicate predicate) {
  switch (predicate) {
    case Predicate::kEq: return x86::CondCode::kEqual;
    case Predicate::kNe: return x86::CondCode::kNotEqual;
    case Predicate::kLt: return x86::CondCode::kSignedLT;
    case Predicate::kLe: return x86::CondCode::kSignedLE;
    case Predicate::kGt: return x86::CondCode::kSignedGT;
    default: return x86::CondCode::kSignedGE;
  }
}

}  // namespace

// Register, slot or immediate; an immediate too wide for an instruction comes in rdx.
asmjit::Operand X86Emitter::second_operand(const Inst& inst) {
  if (!inst.use_imm) return gpr_operand(inst.b);
  if (fits_i32(inst.imm)) return asmjit::Imm(inst.imm);
  a_.mov(x86::rdx, inst.imm);
  return x86::rdx;
}

// Every result is made in its register, or in rax on its way to a slot.
void X86Emitter::emit_scalar(const Inst& inst) {
  const bool has_slot = inst.dst != kNoReg && in_memory(inst.dst);
  const Gp to = inst.dst == kNoReg || has_slot ? Gp(x86::rax) : Gp(x86::gpq(where(inst.dst).reg));
  switch (inst.op) {
    case Op::kGArgument: {
      const Gp from = x86::gpq(kX86Gprs[inst.imm]);
      if (to.id() != from.id()) a_.mov(to, from);
      break;
    }
    case Op::kGConst:
      if (inst.imm == 0) {
        a_.xor_(to.r32(), to.r32());
      } else {
        a_.mov(to, inst.imm);
      }
      break;
    case Op::kGMove: a_.emit(Id::kIdMov, to, gpr_operand(inst.a)); break;
    case Op::kGLoad: {
      x86::Mem from = address(inst.mem);
      from.setSize(static_cast<uint32_t>(inst.imm));
      a_.emit(inst.imm == 4 ? Id::kIdMovsxd : Id::kIdMov, to, from);
      break;
    }
    case Op::kGStore: {
      x86::Mem at = address(inst.mem);
      at.setSize(static_cast<uint32_t>(inst.imm));
      const Gp value = gpr(inst.a, x86::rdx);
      a_.mov(at, inst.imm == 4 ? Gp(value.r32()) : value);
      break;
    }
    case Op::kGAddress: a_.lea(to, address(inst.mem)); break;
    case Op::kGLane:
      a_.vmovd(to.r32(), use(inst.a, bytes(Lane::kI32)).xmm());
      a_.movsxd(to, to.r32());
      break;
    case Op::kGData: {
      const uint32_t at = pool_.add_data(program_.data[static_cast<size_t>(inst.imm)]);
      a_.lea(to, x86::ptr(pool_label_, static_cast<int32_t>(at)));
      break;
    }
    case Op::kGMin:
    case Op::kGMax: gpr_min_max(inst, to); break;
    case Op::kGDiv: gpr_divide(inst, to); break;
    case Op::kPrefetch:
      a_.emit(inst.imm == 0 ? Id::kIdPrefetcht0 : Id::kIdPrefetcht1, address(inst.mem));
      break;
    case Op::kNop:
      for (int64_t i = 0; i < inst.imm; i++) a_.nop();
      break;
    case Op::kFence: a_.sfence(); break;
    case Op::kTileConfig:
    case Op::kTileRelease:
    case Op::kTileZero:
    case Op::kTileLoad:
    case Op::kTileLoadPast:
    case Op::kTileStore:
    case Op::kTileDot: return tile(inst);
    default: gpr_binary(inst, to); break;
  }
  if (has_slot) a_.mov(small_slot(where(inst.dst).slot), to);
}

void X86Emitter::gpr_binary(const Inst& inst, Gp to) {
  const InstId id = gpr_form(inst.op);
  if (inst.op == Op::kGShl || inst.op == Op::kGSar) {
    const Gp a = gpr(inst.a, to);
    if (a.id() != to.id()) a_.mov(to, a);
    a_.emit(id, to, asmjit::Imm(inst.imm));
    return;
  }
  const asmjit::Operand second = second_operand(inst);
  const Gp a = gpr(inst.a, x86::rax);
  if (inst.op == Op::kGAdd && second.isImm() && a.id() != to.id()) {
    a_.lea(to, x86::ptr(a, static_cast<int32_t>(inst.imm)));
    return;
  }
  if (inst.op == Op::kGMul && second.isImm()) {
    a_.emit(id, to, a, second);
    return;
  }
  // The result may sit where the second operand does.
  const bool is_second = second.isReg() && second.id() == to.id();
  const Gp work = is_second && a.id() != to.id() ? Gp(x86::rax) : to;
  if (a.id() != work.id()) a_.mov(work, a);
  a_.emit(id, work, second);
  if (work.id() != to.id()) a_.mov(to, work);
}

void X86Emitter::gpr_min_max(const Inst& inst, Gp to) {
  asmjit::Operand second = second_operand(inst);
  if (second.isImm()) {
    a_.mov(x86::rdx, inst.imm);
    second = x86::rdx;
  }
  a_.emit(Id::kIdMov, x86::rax, gpr_operand(inst.a));
  a_.emit(Id::kIdCmp, x86::rax, second);
  a_.emit(inst.op == Op::kGMin ? Id::kIdCmovg : Id::kIdCmovl, x86::rax, second);
  if (to.id() != x86::rax.id()) a_.mov(to, x86::rax);
}

void X86Emitter::gpr_divide(const Inst& inst, Gp to) {
  if (inst.use_imm && std::has_single_bit(static_cast<uint64_t>(inst.imm))) {
    const Gp a = gpr(inst.a, to);
    if (a.id() != to.id()) a_.mov(to, a);
    a_.shr(to, std::countr_zero(static_cast<uint64_t>(inst.imm)));
    return;
  }
  a_.emit(Id::kIdMov, x86::rax, gpr_operand(inst.a));
  if (!inst.use_imm) {
    a_.xor_(x86::edx, x86::edx);
    a_.emit(Id::kIdDiv, gpr_operand(inst.b));
  } else if (to.id() != x86::rax.id()) {  // the result's place holds the divisor meanwhile
    a_.mov(to, inst.imm);
    a_.xor_(x86::edx, x86::edx);
    a_.div(to);
  } else {
    const x86::Mem slot = small_slot(where(inst.dst).slot);
    a_.mov(x86::rdx, inst.imm);
    a_.mov(slot, x86::rdx);
    a_.xor_(x86::edx, x86::edx);
    a_.div(slot);
  }
  if (to.id() != x86::rax.id()) a_.mov(to, x86::rax);
}

// A branch over a jump becomes the opposite branch: `if any go to slow; go to done; slow:`.
bool X86Emitter::branch(size_t index) {
  const Inst& inst = program_.code[index];
  const bool is_inverted =
      index + 2 < program_.code.size() && program_.code[index + 1].op == Op::kJump &&
      program_.code[index + 2].op == Op::kLabel && program_.code[index + 2].label == inst.label;
  const asmjit::Label to = labels_[is_inverted ? program_.code[index + 1].label : inst.label];
  if (inst.op == Op::kBranchAny) {
    branch_any(inst, to, is_inverted);
    return is_inverted;
  }
  const asmjit::Operand second = second_operand(inst);
  const bool is_zero = inst.use_imm && inst.imm == 0;
  if (is_zero && !in_memory(inst.a)) {
    const Gp a = gpr(inst.a, x86::rax);
    a_.test(a, a);
  } else if (second.isMem()) {
    a_.emit(Id::kIdCmp, gpr(inst.a, x86::rax), second);
  } else {
    a_.emit(Id::kIdCmp, gpr_operand(inst.a), second);
  }
  const x86::CondCode code = condition(inst.predicate);
  a_.j(is_inverted ? x86::negateCond(code) : code, to);
  return is_inverted;
}

}  // namespace nrd::jit
