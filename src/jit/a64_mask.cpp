// SPDX-License-Identifier: MIT
// src/jit/a64_mask.cpp: comparisons, choices and masks, which are vectors.
#include "jit/a64_emitter.h"

namespace nrd::jit {
namespace {

using Id = a64::Inst::Id;

// What the machine has is equal, greater, and greater or equal, false with a NaN. The rest by
// swapping the operands, by a second comparison whose result is added, and by inverting.
struct Comparison {
  asmjit::InstId id;
  bool is_swapped = false;
  asmjit::InstId other = 0;  // with the operands swapped once more
  bool is_inverted = false;
};

Comparison float_comparison(Predicate predicate) {
  constexpr auto kEqual = Id::kIdFcmeq_v, kGreater = Id::kIdFcmgt_v, kNotLess = Id::kIdFcmge_v;
  switch (predicate) {
    case Predicate::kOeq: return {kEqual};
    case Predicate::kOgt: return {kGreater};
    case Predicate::kOge: return {kNotLess};
    case Predicate::kOlt: return {kGreater, true};
    case Predicate::kOle: return {kNotLess, true};
    case Predicate::kOne: return {kGreater, false, kGreater};
    case Predicate::kOrd: return {kNotLess, false, kGreater};
    case Predicate::kUne: return {kEqual, false, 0, true};
    case Predicate::kUle: return {kGreater, false, 0, true};
    case Predicate::kUlt: return {kNotLess, false, 0, true};
    case Predicate::kUge: return {kGreater, true, 0, true};
    case Predicate::kUgt: return {kNotLess, true, 0, true};
    case Predicate::kUeq: return {kGreater, false, kGreater, true};
    default: return {kNotLess, false, kGreater, true};  // unordered
  }
}

Comparison integer_comparison(Predicate predicate) {
  switch (predicate) {
    case Predicate::kEq: return {Id::kIdCmeq_v};
    case Predicate::kNe: return {Id::kIdCmeq_v, false, 0, true};
    case Predicate::kGt: return {Id::kIdCmgt_v};
    case Predicate::kGe: return {Id::kIdCmge_v};
    case Predicate::kLt: return {Id::kIdCmgt_v, true};
    case Predicate::kLe: return {Id::kIdCmge_v, true};
    case Predicate::kA: return {Id::kIdCmhi_v};
    case Predicate::kAe: return {Id::kIdCmhs_v};
    case Predicate::kB: return {Id::kIdCmhi_v, true};
    default: return {Id::kIdCmhs_v, true};
  }
}

}  // namespace

bool a64_compares_twice(Predicate predicate) { return float_comparison(predicate).other != 0; }

void A64Emitter::compare(const Inst& inst) {
  const bool is_integer = inst.lane == Lane::kI32;
  const Comparison how =
      is_integer ? integer_comparison(inst.predicate) : float_comparison(inst.predicate);
  Vec a = use(inst.a, inst.lane), b = use(inst.b, inst.lane);
  if (how.is_swapped) std::swap(a, b);
  const Vec to = define(inst.dst, inst.lane);
  if (how.other != 0) {
    const Vec first = temporary(inst.lane);
    a_.emit(how.id, first, a, b);
    a_.emit(how.other, to, b, a);
    a_.orr(to.b16(), to.b16(), first.b16());
  } else {
    a_.emit(how.id, to, a, b);
  }
  if (how.is_inverted) a_.mvn(to.b16(), to.b16());
  if (inst.lane == Lane::kF64) a_.xtn(to.s2(), to);
}

void A64Emitter::choose(Vec to, Vec mask, Vec a, Vec b) {
  if (to.id() == a.id()) {
    a_.bif(to.b16(), b.b16(), mask.b16());
  } else if (to.id() == b.id()) {
    a_.bit(to.b16(), a.b16(), mask.b16());
  } else {
    move(to, mask);
    a_.bsl(to.b16(), a.b16(), b.b16());
  }
}

void A64Emitter::select(const Inst& inst) {
  Vec mask = use(inst.mask, Lane::kI32);
  const Vec a = use(inst.a, inst.lane), b = use(inst.b, inst.lane);
  if (inst.lane == Lane::kF64) {
    const Vec wide = temporary(Lane::kF64);
    a_.sxtl(wide, mask);
    mask = wide;
  }
  choose(define(inst.dst, inst.lane), mask, a, b);
}

void A64Emitter::mask_operation(const Inst& inst) {
  if (inst.op == Op::kTailMask) {
    const Gp count = gpr(inst.a, a64::x16);
    const Vec numbers = temporary(Lane::kI32), to = define(inst.dst, Lane::kI32);
    load_iota(numbers);
    a_.dup(to, count.w());
    a_.cmgt(to, to, numbers);
    return;
  }
  if (inst.op == Op::kMaskConst)
    return set_splat32(define(inst.dst, Lane::kI32), inst.imm != 0 ? ~0u : 0);
  const Vec a = use(inst.a, Lane::kI32).b16();
  if (inst.op == Op::kMaskToVector) return move(define(inst.dst, Lane::kI32), a);
  if (inst.op == Op::kMaskNot) {
    a_.mvn(define(inst.dst, Lane::kI32).b16(), a);
    return;
  }
  const InstId id = inst.op == Op::kMaskAnd  ? Id::kIdAnd_v
                    : inst.op == Op::kMaskOr ? Id::kIdOrr_v
                                             : Id::kIdEor_v;
  const Vec b = use(inst.b, Lane::kI32).b16();
  a_.emit(id, define(inst.dst, Lane::kI32).b16(), a, b);
}

// Half of every lane side by side is one general register.
void A64Emitter::branch_any(const Inst& inst, asmjit::Label to, bool is_inverted) {
  Vec mask = use(inst.a, Lane::kI32);
  if (lanes() == 4) {
    const Vec halves = temporary(Lane::kI32);
    a_.xtn(halves.h4(), mask.s4());
    mask = halves;
  }
  a_.fmov(a64::x16, mask.d());
  is_inverted ? a_.cbz(a64::x16, to) : a_.cbnz(a64::x16, to);
}

}  // namespace nrd::jit
