// SPDX-License-Identifier: MIT
// src/jit/x86_avx512.cpp: the AVX-512 back end (F, BW, DQ, VL).
//
// Masks live in k1 to k7 and cost nothing: a tail is the full instruction under a mask. Constants
// without a register are broadcast from 4 or 8 bytes of the pool as memory operands.
#include <array>
#include <bit>

#include "jit/encode.h"
#include "jit/x86_emitter.h"
#include "jit/x86_predicates.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

Needs avx512_needs(const Inst& inst) {
  Needs needs = x86_needs(inst);
  const bool is_f8 = inst.dtype == DType::kF8E4M3 || inst.dtype == DType::kF8E5M2;
  switch (inst.op) {
    case Op::kStore:
    case Op::kStoreStrided:
      if (is_f8) needs.vectors = 3, needs.masks = 1;
      if (inst.dtype == DType::kBF16) needs.vectors = 2, needs.masks = 1;
      break;
    case Op::kGather: needs.vectors = 1, needs.masks = 1; break;
    case Op::kCompare:
    case Op::kScale: needs.memory = kOperandB; break;
    case Op::kEven:
    case Op::kOdd:
    case Op::kZipLow:
    case Op::kZipHigh:
    case Op::kTailMask: needs.vectors = 1; break;
    default: break;
  }
  return needs;
}

class Avx512Emitter final : public X86Emitter {
 public:
  using X86Emitter::X86Emitter;

 private:
  bool masks_are_vectors() const override { return false; }

  x86::Mem splat_memory(uint64_t bits, int element, int bytes) override {
    x86::Mem memory =
        x86::ptr(pool_label_, static_cast<int32_t>(pool_.add_splat(bits, element, element)));
    memory.setBroadcast(
        static_cast<x86::Mem::Broadcast>(std::countr_zero(static_cast<unsigned>(bytes / element))));
    return memory;
  }

  // ---- masks ----

  x86::KReg use_mask(uint32_t reg) {
    if (!in_memory(reg)) return x86::KReg(where(reg).reg);
    const x86::KReg loaded = mask_temporary();
    restore_mask(loaded.id(), small_slot(where(reg).slot));
    return loaded;
  }

  x86::KReg define_mask(uint32_t reg) {
    return in_memory(reg) ? mask_temporary() : x86::KReg(where(reg).reg);
  }

  void finish_mask(uint32_t reg, const x86::KReg& made) {
    if (in_memory(reg)) save_mask(made.id(), small_slot(where(reg).slot));
  }

  void save_mask(uint32_t physical, const x86::Mem& to) override {
    x86::Mem place = to;
    place.setSize(2);
    a_.kmovw(place, x86::KReg(physical));
  }

  void restore_mask(uint32_t physical, const x86::Mem& from) override {
    x86::Mem place = from;
    place.setSize(2);
    a_.kmovw(x86::KReg(physical), place);
  }

  bool has_16_lanes() const { return lanes() == 16; }

  void compare(const Inst& inst) override {
    const int width = bytes(inst.lane);
    const Vec a = use(inst.a, width);
    const asmjit::Operand b = operand(inst.b, width);
    const x86::KReg to = define_mask(inst.dst);
    if (inst.lane == Lane::kI32) {
      a_.emit(is_unsigned(inst.predicate) ? Id::kIdVpcmpud : Id::kIdVpcmpd, to, a, b,
              asmjit::Imm(integer_comparison(inst.predicate)));
    } else {
      a_.emit(inst.lane == Lane::kF64 ? Id::kIdVcmppd : Id::kIdVcmpps, to, a, b,
              asmjit::Imm(float_comparison(inst.predicate)));
    }
    finish_mask(inst.dst, to);
  }

  void select(const Inst& inst) override {
    const int width = bytes(inst.lane);
    const x86::KReg mask = use_mask(inst.mask);
    const Vec b = use(inst.b, width);
    const asmjit::Operand a = operand(inst.a, width);
    const Vec to = define(inst.dst, width);
    a_.k(mask).emit(inst.lane == Lane::kF64 ? Id::kIdVblendmpd : Id::kIdVblendmps, to, b, a);
  }

