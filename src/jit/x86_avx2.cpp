// SPDX-License-Identifier: MIT
// src/jit/x86_avx2.cpp: the AVX2 back end (with FMA and F16C).
//
// A mask is a vector of 32-bit lanes, all ones or zero, whatever was compared; 64-bit operations
// widen it. Tails of 4- and 8-byte elements use vmaskmov, narrower ones go by pieces of 8, 4, 2
// and 1 elements. Constants without a register are whole vectors of the pool.
#include <array>

#include "jit/encode.h"
#include "jit/x86_emitter.h"
#include "jit/x86_predicates.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

Needs store_needs(const Inst& inst) {
  switch (inst.dtype) {
    case DType::kF64:
    case DType::kF16: return {.vectors = 1};
    case DType::kI8:
    case DType::kU8: return {.vectors = 2};
    case DType::kBF16: return {.vectors = 3};
    case DType::kF8E4M3:
    case DType::kF8E5M2: return {.vectors = 4};
    default: return {};
  }
}

Needs avx2_needs(const Inst& inst) {
  Needs needs = x86_needs(inst);
  const bool is_f64 = inst.lane == Lane::kF64;
  switch (inst.op) {
    case Op::kStore:
    case Op::kStoreStrided: return store_needs(inst);
    case Op::kLoad: needs.vectors += is_f64; break;
    case Op::kGather: needs.vectors = 2; break;
    case Op::kCompare:
      if (inst.lane == Lane::kF32) needs.memory = kOperandB;
      needs.vectors = is_f64 ? 2 : inst.lane == Lane::kI32;
      break;
    case Op::kSelect: needs.vectors = is_f64; break;
    case Op::kZipLow:
    case Op::kZipHigh: needs.vectors = 2; break;
    default: break;
  }
  return needs;
}

// Of `bytes` (1 to 16, a power of two), the load, the store and the insertion at the bottom.
struct Piece {
  InstId load, store, insert;
};

Piece piece(int bytes) {
  switch (bytes) {
    case 1: return {0, Id::kIdVpextrb, Id::kIdVpinsrb};
    case 2: return {0, Id::kIdVpextrw, Id::kIdVpinsrw};
    case 4: return {Id::kIdVmovd, Id::kIdVmovd, Id::kIdVpinsrd};
    case 8: return {Id::kIdVmovq, Id::kIdVmovq, Id::kIdVpinsrq};
    default: return {Id::kIdVmovups, Id::kIdVmovups, 0};
  }
}

class Avx2Emitter final : public X86Emitter {
 public:
  using X86Emitter::X86Emitter;

 private:
  bool masks_are_vectors() const override { return true; }

  x86::Mem splat_memory(uint64_t bits, int element, int bytes) override {
    return x86::ptr(pool_label_, static_cast<int32_t>(pool_.add_splat(bits, element, bytes)));
  }

  // ---- masks ----

  int mask_bytes() const { return bytes(Lane::kI32); }

  // As wide as `lane`; takes a temporary for f64.
  Vec use_mask(uint32_t reg, Lane lane) {
    const Vec mask = use(reg, mask_bytes());
    if (lane != Lane::kF64) return mask;
    const Vec wide = temporary(bytes(lane));
    a_.vpmovsxdq(wide, mask);
    return wide;
  }

  void compare(const Inst& inst) override {
    if (inst.lane == Lane::kI32) return compare_integers(inst);
    const int width = bytes(inst.lane);
    const asmjit::Imm predicate(float_comparison(inst.predicate));
    const Vec a = use(inst.a, width);
    if (inst.lane == Lane::kF32) {
      const asmjit::Operand b = operand(inst.b, width);
      a_.emit(Id::kIdVcmpps, define(inst.dst, width), a, b, predicate);
      return;
    }
    const Vec b = use(inst.b, width);
    const Vec wide = temporary(width), high = temporary(16);
    a_.emit(Id::kIdVcmppd, wide, a, b, predicate);
    extract_quarter(high, wide);
    a_.vshufps(define(inst.dst, mask_bytes()).xmm(), wide.xmm(), high.xmm(), 0x88);
  }

