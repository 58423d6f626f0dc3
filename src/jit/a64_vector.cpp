// SPDX-License-Identifier: MIT
// src/jit/a64_vector.cpp: vector arithmetic.
#include <algorithm>

#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

using Id = a64::Inst::Id;

// The instruction of an operation on floats and on 32-bit integers; 0: there is none.
struct Forms {
  asmjit::InstId real = 0, integer = 0;
};

Forms forms(Op op) {
  switch (op) {
    case Op::kAdd: return {Id::kIdFadd_v, Id::kIdAdd_v};
    case Op::kSub: return {Id::kIdFsub_v, Id::kIdSub_v};
    case Op::kMul: return {Id::kIdFmul_v, Id::kIdMul_v};
    case Op::kDiv: return {Id::kIdFdiv_v, 0};
    case Op::kMax: return {0, Id::kIdSmax_v};
    case Op::kMin: return {0, Id::kIdSmin_v};
    case Op::kShlV: return {0, Id::kIdUshl_v};
    case Op::kEven: return {Id::kIdUzp1_v, Id::kIdUzp1_v};
    case Op::kOdd: return {Id::kIdUzp2_v, Id::kIdUzp2_v};
    case Op::kZipLow: return {Id::kIdZip1_v, Id::kIdZip1_v};
    case Op::kZipHigh: return {Id::kIdZip2_v, Id::kIdZip2_v};
    default: return {};
  }
}

}  // namespace

void A64Emitter::unary(const Inst& inst, InstId id) {
  const Vec a = use(inst.a, inst.lane);
  a_.emit(id, define(inst.dst, inst.lane), a);
}

void A64Emitter::binary(const Inst& inst) {
  const Forms found = forms(inst.op);
  const InstId id = inst.lane == Lane::kI32 ? found.integer : found.real;
  if (id == 0) return fail("an operation of a lane type that has none");
  const Vec a = use(inst.a, inst.lane), b = use(inst.b, inst.lane);
  a_.emit(id, define(inst.dst, inst.lane), a, b);
}

void A64Emitter::bitwise(const Inst& inst) {
  const Vec a = use(inst.a, inst.lane).b16(), b = use(inst.b, inst.lane).b16();
  const Vec to = define(inst.dst, inst.lane).b16();
  switch (inst.op) {
    case Op::kAnd: a_.and_(to, a, b); return;
    case Op::kOr: a_.orr(to, a, b); return;
    case Op::kXor: a_.eor(to, a, b); return;
    default: a_.bic(to, b, a); return;
  }
}

// fmax and fmin would prefer a NaN; ours prefer the second operand.
void A64Emitter::maximum(const Inst& inst) {
  const Vec a = use(inst.a, inst.lane), b = use(inst.b, inst.lane);
  const Vec to = define(inst.dst, inst.lane);
  const Vec mask = to.id() == a.id() || to.id() == b.id() ? temporary(inst.lane) : to;
  if (inst.op == Op::kMax) {
    a_.fcmgt(mask, a, b);
  } else {
    a_.fcmgt(mask, b, a);
  }
  choose(to, mask, a, b);
}

// The machine adds to its result, so that has to be the addend first.
void A64Emitter::multiply_add(const Inst& inst) {
  const Vec a = use(inst.a, inst.lane), b = use(inst.b, inst.lane), c = use(inst.c, inst.lane);
  const Vec to = define(inst.dst, inst.lane);
  const bool is_factor = to.id() == a.id() || to.id() == b.id();
  const bool is_ready = to.id() == c.id() && inst.op != Op::kFms;
  const Vec sum = is_factor && !is_ready ? temporary(inst.lane) : to;
  if (inst.op == Op::kFms) {
    a_.fneg(sum, c);
  } else {
    move(sum, c);
  }
  const Vec by = inst.op == Op::kFmaLane ? b.s(static_cast<uint32_t>(inst.imm)) : b;
  a_.emit(inst.op == Op::kFnma ? Id::kIdFmls_v : Id::kIdFmla_v, sum, a, by);
  move(to, sum);
}