  void mask_operation(const Inst& inst) override {
    if (inst.op == Op::kMaskToVector) {
      const x86::KReg from = use_mask(inst.a);
      a_.vpmovm2d(define(inst.dst, bytes(Lane::kI32)), from);
      return;
    }
    const x86::KReg to = define_mask(inst.dst);
    if (inst.op == Op::kTailMask) {
      const Vec count = temporary(bytes(Lane::kI32));
      splat_gpr(count, gpr(inst.a, x86::rax));
      a_.emit(Id::kIdVpcmpgtd, to, count, iota_memory());
    } else if (inst.op == Op::kMaskConst) {
      const InstId all = has_16_lanes() ? Id::kIdKxnorw : Id::kIdKxnorb;
      a_.emit(inst.imm != 0 ? all : InstId{Id::kIdKxorw}, to, to, to);
    } else if (inst.op == Op::kMaskNot) {
      a_.emit(has_16_lanes() ? Id::kIdKnotw : Id::kIdKnotb, to, use_mask(inst.a));
    } else {
      const InstId id = inst.op == Op::kMaskAnd  ? Id::kIdKandw
                        : inst.op == Op::kMaskOr ? Id::kIdKorw
                                                 : Id::kIdKxorw;
      const x86::KReg a = use_mask(inst.a), b = use_mask(inst.b);
      a_.emit(id, to, a, b);
    }
    finish_mask(inst.dst, to);
  }

  void branch_any(const Inst& inst, asmjit::Label to, bool is_inverted) override {
    const x86::KReg mask = use_mask(inst.a);
    a_.emit(has_16_lanes() ? Id::kIdKortestw : Id::kIdKortestb, mask, mask);
    a_.j(is_inverted ? x86::CondCode::kZero : x86::CondCode::kNotZero, to);
  }

  // ---- vectors ----

  void round(Vec to, const asmjit::Operand& from, Lane lane, int mode) override {
    a_.emit(lane == Lane::kF64 ? Id::kIdVrndscalepd : Id::kIdVrndscaleps, to, from,
            asmjit::Imm(mode));
  }

  // Lane `lane` of the result among the lanes of a, then of b.
  uint32_t shuffled_lane(Op op, uint32_t lane) const {
    const auto count = static_cast<uint32_t>(lanes());
    if (op == Op::kEven) return 2 * lane;
    if (op == Op::kOdd) return 2 * lane + 1;
    const uint32_t first = op == Op::kZipHigh ? count / 2 : 0;
    return first + lane / 2 + (lane % 2) * count;
  }

  void shuffle(const Inst& inst) override {
    const bool is_f64 = inst.lane == Lane::kF64;
    const int width = bytes(inst.lane);
    const Vec a = use(inst.a, width), b = use(inst.b, width);
    const Vec to = define(inst.dst, width);
    const bool is_distinct = to.id() != a.id() && to.id() != b.id();
    const Vec work = is_distinct ? to : temporary(width);
    std::array<uint32_t, 16> words{};
    const uint32_t step = is_f64 ? 2 : 1;
    for (uint32_t lane = 0; lane < static_cast<uint32_t>(lanes()); lane++) {
      words[lane * step] = shuffled_lane(inst.op, lane);
    }
    const auto offset = pool_.add_words({words.data(), static_cast<size_t>(width) / 4});
    a_.emit(Id::kIdVmovups, work, x86::ptr(pool_label_, static_cast<int32_t>(offset)));
    a_.emit(is_f64 ? Id::kIdVpermi2pd : Id::kIdVpermi2ps, work, a, b);
    move(to, work);
  }

  void special(const Inst& inst) override {
    const bool is_f64 = inst.lane == Lane::kF64;
    const int width = bytes(inst.lane);
    const Vec a = use(inst.a, width);
    switch (inst.op) {
      case Op::kScale: {
        const asmjit::Operand b = operand(inst.b, width);
        a_.emit(is_f64 ? Id::kIdVscalefpd : Id::kIdVscalefps, define(inst.dst, width), a, b);
        return;
      }
      case Op::kExponent:
        a_.emit(is_f64 ? Id::kIdVgetexppd : Id::kIdVgetexpps, define(inst.dst, width), a);
        return;
      case Op::kMantissa:  // 3: the interval [0.75, 1.5), the sign kept
        a_.emit(is_f64 ? Id::kIdVgetmantpd : Id::kIdVgetmantps, define(inst.dst, width), a,
                asmjit::Imm(3));
        return;
      default: {  // kLookup
        const std::array<float, 16>& table = program_.tables[static_cast<size_t>(inst.imm)];
        const auto words = std::bit_cast<std::array<uint32_t, 16>>(table);
        const auto at = static_cast<int32_t>(pool_.add_words(words));
        a_.emit(Id::kIdVpermps, define(inst.dst, width), a, x86::ptr(pool_label_, at));
        return;
      }
    }
  }

