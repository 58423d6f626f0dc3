// SPDX-License-Identifier: MIT
// src/jit/a64_convert.cpp: elements of every dtype to lanes and back.
//
// An f8e5m2 code is the upper byte of an f16. An f8e4m3 code, its exponent and mantissa put where
// an f16 has them, is an f16 worth 2^-8 of it, subnormals included; only its NaN needs a hand.
// Narrowing follows base/float_format.h: what is not subnormal rounds in integers, what is rounds
// by adding a number whose last place is the smallest subnormal.
#include "jit/a64_emitter.h"

namespace nrd::jit {

// A floating-point format of eight bits, in f32's terms.
struct A64Narrow {
  int shift;                         // mantissa bits dropped
  uint32_t rebias;                   // difference of the biases
  uint32_t magic;                    // f32 whose last place is the smallest subnormal
  uint32_t overflow_code, nan_code;  // the first is one above the largest number's
};

namespace {

constexpr A64Narrow kNarrowF8E4M3 = {20, 120, 141u << 23, 0x7f, 0x7f};
constexpr A64Narrow kNarrowF8E5M2 = {21, 112, 134u << 23, 0x7c, 0x7e};

}  // namespace

void A64Emitter::widen(Vec to, DType dtype) {
  switch (dtype) {
    case DType::kF16: a_.fcvtl(to.s4(), to.h4()); return;
    case DType::kBF16: a_.shll(to.s4(), to.h4(), 16); return;
    case DType::kI8:
      a_.sxtl(to.h8(), to.b8());
      a_.sxtl(to.s4(), to.h4());
      return;
    case DType::kU8:
      a_.uxtl(to.h8(), to.b8());
      a_.uxtl(to.s4(), to.h4());
      return;
    case DType::kF8E5M2:
      a_.shll(to.h8(), to.b8(), 8);
      a_.fcvtl(to.s4(), to.h4());
      return;
    case DType::kF8E4M3: return decode_e4m3(to);
    default: return;  // as wide as a lane already
  }
}

void A64Emitter::decode_e4m3(Vec to) {
  const Vec carry = temporary(Lane::kF32);
  a_.sxtl(to.h8(), to.b8());
  a_.shl(to.h8(), to.h8(), 7);
  a_.bic(to.h8(), 0x40, 8);
  // Only a NaN carries into the bit above, which makes it a NaN of f16.
  a_.movi(carry.h8(), 0x80);
  a_.add(carry.h8(), carry.h8(), to.h8());
  a_.bic(carry.h8(), 0xbf, 8);
  a_.bic(carry.h8(), 0xff);
  a_.orr(to.b16(), to.b16(), carry.b16());
  a_.fcvtl(to.s4(), to.h4());
  set_splat32(carry, 0x43800000);
  a_.fmul(to.s4(), to.s4(), carry.s4());
}

a64::Vec A64Emitter::narrow(Vec a, DType dtype) {
  switch (dtype) {
    case DType::kF16: {
      const Vec codes = temporary(Lane::kF32);
      a_.fcvtn(codes.h4(), a.s4());
      return codes;
    }
    case DType::kBF16: return narrow_bf16(a);
    case DType::kI8:
    case DType::kU8: {
      const Vec codes = temporary(Lane::kI32);
      a_.xtn(codes.h4(), a.s4());
      a_.xtn(codes.b8(), codes.h8());
      return codes;
    }
    case DType::kF8E4M3: return narrow_f8(a, kNarrowF8E4M3);
    case DType::kF8E5M2: return narrow_f8(a, kNarrowF8E5M2);
    default: return a;
  }
}

a64::Vec A64Emitter::narrow_bf16(Vec a) {
  const Vec code = temporary(Lane::kF32), other = temporary(Lane::kF32);
  const Vec is_number = temporary(Lane::kF32);
  // To even: the lowest bit that stays, and just below a half.
  a_.shl(code, a, 15);
  a_.ushr(code, code, 31);
  a_.add(code, code, a);
  set_splat32(other, 0x7fff);
  a_.add(code, code, other);
  a_.fcmeq(is_number, a, a);
  move(other, a);
  a_.orr(other, 0x40, 16);  // quiet
  a_.bif(code.b16(), other.b16(), is_number.b16());
  a_.shrn(code.h4(), code.s4(), 16);
  return code;
}

a64::Vec A64Emitter::narrow_f8(Vec a, const A64Narrow& format) {
  const Vec magnitude = temporary(Lane::kF32), normal = temporary(Lane::kF32);
  const Vec code = temporary(Lane::kF32), work = temporary(Lane::kF32);
  const uint32_t half = (1u << (format.shift - 1)) - 1;
  const uint32_t smallest_normal = (format.rebias + 1) << 23;
  a_.fabs(magnitude, a);
  a_.shl(normal, magnitude, 31 - format.shift);
  a_.ushr(normal, normal, 31);
  a_.add(normal, normal, magnitude);
  set_splat32(work, half - (format.rebias << 23));
  a_.add(normal, normal, work);
  a_.ushr(normal, normal, format.shift);
  set_splat32(work, format.magic);
  a_.fadd(code, magnitude, work);
  a_.sub(code, code, work);
  set_splat32(work, smallest_normal);
  a_.cmge(work, magnitude, work);
  a_.bit(code.b16(), normal.b16(), work.b16());
  set_splat32(work, format.overflow_code);
  a_.smin(code, code, work);
  set_splat32(normal, format.nan_code);
  a_.fcmeq(work, a, a);
  a_.bif(code.b16(), normal.b16(), work.b16());
  a_.ushr(work, a, 31);
  a_.sli(code, work, 7);
  a_.xtn(code.h4(), code.s4());
  a_.xtn(code.b8(), code.h8());
  return code;
}

}  // namespace nrd::jit