  // What there is: equal, and greater of signed numbers. The rest by swapping, by taking the
  // smaller or larger first, and by inverting.
  void compare_integers(const Inst& inst) {
    const Vec a = use(inst.a, mask_bytes()), b = use(inst.b, mask_bytes());
    const Vec to = define(inst.dst, mask_bytes());
    bool is_inverted = false;
    switch (inst.predicate) {
      case Predicate::kNe: is_inverted = true; [[fallthrough]];
      case Predicate::kEq: a_.vpcmpeqd(to, a, b); break;
      case Predicate::kLe: is_inverted = true; [[fallthrough]];
      case Predicate::kGt: a_.vpcmpgtd(to, a, b); break;
      case Predicate::kGe: is_inverted = true; [[fallthrough]];
      case Predicate::kLt: a_.vpcmpgtd(to, b, a); break;
      default: {
        const bool is_below = inst.predicate == Predicate::kBe || inst.predicate == Predicate::kA;
        is_inverted = inst.predicate == Predicate::kA || inst.predicate == Predicate::kB;
        const Vec extreme = temporary(mask_bytes());
        a_.emit(is_below ? Id::kIdVpminud : Id::kIdVpmaxud, extreme, a, b);
        a_.vpcmpeqd(to, extreme, a);
        break;
      }
    }
    if (is_inverted) a_.vxorps(to, to, splat32(~0u, mask_bytes()));
  }

  void select(const Inst& inst) override {
    const int width = bytes(inst.lane);
    const Vec mask = use_mask(inst.mask, inst.lane);
    const Vec b = use(inst.b, width);
    const asmjit::Operand a = operand(inst.a, width);
    const Vec to = define(inst.dst, width);
    a_.emit(inst.lane == Lane::kF64 ? Id::kIdVblendvpd : Id::kIdVblendvps, to, b, a, mask);
  }

  void mask_operation(const Inst& inst) override {
    if (inst.op == Op::kTailMask) {
      const Gp count = gpr(inst.a, x86::rax);
      const Vec to = define(inst.dst, mask_bytes());
      splat_gpr(to, count);
      a_.emit(Id::kIdVpcmpgtd, to, to, iota_memory());
      return;
    }
    if (inst.op == Op::kMaskConst) {
      const Vec to = define(inst.dst, mask_bytes());
      a_.emit(inst.imm != 0 ? Id::kIdVpcmpeqd : Id::kIdVxorps, to, to, to);
      return;
    }
    const Vec a = use(inst.a, mask_bytes());
    if (inst.op == Op::kMaskToVector) return move(define(inst.dst, mask_bytes()), a);
    if (inst.op == Op::kMaskNot) {
      a_.vxorps(define(inst.dst, mask_bytes()), a, splat32(~0u, mask_bytes()));
      return;
    }
    const InstId id = inst.op == Op::kMaskAnd  ? Id::kIdVandps
                      : inst.op == Op::kMaskOr ? Id::kIdVorps
                                               : Id::kIdVxorps;
    const Vec b = use(inst.b, mask_bytes());
    a_.emit(id, define(inst.dst, mask_bytes()), a, b);
  }

  void branch_any(const Inst& inst, asmjit::Label to, bool is_inverted) override {
    const Vec mask = use(inst.a, mask_bytes());
    a_.vtestps(mask, mask);
    a_.j(is_inverted ? x86::CondCode::kZero : x86::CondCode::kNotZero, to);
  }

  // ---- vectors ----

  void round(Vec to, const asmjit::Operand& from, Lane lane, int mode) override {
    a_.emit(lane == Lane::kF64 ? Id::kIdVroundpd : Id::kIdVroundps, to, from, asmjit::Imm(mode));
  }

  void shuffle(const Inst& inst) override {
    const int width = bytes(inst.lane);
    const Vec a = use(inst.a, width), b = use(inst.b, width);
    const Vec to = define(inst.dst, width);
    if (inst.op == Op::kEven || inst.op == Op::kOdd) {
      pick_alternate(to, a, b, inst);
    } else {
      zip(to, a, b, inst);
    }
  }

  // Inside each 16 bytes first: those of a, then those of b; then the middle quarters swap.
  void pick_alternate(Vec to, Vec a, Vec b, const Inst& inst) {
    const bool is_odd = inst.op == Op::kOdd;
    if (inst.lane == Lane::kF64) {
      a_.emit(is_odd ? Id::kIdVunpckhpd : Id::kIdVunpcklpd, to, a, b);
    } else {
      a_.vshufps(to, a, b, is_odd ? 0xdd : 0x88);
    }
    if (!to.isXmm()) a_.vpermpd(to, to, 0xd8);
  }

