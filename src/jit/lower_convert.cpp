// SPDX-License-Identifier: MIT
// src/jit/lower_convert.cpp: integers in lanes, conversions, round_to.
//
// An i64 value that differs from lane to lane is an index or a counter; it fits in 31 bits.
#include <algorithm>
#include <bit>

#include "jit/lane_range.h"
#include "jit/lowering.h"

namespace nrd::jit {
namespace {

Op bit_op(TraceOp op) {
  if (op == TraceOp::kAnd) return Op::kAnd;
  return op == TraceOp::kOr ? Op::kOr : Op::kXor;
}

// Below this f32 holds every quotient of small numbers exactly enough to round down.
constexpr int64_t kSmall = int64_t{1} << 20;

}  // namespace

V Lowering::integer(const Value& v, int copy, V into) {
  auto arg = [&](size_t i) { return vector(v.args[i], copy); };
  const V zero = b_.constant(Lane::kI32, 0);
  switch (v.op) {
    case TraceOp::kAdd: return b_.op2(Op::kAdd, Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kSub: return b_.op2(Op::kSub, Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kMul: return b_.op2(Op::kMul, Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kMin: return b_.op2(Op::kMin, Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kMax: return b_.op2(Op::kMax, Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kNeg: return b_.op2(Op::kSub, Lane::kI32, zero, arg(0), into);
    case TraceOp::kAbs: {
      const V x = arg(0);
      return b_.op2(Op::kMax, Lane::kI32, x, b_.op2(Op::kSub, Lane::kI32, zero, x), into);
    }
    case TraceOp::kAnd:
    case TraceOp::kOr:
    case TraceOp::kXor: return b_.op2(bit_op(v.op), Lane::kI32, arg(0), arg(1), into);
    case TraceOp::kShl:
    case TraceOp::kShr:
    case TraceOp::kSar: return shift(v, copy);
    case TraceOp::kDivFloor:
    case TraceOp::kModFloor: {
      const Value& by = trace_[v.args[1]];
      const auto divisor = static_cast<uint32_t>(by.bits);
      const bool is_power = by.op == TraceOp::kConst && std::has_single_bit(divisor) &&
                            divisor >> 31 == 0 && divisor == by.bits;
      if (!is_power) return quotient_of_lanes(v, copy);
      if (v.op == TraceOp::kDivFloor) return b_.shift(Op::kSar, arg(0), std::countr_zero(divisor));
      return b_.op2(Op::kAnd, Lane::kI32, arg(0), b_.constant(Lane::kI32, divisor - 1), into);
    }
    default: break;
  }
  refuse("an integer in lanes is made by " + std::string(trace_op_word(v.op)));
  return zero;
}

// Along the counter one division serves a vector: lane l is step * l further than lane 0, and what
// its remainder has left over is a small quotient. Others go lane by lane.
V Lowering::quotient_of_lanes(const Value& v, int copy) {
  const Lane lane = Lane::kI32;
  std::optional<int64_t> step;
  if (v.type == TraceType::kI64 && at_.loop >= 0 && !varies(v.args[1])) {
    const auto loop = static_cast<size_t>(at_.loop);
    const auto linear =
        linear_in(poly_of(trace_, v.args[0]), trace_.loops[loop].iv, a_.varying[loop]);
    if (linear) step = linear->coefficient.as_constant();
  }
  if (!step || *step <= 0 || *step * lanes_ >= kSmall) {
    return b_.call_lanes(lane, helper_number(v.op, lane), vector(v.args[0], copy),
                         vector(v.args[1], copy));
  }
  const Quotient q = scalar_divide(v.args[0], v.args[1], copy);
  const V ahead =
      *step == 1 ? iota_
                 : b_.op2(Op::kMul, lane, iota_, b_.constant(lane, static_cast<uint32_t>(*step)));
  // (r + ahead) / d is (r + ahead - d) / d + 1; where d is large that is -1 or 0, plus 1.
  // Here 2^63, which looks negative, is as good as 2^63 - 1.
  const G below = b_.gop(Op::kGAdd, q.divisor, b_.gop(Op::kGSar, q.divisor, 63));
  const G small = b_.gop(Op::kGMin, below, kSmall);
  const G missing = b_.gop(Op::kGMax, b_.gop(Op::kGSub, q.remainder, q.divisor), -2 * kSmall);
  const V over = b_.op2(Op::kMax, lane, b_.op2(Op::kAdd, lane, b_.splat_gpr(missing), ahead),
                        b_.splat_gpr(b_.gop(Op::kGSub, b_.gconst(0), small)));
  const V ratio = b_.op2(Op::kDiv, Lane::kF32, b_.op1(Op::kI32ToF32, Lane::kF32, over),
                         b_.op1(Op::kI32ToF32, Lane::kF32, b_.splat_gpr(small)));
  const V down = b_.op1(Op::kF32ToI32, lane, b_.op1(Op::kFloor, Lane::kF32, ratio));
  const V more = b_.op2(Op::kAdd, lane, down, b_.constant(lane, 1));
  if (v.op == TraceOp::kModFloor) {
    const V whole = b_.op2(Op::kAdd, lane, b_.splat_gpr(q.remainder), ahead);
    return b_.op2(Op::kSub, lane, whole, b_.op2(Op::kMul, lane, more, b_.splat_gpr(q.divisor)));
  }
  const V quotient = b_.op2(Op::kAdd, lane, b_.splat_gpr(q.quotient), more);
  return q.sign.valid() ? b_.op2(Op::kMul, lane, quotient, b_.splat_gpr(q.sign)) : quotient;
}

// An i64 is an i32 here: from 32 places on a shift to the right leaves what 31 leave, its sign.
V Lowering::shift(const Value& v, int copy) {
  const bool is_wide = v.type == TraceType::kI64;
  const uint32_t most = is_wide ? 63 : 31;
  const Value& by = trace_[v.args[1]];
  const V x = vector(v.args[0], copy);
  if (by.op == TraceOp::kConst) {
    const Op op = v.op == TraceOp::kShl ? Op::kShl : v.op == TraceOp::kShr ? Op::kShr : Op::kSar;
    return b_.shift(op, x, std::min(31, static_cast<int>(by.bits & most)));
  }
  if (is_wide && v.op == TraceOp::kShl) refuse("an i64 is shifted up by a count of run time");
  const Op op = v.op == TraceOp::kShl ? Op::kShlV : v.op == TraceOp::kShr ? Op::kShrV : Op::kSarV;
  V count = b_.op2(Op::kAnd, Lane::kI32, vector(v.args[1], copy), b_.constant(Lane::kI32, most));
  if (is_wide) count = b_.op2(Op::kMin, Lane::kI32, count, b_.constant(Lane::kI32, 31));
  return b_.op2(op, Lane::kI32, x, count);
}

V Lowering::lanes_of_i64(const Value& v, ValueId id, int copy) {
  if (!varies(id)) return b_.splat_gpr(scalar(id));
  if (v.op == TraceOp::kIv) {
    return b_.op2(Op::kAdd, Lane::kI32, b_.splat_gpr(scalar(id, copy)), iota_);
  }
  if (!fits_in_lane(trace_, id)) {
    refuse("64-bit arithmetic on data may need more than 31 bits");
    return b_.constant(Lane::kI32, 0);
  }
  if (v.op == TraceOp::kToI64 || v.op == TraceOp::kUToI64) return vector(v.args[0], copy);
  return integer(v, copy, {});
}

// Terms of at most one factor.
V Lowering::lanes_of(const Poly& poly, int copy) {
  V sum = b_.constant(Lane::kI32, 0);
  bool is_first = true;
  for (const PolyTerm& term : poly.terms()) {
    const V factor = b_.constant(Lane::kI32, static_cast<uint32_t>(term.coefficient));
    V part = factor;
    if (term.degree == 1) {
      part = vector(term.atoms[0], copy);
      if (term.coefficient != 1) part = b_.op2(Op::kMul, Lane::kI32, part, factor);
    }
    sum = is_first ? part : b_.op2(Op::kAdd, Lane::kI32, sum, part);
    is_first = false;
  }
  return sum;
}

// A uniform i64 may need more than 31 bits: its two halves are exact, and one fma rounds.
V Lowering::from_i64(ValueId id, int copy, Lane lane) {
  const Op op = lane == Lane::kF32 ? Op::kI32ToF32 : Op::kI32ToF64;
  const Value& v = trace_[id];
  const bool is_small = v.op == TraceOp::kIv ||
                        (v.op == TraceOp::kToI64 && trace_[v.args[0]].type == TraceType::kI32);
  if (varies(id) || is_small) return b_.op1(op, lane, vector(id, copy));
  const G g = scalar(id);
  const V high = b_.op1(op, lane, b_.splat_gpr(b_.gop(Op::kGSar, g, 24)));
  const V low = b_.op1(op, lane, b_.splat_gpr(b_.gop(Op::kGAnd, g, 0xffffff)));
  const V unit =
      bits_constant(lane, std::bit_cast<uint32_t>(0x1p24f), std::bit_cast<uint64_t>(0x1p24));
  return b_.op3(Op::kFma, lane, high, unit, low);
}

V Lowering::convert(const Value& v, int copy) {
  const ValueId from_id = v.args[0];
  const TraceType from = trace_[from_id].type;
  const Lane lane = lane_of_type(v.type);
  if (v.op == TraceOp::kBitcast && (from == TraceType::kF64 || from == TraceType::kI64)) {
    refuse("64-bit values are taken for bits");
  }
  if (v.op == TraceOp::kBitcast) return vector(from_id, copy);
  if (from == TraceType::kI64) {
    if (v.op == TraceOp::kToI32) return vector(from_id, copy);
    return from_i64(from_id, copy, lane);
  }
  const V x = vector(from_id, copy);
  if (v.op == TraceOp::kToI32) {
    return b_.op1(from == TraceType::kF64 ? Op::kF64ToI32 : Op::kF32ToI32, Lane::kI32, x);
  }
  if (from == TraceType::kI32) {
    return b_.op1(lane == Lane::kF32 ? Op::kI32ToF32 : Op::kI32ToF64, lane, x);
  }
  return b_.op1(lane == Lane::kF32 ? Op::kF64ToF32 : Op::kF32ToF64, lane, x);
}

V Lowering::round_to(const Value& v, int copy) {
  const Value& type = trace_[v.args[1]];
  int number = 0;
  if (type.op == TraceOp::kConst) {
    number = static_cast<int>(type.bits);
  } else if (type.op == TraceOp::kParam) {
    number = binding_.ints[static_cast<size_t>(ordinal_[type.index])];
  }
  const auto dtype = static_cast<DType>(number);
  const V x = vector(v.args[0], copy);
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3:
    case DType::kF8E5M2: return math_round_to(b_, x, dtype);
    default: break;
  }
  refuse("a value is rounded to " + std::string(word(dtype)));
  return x;
}

}  // namespace nrd::jit