// The result is c's own register.
void A64Emitter::add_products(const Inst& inst) {
  constexpr Lane kI32 = Lane::kI32;
  const Vec a = use(inst.a, kI32), b = use(inst.b, kI32), to = use(inst.c, kI32);
  switch (inst.op) {
    case Op::kDotI16: {
      const Vec low = temporary(kI32), high = temporary(kI32);
      a_.smull(low.s4(), a.h4(), b.h4());
      a_.smull2(high.s4(), a.h8(), b.h8());
      a_.addp(low.s4(), low.s4(), high.s4());
      a_.add(to.s4(), to.s4(), low.s4());
      break;
    }
    case Op::kDotLane: a_.sdot(to.s4(), a.b16(), b.b4(static_cast<uint32_t>(inst.imm))); break;
    case Op::kMatrixI8:
      if (inst.imm != 0) {
        a_.usmmla(to.s4(), a.b16(), b.b16());
      } else {
        a_.smmla(to.s4(), a.b16(), b.b16());
      }
      break;
    case Op::kMatrixBF16: a_.bfmmla(to.s4(), a.h8(), b.h8()); break;
    default: return fail("a product that this machine has not");
  }
  move(define(inst.dst, kI32), to);
}

void A64Emitter::shift(const Inst& inst) {
  const Vec a = use(inst.a, Lane::kI32), to = define(inst.dst, Lane::kI32);
  if (inst.imm == 0) return move(to, a);
  if (inst.op == Op::kSar) {
    a_.sshr(to, a, std::min<int64_t>(inst.imm, 31));
  } else if (inst.imm > 31) {
    a_.movi(to.s4(), 0);
  } else if (inst.op == Op::kShl) {
    a_.shl(to, a, inst.imm);
  } else {
    a_.ushr(to, a, inst.imm);
  }
}

// To the right is to the left by a negative count.
void A64Emitter::shift_by_lane(const Inst& inst) {
  const Vec a = use(inst.a, Lane::kI32), b = use(inst.b, Lane::kI32);
  const Vec count = temporary(Lane::kI32);
  a_.neg(count, b);
  a_.emit(inst.op == Op::kShrV ? Id::kIdUshl_v : Id::kIdSshl_v, define(inst.dst, Lane::kI32), a,
          count);
}

void A64Emitter::pair(const Inst& inst) {
  const Vec a = use(inst.a, inst.lane).d2(), b = use(inst.b, inst.lane).d2();
  const Vec to = define(inst.dst, inst.lane).d2();
  a_.emit(inst.op == Op::kPairLow ? Id::kIdZip1_v : Id::kIdZip2_v, to, a, b);
}

void A64Emitter::fold(const Inst& inst) {
  const Vec a = use(inst.a, inst.lane).b16();
  a_.ext(define(inst.dst, inst.lane).b16(), a, a, inst.imm * lane_bytes(inst.lane));
}

// ---- conversions between lane types ----

void A64Emitter::convert(const Inst& inst) {
  switch (inst.op) {
    case Op::kI32ToF32: return unary(inst, Id::kIdScvtf_v);
    case Op::kF32ToI32:
    case Op::kF32ToI32Nearest: return round_to_i32(inst);
    case Op::kF64ToI32: return wide_to_i32(inst);
    case Op::kF32ToF64: {
      const Vec a = use(inst.a, Lane::kF32);
      a_.fcvtl(define(inst.dst, Lane::kF64), a);
      return;
    }
    case Op::kF64ToF32: {
      const Vec a = use(inst.a, Lane::kF64);
      a_.fcvtn(define(inst.dst, Lane::kF32), a);
      return;
    }
    default: {
      const Vec a = use(inst.a, Lane::kI32), to = define(inst.dst, Lane::kF64);
      a_.sxtl(to, a);
      a_.scvtf(to, to);
      return;
    }
  }
}