  void zip(Vec to, Vec a, Vec b, const Inst& inst) {
    const bool is_f64 = inst.lane == Lane::kF64, is_high = inst.op == Op::kZipHigh;
    const InstId low_id = is_f64 ? Id::kIdVunpcklpd : Id::kIdVunpcklps;
    const InstId high_id = is_f64 ? Id::kIdVunpckhpd : Id::kIdVunpckhps;
    if (to.isXmm()) {
      a_.emit(is_high ? high_id : low_id, to, a, b);
      return;
    }
    const Vec low = temporary(32), high = temporary(32);
    a_.emit(low_id, low, a, b);
    a_.emit(high_id, high, a, b);
    a_.vperm2f128(to, low, high, is_high ? 0x31 : 0x20);
  }

  void special(const Inst&) override { fail("an operation that AVX2 does not offer"); }

  void splat_gpr(Vec to, Gp from) override {
    a_.vmovd(to.xmm(), from.r32());
    a_.vpbroadcastd(to, to.xmm());
  }
  void insert_quarter(Vec to, Vec from, int index) override {
    a_.vinsertf128(to, to, from.xmm(), index);
  }
  void extract_quarter(Vec to, Vec from) override { a_.vextractf128(to.xmm(), from, 1); }

  // ---- memory ----

  void load_tail(const Inst& inst, Vec to, const x86::Mem& from) override {
    const int element = static_cast<int>(byte_size(inst.dtype));
    if (element >= 4) {
      const Vec mask = use_mask(inst.mask, inst.lane);
      a_.emit(element == 8 ? Id::kIdVmaskmovpd : Id::kIdVmaskmovps, to, mask, from);
      return;
    }
    load_pieces(inst, to, from, element);
    widen(to, vec(to.id(), lanes() * element), inst.dtype);
  }

  // From the end backwards: each piece pushes those behind it up.
  void load_pieces(const Inst& inst, Vec to, const x86::Mem& from, int element) {
    const asmjit::Label partial = a_.newLabel(), done = a_.newLabel();
    const x86::Xmm raw = to.xmm();
    a_.lea(x86::rax, from);
    const Gp count = gpr(inst.count, x86::rdx);
    a_.lea(x86::rax, x86::ptr(x86::rax, count, element == 2 ? 1 : 0));
    a_.test(count.r32(), lanes());
    a_.jz(partial);
    a_.emit(piece(lanes() * element).load, raw, x86::ptr(x86::rax, -lanes() * element));
    a_.jmp(done);
    a_.bind(partial);
    a_.vxorps(raw, raw, raw);
    for (int elements = 1; elements < lanes(); elements *= 2) {
      const asmjit::Label next = a_.newLabel();
      const int size = elements * element;
      a_.test(count.r32(), elements);
      a_.jz(next);
      a_.sub(x86::rax, size);
      if (elements > 1) a_.vpslldq(raw, raw, size);
      a_.emit(piece(size).insert, raw, raw, x86::ptr(x86::rax), asmjit::Imm(0));
      a_.bind(next);
    }
    a_.bind(done);
  }

  void store_pieces(const Inst& inst, Vec raw, const x86::Mem& to, int element) {
    const asmjit::Label partial = a_.newLabel(), done = a_.newLabel();
    a_.lea(x86::rax, to);
    const Gp count = gpr(inst.count, x86::rdx);
    a_.test(count.r32(), lanes());
    a_.jz(partial);
    store_piece(x86::ptr(x86::rax), raw, lanes() * element);
    a_.jmp(done);
    a_.bind(partial);
    for (int elements = lanes() / 2; elements > 0; elements /= 2) {
      const asmjit::Label next = a_.newLabel();
      const int size = elements * element;
      a_.test(count.r32(), elements);
      a_.jz(next);
      store_piece(x86::ptr(x86::rax), raw, size);
      if (elements > 1) {
        a_.add(x86::rax, size);
        a_.vpsrldq(raw.xmm(), raw.xmm(), size);
      }
      a_.bind(next);
    }
    a_.bind(done);
  }

