// SPDX-License-Identifier: MIT
// src/jit/x86_emitter.cpp: vector arithmetic of AVX2 and AVX-512; the two differ in operands only.
#include "jit/x86_emitter.h"

#include <utility>

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

X86Forms forms(Op op) {
  switch (op) {
    case Op::kAdd: return {Id::kIdVaddps, Id::kIdVaddpd, Id::kIdVpaddd, true};
    case Op::kSub: return {Id::kIdVsubps, Id::kIdVsubpd, Id::kIdVpsubd};
    case Op::kMul: return {Id::kIdVmulps, Id::kIdVmulpd, Id::kIdVpmulld, true};
    case Op::kDiv: return {Id::kIdVdivps, Id::kIdVdivpd};
    case Op::kMax: return {Id::kIdVmaxps, Id::kIdVmaxpd, Id::kIdVpmaxsd};
    case Op::kMin: return {Id::kIdVminps, Id::kIdVminpd, Id::kIdVpminsd};
    case Op::kAnd: return {Id::kIdVandps, Id::kIdVandpd, Id::kIdVandps, true};
    case Op::kOr: return {Id::kIdVorps, Id::kIdVorpd, Id::kIdVorps, true};
    case Op::kXor: return {Id::kIdVxorps, Id::kIdVxorpd, Id::kIdVxorps, true};
    case Op::kAndNot: return {Id::kIdVandnps, Id::kIdVandnpd, Id::kIdVandnps};
    case Op::kShlV: return {0, 0, Id::kIdVpsllvd};
    case Op::kShrV: return {0, 0, Id::kIdVpsrlvd};
    case Op::kSarV: return {0, 0, Id::kIdVpsravd};
    case Op::kSqrt: return {Id::kIdVsqrtps, Id::kIdVsqrtpd};
    default: return {};
  }
}

InstId form(const X86Forms& forms, Lane lane) {
  switch (lane) {
    case Lane::kF32: return forms.f32;
    case Lane::kF64: return forms.f64;
    case Lane::kI32: return forms.i32;
  }
  return 0;
}

// The three orders of a multiply-add: 132 is to*third + second, 213 second*to + third, 231
// second*third + to.
struct MultiplyAdd {
  InstId f132, f213, f231;
};

MultiplyAdd multiply_add_forms(Op op, Lane lane) {
  const bool is_f64 = lane == Lane::kF64;
  switch (op) {
    case Op::kFma:
      if (is_f64) return {Id::kIdVfmadd132pd, Id::kIdVfmadd213pd, Id::kIdVfmadd231pd};
      return {Id::kIdVfmadd132ps, Id::kIdVfmadd213ps, Id::kIdVfmadd231ps};
    case Op::kFnma:
      if (is_f64) return {Id::kIdVfnmadd132pd, Id::kIdVfnmadd213pd, Id::kIdVfnmadd231pd};
      return {Id::kIdVfnmadd132ps, Id::kIdVfnmadd213ps, Id::kIdVfnmadd231ps};
    default:
      if (is_f64) return {Id::kIdVfmsub132pd, Id::kIdVfmsub213pd, Id::kIdVfmsub231pd};
      return {Id::kIdVfmsub132ps, Id::kIdVfmsub213ps, Id::kIdVfmsub231ps};
  }
}

// Rounding modes of vroundps and vrndscaleps, without the inexact exception. Rint follows MXCSR,
// as rintf does.
int rounding_mode(Op op) {
  switch (op) {
    case Op::kFloor: return 9;
    case Op::kCeil: return 10;
    case Op::kTrunc: return 11;
    default: return 12;
  }
}

}  // namespace

Needs x86_needs(const Inst& inst) {
  Needs needs;
  switch (inst.op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor: needs.memory = kOperandA | kOperandB; break;
    case Op::kSub:
    case Op::kDiv:
    case Op::kMax:
    case Op::kMin:
    case Op::kAndNot:
    case Op::kShlV:
    case Op::kShrV:
    case Op::kSarV: needs.memory = kOperandB; break;
    case Op::kFma:
    case Op::kFnma:
    case Op::kFms: needs.memory = kOperandA | kOperandB | kOperandC; break;
    case Op::kMove:
    case Op::kSqrt:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc:
    case Op::kRint:
    case Op::kSelect: needs.memory = kOperandA; break;
    case Op::kLoad:
    case Op::kBroadcast: needs.vectors = inst.dtype == DType::kF8E4M3; break;
    case Op::kLoadStrided: needs.vectors = 2; break;
    case Op::kDotI16: needs.vectors = 1; break;
    default: break;
  }
  return needs;
}