  void splat_gpr(Vec to, Gp from) override { a_.emit(Id::kIdVpbroadcastd, to, from.r32()); }
  void insert_quarter(Vec to, Vec from, int index) override {
    a_.vinsertf32x4(to, to, from.xmm(), index);
  }
  void extract_quarter(Vec to, Vec from) override { a_.vextractf32x4(to.xmm(), from, 1); }

  // ---- memory ----

  void load_tail(const Inst& inst, Vec to, const x86::Mem& from) override {
    const x86::KReg mask = use_mask(inst.mask);
    widen(to, from, inst.dtype, &mask);
  }

  void store_lanes(const Inst& inst, Vec a, const x86::Mem& to, bool has_tail) override {
    const x86::KReg mask = has_tail ? use_mask(inst.mask) : x86::KReg();
    const auto last = [&](InstId id, const Vec& value) {
      if (has_tail) a_.k(mask);
      a_.emit(id, to, value);
    };
    switch (inst.dtype) {
      case DType::kF64: return last(Id::kIdVmovupd, a);
      case DType::kF32:
      case DType::kI32: return last(Id::kIdVmovups, a);
      case DType::kI8:
      case DType::kU8: return last(Id::kIdVpmovdb, a);
      case DType::kBF16: return last(Id::kIdVpmovdw, narrow(a, inst.dtype));
      case DType::kF16:
        if (has_tail) a_.k(mask);
        a_.vcvtps2ph(to, a, 0);
        return;
      default: return last(Id::kIdVpmovdb, narrow(a, inst.dtype));
    }
  }

  void gather_wide(const Inst& inst) override {
    const bool is_f64 = inst.lane == Lane::kF64;
    const Vec indices = use(inst.a, bytes(Lane::kI32));
    const x86::KReg left = mask_temporary();  // the instruction clears it
    if (inst.count != kNoReg) {
      a_.kmovw(left, use_mask(inst.mask));
    } else {
      a_.kxnorw(left, left, left);
    }
    const Vec to = define(inst.dst, bytes(inst.lane));
    const Vec work = to.id() == indices.id() ? temporary(bytes(inst.lane)) : to;
    a_.vxorps(work.xmm(), work.xmm(), work.xmm());
    a_.k(left).emit(is_f64 ? Id::kIdVgatherdpd : Id::kIdVgatherdps, work,
                    x86::ptr(x86::rax, indices, is_f64 ? 3 : 2));
    move(to, work);
  }

  void replace_if_greater(Vec to, Vec x, uint32_t limit, const asmjit::Operand& value) override {
    const x86::KReg mask = shared_mask_temporary();
    a_.emit(Id::kIdVpcmpgtd, mask, x, splat32(limit, static_cast<int>(x.size())));
    a_.k(mask).emit(Id::kIdVpblendmd, to, to, value);
  }

  void replace_if_nan(Vec to, Vec x, Vec value) override {
    const x86::KReg mask = shared_mask_temporary();
    a_.vcmpps(mask, x, x, float_comparison(Predicate::kUno));
    a_.k(mask).vblendmps(to, to, value);
  }
};

// Low numbers first: they have the shorter encoding.
constexpr uint8_t kVectors[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
constexpr uint8_t kMasks[] = {1, 2, 3, 4, 5, 6, 7};

}  // namespace

extern constinit const Backend kAvx512Backend = {
    .target = {.isa = "avx512",
               .vector_bytes = 64,
               .vector_registers = 32,
               .has_scale = true,
               .has_tables = true,
               .cheap_masks = true},
    .required = IsaSet()
                    .with(Feature::kAvx2)
                    .with(Feature::kFma)
                    .with(Feature::kF16c)
                    .with(Feature::kAvx512),
    .registers = {kVectors, kMasks, kX86Gprs, false},
    .needs = avx512_needs,
    .emit = [](const Program& program, const Target& target, const Allocation& where) {
      return Avx512Emitter(program, target, where).run();
    }};

}  // namespace nrd::jit