  void store_piece(const x86::Mem& to, Vec raw, int size) {
    if (size <= 2) {
      a_.emit(piece(size).store, to, raw.xmm(), asmjit::Imm(0));
    } else {
      a_.emit(piece(size).store, to, raw.xmm());
    }
  }

  void store_lanes(const Inst& inst, Vec a, const x86::Mem& to, bool has_tail) override {
    const int element = static_cast<int>(byte_size(inst.dtype));
    if (element >= 4) {
      if (!has_tail) {
        a_.emit(Id::kIdVmovups, to, a);
        return;
      }
      const Vec mask = use_mask(inst.mask, inst.lane);
      a_.emit(element == 8 ? Id::kIdVmaskmovpd : Id::kIdVmaskmovps, to, mask, a);
      return;
    }
    Vec raw;
    if (inst.dtype == DType::kF16) {
      raw = temporary(16);
      a_.vcvtps2ph(raw.xmm(), a, 0);
    } else if (inst.dtype == DType::kI8 || inst.dtype == DType::kU8) {
      raw = pack(temporary(mask_bytes()), a, element);
    } else {
      const Vec codes = narrow(a, inst.dtype);
      raw = pack(codes, codes, element);
    }
    if (has_tail) {
      store_pieces(inst, raw, to, element);
    } else {
      store_piece(to, raw, lanes() * element);
    }
  }

  // The low bytes of 32-bit lanes side by side.
  Vec pack(Vec to, Vec codes, int element) {
    std::array<uint8_t, 32> order;
    for (int at = 0; at < 32; at++) {
      const int byte = at % 16;
      const bool is_taken = byte < 4 * element;
      order[static_cast<size_t>(at)] =
          is_taken ? static_cast<uint8_t>(byte / element * 4 + byte % element) : 0x80;
    }
    const auto size = static_cast<size_t>(to.size());
    const auto offset = static_cast<int32_t>(pool_.add({order.data(), size}));
    a_.emit(Id::kIdVpshufb, to, codes, x86::ptr(pool_label_, offset));
    if (to.isXmm()) return to;
    if (element == 2) {
      a_.vpermq(to, to, 0x08);
    } else {
      const Vec high = shared_temporary(16);
      extract_quarter(high, to);
      a_.vpunpckldq(to.xmm(), to.xmm(), high.xmm());
    }
    return to.xmm();
  }

  void gather_wide(const Inst& inst) override {
    const bool is_f64 = inst.lane == Lane::kF64;
    const int width = bytes(inst.lane);
    const Vec indices = use(inst.a, mask_bytes());
    const Vec left = temporary(width), work = temporary(width);  // the instruction clears `left`
    if (inst.count == kNoReg) {
      a_.vpcmpeqd(left, left, left);
    } else {
      const Vec mask = use(inst.mask, mask_bytes());
      is_f64 ? a_.vpmovsxdq(left, mask) : a_.vmovaps(left, mask);
    }
    a_.vxorps(work, work, work);
    a_.emit(is_f64 ? Id::kIdVgatherdpd : Id::kIdVgatherdps, work,
            x86::ptr(x86::rax, indices, is_f64 ? 3 : 2), left);
    move(define(inst.dst, width), work);
  }

  void replace_if_greater(Vec to, Vec x, uint32_t limit, const asmjit::Operand& value) override {
    const int width = static_cast<int>(x.size());
    const Vec mask = shared_temporary(width);
    a_.emit(Id::kIdVpcmpgtd, mask, x, splat32(limit, width));
    a_.emit(Id::kIdVblendvps, to, to, value, mask);
  }

  void replace_if_nan(Vec to, Vec x, Vec value) override {
    const Vec mask = shared_temporary(static_cast<int>(x.size()));
    a_.vcmpps(mask, x, x, float_comparison(Predicate::kUno));
    a_.vblendvps(to, to, value, mask);
  }
};

constexpr uint8_t kVectors[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

extern constinit const Backend kAvx2Backend = {
    .target = {.isa = "avx2", .vector_bytes = 32, .vector_registers = 16},
    .required = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kF16c),
    .registers = {kVectors, {}, kX86Gprs, true},
    .needs = avx2_needs,
    .emit = [](const Program& program, const Target& target, const Allocation& where) {
      return Avx2Emitter(program, target, where).run();
    }};

}  // namespace nrd::jit