void X86Emitter::unary(const Inst& inst, InstId id, Lane to, Lane from) {
  const Vec source = use(inst.a, bytes(from));
  a_.emit(id, define(inst.dst, bytes(to)), source);
}

void X86Emitter::binary(const Inst& inst, const X86Forms& forms) {
  const InstId id = form(forms, inst.lane);
  if (id == 0) return fail("an operation of a lane type that has none");
  uint32_t first = inst.a, second = inst.b;
  if (forms.is_commutative && in_memory(first) && !in_memory(second)) std::swap(first, second);
  const int width = bytes(inst.lane);
  const Vec a = use(first, width);
  a_.emit(id, define(inst.dst, width), a, operand(second, width));
}

void X86Emitter::shift(const Inst& inst) {
  const InstId id = inst.op == Op::kShl   ? Id::kIdVpslld
                    : inst.op == Op::kShr ? Id::kIdVpsrld
                                          : Id::kIdVpsrad;
  const Vec a = use(inst.a, bytes(Lane::kI32));
  a_.emit(id, define(inst.dst, bytes(Lane::kI32)), a, asmjit::Imm(inst.imm));
}

// One of a, b, c may stay in memory. The result takes over a register of an operand where the
// allocator could arrange it.
void X86Emitter::multiply_add(const Inst& inst) {
  const MultiplyAdd ids = multiply_add_forms(inst.op, inst.lane);
  const int width = bytes(inst.lane);
  bool memory_left = true;
  const auto resolve = [&](uint32_t reg) -> asmjit::Operand {
    if (!in_memory(reg)) return vec(where(reg).reg, width);
    if (!std::exchange(memory_left, false)) return use(reg, width);
    return operand(reg, width);
  };
  asmjit::Operand c = resolve(inst.c);
  asmjit::Operand a = resolve(inst.a);
  asmjit::Operand b = resolve(inst.b);
  const Vec to = define(inst.dst, width);
  const auto is_result = [&](const asmjit::Operand& o) { return o.isReg() && o.id() == to.id(); };
  if (a.isMem() || is_result(b)) std::swap(a, b);  // now a is a register
  if (is_result(c) || !is_result(a)) {
    if (c.isMem()) {
      load_place(to, inst.c);
    } else {
      move(to, c.as<Vec>());
    }
    a_.emit(ids.f231, to, a, b);
  } else if (b.isMem()) {
    a_.emit(ids.f132, to, c, b);
  } else {
    a_.emit(ids.f213, to, b, c);
  }
}

// The result is c's own register.
void X86Emitter::add_products(const Inst& inst) {
  const int width = bytes(Lane::kI32);
  const Vec a = use(inst.a, width), b = use(inst.b, width), sum = use(inst.c, width);
  const Vec to = define(inst.dst, width);
  switch (inst.op) {
    case Op::kDotI16: {
      const Vec products = temporary(width);
      a_.vpmaddwd(products, a, b);
      a_.vpaddd(to, sum, products);
      return;
    }
    case Op::kDotU8:
      move(to, sum);
      // The narrow form belongs to another feature than the wide one.
      if (masks_are_vectors()) a_.vex();
      a_.vpdpbusd(to, a, b);
      return;
    case Op::kDotBF16:
      move(to, sum);
      a_.vdpbf16ps(to, a, b);
      return;
    default: return fail("a product that this machine has not");
  }
}

void X86Emitter::fold(const Inst& inst) {
  const Vec a = use(inst.a, bytes(inst.lane));
  const Vec to = define(inst.dst, 16);
  switch (inst.imm * lane_bytes(inst.lane)) {
    case 32: a_.vextractf32x8(to.ymm(), a.zmm(), 1); break;
    case 16: extract_quarter(to.xmm(), a.ymm()); break;
    case 8: a_.vpshufd(to.xmm(), a.xmm(), 0xee); break;
    default: a_.vpshufd(to.xmm(), a.xmm(), 0x55); break;
  }
}

