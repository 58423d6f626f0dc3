// SPDX-License-Identifier: MIT
// src/jit/x86_convert.cpp: elements of every dtype to lanes, and bf16 and f8 codes from lanes.
//
// An f8e5m2 code is the upper byte of an f16. An f8e4m3 code, its exponent and mantissa put where
// an f16 has them, is an f16 worth 2^-8 of it, subnormals included; only its NaN needs a hand.
// Narrowing follows base/float_format.h: what is not subnormal rounds in integers, what is rounds
// by adding a number whose last place is the smallest subnormal.
#include <algorithm>

#include "jit/x86_emitter.h"

namespace nrd::jit {
namespace {

using Id = x86::Inst::Id;

constexpr X86Narrow kNarrowF8E4M3 = {20, 120, 141u << 23, 0x7e, 0x7f, 0x7f};
constexpr X86Narrow kNarrowF8E5M2 = {21, 112, 134u << 23, 0x7b, 0x7c, 0x7e};

// The register of as many 16-bit elements as `to` has 32-bit ones.
x86::Vec words_of(const x86::Vec& to) { return to.half(); }

}  // namespace

void X86Emitter::widen(Vec to, const asmjit::Operand& from, DType dtype, const x86::KReg* mask) {
  const auto first = [&](InstId id, const Vec& result, const asmjit::Operand& source) {
    if (mask != nullptr) a_.k(*mask).z();
    a_.emit(id, result, source);
  };
  switch (dtype) {
    case DType::kF16: first(Id::kIdVcvtph2ps, to, from); return;
    case DType::kBF16:
      first(Id::kIdVpmovzxwd, to, from);
      a_.vpslld(to, to, 16);
      return;
    case DType::kI8: first(Id::kIdVpmovsxbd, to, from); return;
    case DType::kU8: first(Id::kIdVpmovzxbd, to, from); return;
    case DType::kF8E4M3:
    case DType::kF8E5M2: break;
    case DType::kF64: first(Id::kIdVmovupd, to, from); return;
    default: first(Id::kIdVmovups, to, from); return;
  }
  const Vec words = words_of(to);
  asmjit::Operand source = from;
  if (lanes() == 4 && from.isMem()) {  // vpmovsxbw would read eight
    first(Id::kIdVmovd, words.xmm(), from);
    source = words.xmm();
  }
  if (dtype == DType::kF8E5M2) {
    first(Id::kIdVpmovzxbw, words, source);
    a_.vpsllw(words, words, 8);
    a_.vcvtph2ps(to, words);
  } else {
    first(Id::kIdVpmovsxbw, words, source);
    decode_e4m3(to, words);
  }
}

// The sign-extended code sits in each 16-bit element.
void X86Emitter::decode_e4m3(Vec to, Vec words) {
  const int width = static_cast<int>(words.size());
  const Vec carry = temporary(width);
  a_.vpsllw(words, words, 7);
  a_.emit(Id::kIdVandps, words, words, splat32(0xbf80bf80, width));
  // Only a NaN carries into the bit above, which makes it a NaN of f16.
  a_.emit(Id::kIdVpaddd, carry, words, splat32(0x00800080, width));
  a_.emit(Id::kIdVandps, carry, carry, splat32(0x40004000, width));
  a_.emit(Id::kIdVorps, words, words, carry);
  a_.vcvtph2ps(to, words);
  a_.emit(Id::kIdVmulps, to, to, splat32(0x43800000, static_cast<int>(to.size())));
}

void X86Emitter::broadcast(const Inst& inst) {
  const x86::Mem from = address(inst.mem);
  const Vec to = define(inst.dst, bytes(inst.lane));
  const Vec words = words_of(to);
  switch (inst.dtype) {
    case DType::kF64: a_.emit(to.isXmm() ? Id::kIdVmovddup : Id::kIdVbroadcastsd, to, from); return;
    case DType::kF16:
      a_.emit(Id::kIdVpbroadcastw, words, from);
      a_.vcvtph2ps(to, words);
      return;
    case DType::kBF16:
      a_.emit(Id::kIdVpbroadcastw, to, from);
      a_.vpslld(to, to, 16);
      return;
    case DType::kI8:
      a_.emit(Id::kIdVpbroadcastb, to, from);
      a_.vpsrad(to, to, 24);
      return;
    case DType::kU8:
      a_.emit(Id::kIdVpbroadcastb, to, from);
      a_.vpsrld(to, to, 24);
      return;
    case DType::kF8E5M2:
      a_.emit(Id::kIdVpbroadcastb, words, from);
      a_.vpsllw(words, words, 8);
      a_.vcvtph2ps(to, words);
      return;
    case DType::kF8E4M3:
      a_.emit(Id::kIdVpbroadcastb, words, from);
      a_.vpsraw(words, words, 8);
      decode_e4m3(to, words);
      return;
    default: a_.emit(Id::kIdVbroadcastss, to, from); return;
  }
}

x86::Vec X86Emitter::narrow(Vec a, DType dtype) {
  if (dtype == DType::kBF16) return narrow_bf16(a);
  return narrow_f8(a, dtype == DType::kF8E4M3 ? kNarrowF8E4M3 : kNarrowF8E5M2);
}

x86::Vec X86Emitter::narrow_bf16(Vec a) {
  const int width = static_cast<int>(a.size());
  const Vec code = temporary(width), nan = temporary(width);
  a_.vpsrld(code, a, 16);
  a_.emit(Id::kIdVandps, code, code, splat32(1, width));
  a_.vpaddd(code, code, a);
  a_.emit(Id::kIdVpaddd, code, code, splat32(0x7fff, width));
  a_.vpsrld(code, code, 16);
  a_.vpsrld(nan, a, 16);
  a_.emit(Id::kIdVorps, nan, nan, splat32(0x40, width));
  replace_if_nan(code, a, nan);
  return code;
}

x86::Vec X86Emitter::narrow_f8(Vec a, const X86Narrow& format) {
  const int width = static_cast<int>(a.size());
  const Vec magnitude = temporary(width), normal = temporary(width), code = temporary(width);
  const uint32_t half = (1u << (format.shift - 1)) - 1;
  a_.emit(Id::kIdVandps, magnitude, a, splat32(0x7fffffff, width));
  a_.vpsrld(normal, magnitude, format.shift);
  a_.emit(Id::kIdVandps, normal, normal, splat32(1, width));
  a_.vpaddd(normal, normal, magnitude);
  a_.emit(Id::kIdVpaddd, normal, normal, splat32(half - (format.rebias << 23), width));
  a_.vpsrld(normal, normal, format.shift);
  a_.emit(Id::kIdVaddps, code, magnitude, splat32(format.magic, width));
  a_.emit(Id::kIdVpsubd, code, code, splat32(format.magic, width));
  const uint32_t smallest_normal = (format.rebias + 1) << 23;
  replace_if_greater(code, magnitude, smallest_normal - 1, normal);
  replace_if_greater(code, code, format.max_code, splat32(format.overflow_code, width));
  replace_if_greater(code, magnitude, 0x7f800000, splat32(format.nan_code, width));
  a_.vpsrld(normal, a, 24);
  a_.emit(Id::kIdVandps, normal, normal, splat32(0x80, width));
  a_.emit(Id::kIdVorps, code, code, normal);
  return code;
}

}  // namespace nrd::jit