// The machine saturates and makes 0 of a NaN. From below that is what we want; what is not less
// than 2^31 becomes 0x80000000.
void A64Emitter::round_to_i32(const Inst& inst) {
  const Vec a = use(inst.a, Lane::kF32);
  const Vec fits = temporary(Lane::kF32), otherwise = temporary(Lane::kF32);
  set_splat32(fits, 0x4f000000);
  a_.fcmgt(fits, fits, a);
  set_splat32(otherwise, 0x80000000);
  const Vec to = define(inst.dst, Lane::kI32);
  a_.emit(inst.op == Op::kF32ToI32 ? Id::kIdFcvtzs_v : Id::kIdFcvtns_v, to, a);
  a_.bif(to.b16(), otherwise.b16(), fits.b16());
}

void A64Emitter::wide_to_i32(const Inst& inst) {
  const Vec a = use(inst.a, Lane::kF64);
  const Vec fits = temporary(Lane::kF64), wide = temporary(Lane::kF64);
  set_splat64(fits, 0x41e0000000000000);
  a_.fcmgt(fits, fits, a);
  a_.xtn(fits.s2(), fits);
  a_.fcvtzs(wide, a);
  const Vec to = define(inst.dst, Lane::kI32);
  a_.sqxtn(to, wide);
  set_splat32(wide, 0x80000000);
  a_.bif(to.b16(), wide.b16(), fits.b16());
}

// ---- all of them ----

void A64Emitter::emit_vector(const Inst& inst) {
  switch (inst.op) {
    case Op::kConst:
      if (!in_memory(inst.dst)) set_constant(a64::v(where(inst.dst).reg), inst);
      return;
    case Op::kIota: return load_iota(define(inst.dst, Lane::kI32));
    case Op::kLoad: return load(inst);
    case Op::kStore: return store(inst);
    case Op::kBroadcast: return broadcast(inst);
    case Op::kLoadStrided: return load_strided(inst);
    case Op::kStoreStrided: return store_strided(inst);
    case Op::kGather: return gather(inst);
    case Op::kSplatGpr: {
      const Gp from = gpr(inst.a, a64::x16);
      a_.dup(define(inst.dst, Lane::kI32), from.w());
      return;
    }
    case Op::kSplat: {
      const Vec a = use(inst.a, inst.lane);
      a_.dup(define(inst.dst, inst.lane), a.at(0));
      return;
    }
    case Op::kMove: {
      const Vec to = define(inst.dst, inst.lane);
      if (in_memory(inst.a)) return load_place(to, inst.a);
      return move(to, use(inst.a, inst.lane));
    }
    case Op::kFma:
    case Op::kFnma:
    case Op::kFms:
    case Op::kFmaLane: return multiply_add(inst);
    case Op::kDotI16:
    case Op::kDotU8:
    case Op::kDotBF16:
    case Op::kDotLane:
    case Op::kMatrixI8:
    case Op::kMatrixBF16: return add_products(inst);
    case Op::kPairLow:
    case Op::kPairHigh: return pair(inst);
    case Op::kMax:
    case Op::kMin: return inst.lane == Lane::kI32 ? binary(inst) : maximum(inst);
    case Op::kSqrt: return unary(inst, Id::kIdFsqrt_v);
    case Op::kFloor: return unary(inst, Id::kIdFrintm_v);
    case Op::kCeil: return unary(inst, Id::kIdFrintp_v);
    case Op::kTrunc: return unary(inst, Id::kIdFrintz_v);
    case Op::kRint: return unary(inst, Id::kIdFrintn_v);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndNot: return bitwise(inst);
    case Op::kShl:
    case Op::kShr:
    case Op::kSar: return shift(inst);
    case Op::kShrV:
    case Op::kSarV: return shift_by_lane(inst);
    case Op::kI32ToF32:
    case Op::kF32ToI32:
    case Op::kF32ToI32Nearest:
    case Op::kF32ToF64:
    case Op::kF64ToF32:
    case Op::kI32ToF64:
    case Op::kF64ToI32: return convert(inst);
    case Op::kFold: return fold(inst);
    case Op::kSelect: return select(inst);
    case Op::kCompare: return compare(inst);
    case Op::kMaskAnd:
    case Op::kMaskOr:
    case Op::kMaskXor:
    case Op::kMaskNot:
    case Op::kMaskConst:
    case Op::kTailMask:
    case Op::kMaskToVector: return mask_operation(inst);
    default: return binary(inst);
  }
}

}  // namespace nrd::jit