void X86Emitter::splat(const Inst& inst) {
  const Vec a = use(inst.a, bytes(inst.lane));
  const Vec to = define(inst.dst, bytes(inst.lane));
  InstId id = Id::kIdVbroadcastss;
  if (inst.lane == Lane::kF64) id = to.isXmm() ? Id::kIdVmovddup : Id::kIdVbroadcastsd;
  a_.emit(id, to, a.xmm());
}

void X86Emitter::constant(const Inst& inst) {
  if (where(inst.dst).kind != Location::kRegister) return;
  load_place(vec(where(inst.dst).reg, bytes(inst.lane)), inst.dst);
}

void X86Emitter::emit_vector(const Inst& inst) {
  constexpr Lane kF32 = Lane::kF32, kF64 = Lane::kF64, kI32 = Lane::kI32;
  switch (inst.op) {
    case Op::kConst: return constant(inst);
    case Op::kIota: a_.emit(Id::kIdVmovups, define(inst.dst, bytes(kI32)), iota_memory()); return;
    case Op::kLoad: return load(inst);
    case Op::kStore: return store(inst);
    case Op::kBroadcast: return broadcast(inst);
    case Op::kLoadStrided: return load_strided(inst);
    case Op::kStoreStrided: return store_strided(inst);
    case Op::kGather: return gather(inst);
    case Op::kSplatGpr: {
      const Gp from = gpr(inst.a, x86::rax);
      return splat_gpr(define(inst.dst, bytes(kI32)), from);
    }
    case Op::kSplat: return splat(inst);
    case Op::kMove: {
      const Vec to = define(inst.dst, bytes(inst.lane));
      return in_memory(inst.a) ? load_place(to, inst.a) : move(to, use(inst.a, bytes(inst.lane)));
    }
    case Op::kFma:
    case Op::kFnma:
    case Op::kFms: return multiply_add(inst);
    case Op::kDotI16:
    case Op::kDotU8:
    case Op::kDotBF16: return add_products(inst);
    case Op::kSqrt: {
      const asmjit::Operand from = operand(inst.a, bytes(inst.lane));
      a_.emit(form(forms(inst.op), inst.lane), define(inst.dst, bytes(inst.lane)), from);
      return;
    }
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc:
    case Op::kRint: {
      const asmjit::Operand from = operand(inst.a, bytes(inst.lane));
      return round(define(inst.dst, bytes(inst.lane)), from, inst.lane, rounding_mode(inst.op));
    }
    case Op::kShl:
    case Op::kShr:
    case Op::kSar: return shift(inst);
    case Op::kI32ToF32: return unary(inst, Id::kIdVcvtdq2ps, kF32, kI32);
    case Op::kF32ToI32: return unary(inst, Id::kIdVcvttps2dq, kI32, kF32);
    case Op::kF32ToI32Nearest: return unary(inst, Id::kIdVcvtps2dq, kI32, kF32);
    case Op::kF32ToF64: return unary(inst, Id::kIdVcvtps2pd, kF64, kF32);
    case Op::kF64ToF32: return unary(inst, Id::kIdVcvtpd2ps, kF32, kF64);
    case Op::kI32ToF64: return unary(inst, Id::kIdVcvtdq2pd, kF64, kI32);
    case Op::kF64ToI32: return unary(inst, Id::kIdVcvttpd2dq, kI32, kF64);
    case Op::kScale:
    case Op::kExponent:
    case Op::kMantissa:
    case Op::kLookup: return special(inst);
    case Op::kFold: return fold(inst);
    case Op::kEven:
    case Op::kOdd:
    case Op::kZipLow:
    case Op::kZipHigh: return shuffle(inst);
    case Op::kSelect: return select(inst);
    case Op::kCompare: return compare(inst);
    case Op::kMaskAnd:
    case Op::kMaskOr:
    case Op::kMaskXor:
    case Op::kMaskNot:
    case Op::kMaskConst:
    case Op::kTailMask:
    case Op::kMaskToVector: return mask_operation(inst);
    default: return binary(inst, forms(inst.op));
  }
}

}  // namespace nrd::jit
