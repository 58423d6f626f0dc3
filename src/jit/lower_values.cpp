// SPDX-License-Identifier: MIT
// src/jit/lower_values.cpp: values as vectors and masks: leaves, arithmetic, functions.
//
// A product that only a sum uses becomes an fma, on every ISA alike.
#include <bit>

#include "jit/lowering.h"

namespace nrd::jit {
namespace {

constexpr uint64_t kOne = 0x3f800000;  // 1.0f

Op plain_op(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd: return Op::kAdd;
    case TraceOp::kSub: return Op::kSub;
    case TraceOp::kMul: return Op::kMul;
    case TraceOp::kSqrt: return Op::kSqrt;
    case TraceOp::kFloor: return Op::kFloor;
    case TraceOp::kCeil: return Op::kCeil;
    case TraceOp::kTrunc: return Op::kTrunc;
    case TraceOp::kRint: return Op::kRint;
    case TraceOp::kMaxFirst:
    case TraceOp::kMax: return Op::kMax;
    case TraceOp::kMinFirst:
    case TraceOp::kMin: return Op::kMin;
    case TraceOp::kAnd: return Op::kAnd;
    case TraceOp::kOr: return Op::kOr;
    case TraceOp::kXor: return Op::kXor;
    default: return Op::kReturn;
  }
}

}  // namespace

V Lowering::vector(ValueId id, int copy, V into) {
  const uint32_t known = vector_slot(id, copy);
  if (known != kNoReg) {
    if (into.valid() && into.id != known) return move(lane_of(id), V{known}, into);
    return {known};
  }
  const V v = compute(id, copy, into);
  // A leaf has a register of its own, whatever was asked for.
  if (into.valid() && v.id != into.id) return move(lane_of(id), v, into);
  bind(id, copy, v);
  return v;
}

V Lowering::compute(ValueId id, int copy, V into) {
  const Value& v = trace_[id];
  switch (v.op) {
    case TraceOp::kConst:
    case TraceOp::kParam:
    case TraceOp::kIv:
    case TraceOp::kCarry:
    case TraceOp::kResult: return leaf(v, id, copy);
    case TraceOp::kLoad: return load(id, copy, into);
    case TraceOp::kLookup: return lookup(id, copy);
    case TraceOp::kSelect:
      if (v.type == TraceType::kBool) break;
      return b_.select(lane_of(id), mask(v.args[0], copy), vector(v.args[1], copy),
                       vector(v.args[2], copy), into);
    case TraceOp::kToF32:
    case TraceOp::kToF64:
    case TraceOp::kToI32:
    case TraceOp::kBitcast: return convert(v, copy);
    case TraceOp::kRoundTo: return round_to(v, copy);
    default: break;
  }
  if (v.type == TraceType::kI64) return lanes_of_i64(v, id, copy);
  if (v.type == TraceType::kI32) return integer(v, copy, into);
  return arithmetic(id, copy, into);
}

V Lowering::leaf(const Value& v, ValueId id, int copy) {
  const Lane lane = lane_of(id);
  if (v.op == TraceOp::kConst) return b_.constant(lane, v.bits);
  if (v.op == TraceOp::kParam) {
    const TraceParam& param = trace_.params[v.index];
    const int n = ordinal_[v.index];
    if (param.kind == TraceParamKind::kNumber) {
      return b_.broadcast(param.dtype, lane, {b_.block(), {}, 1, layout_.number(n)});
    }
    if (param.kind == TraceParamKind::kInt) {
      return b_.constant(lane, static_cast<uint32_t>(binding_.ints[static_cast<size_t>(n)]));
    }
  }
  if (v.type == TraceType::kI64) return lanes_of_i64(v, id, copy);
  refuse("a carried value is used outside of its loop");
  return b_.constant(lane, 0);
}

V Lowering::arithmetic(ValueId id, int copy, V into) {
  const Value& v = trace_[id];
  const Lane lane = lane_of_type(v.type);
  auto arg = [&](size_t i) { return vector(v.args[i], copy); };
  switch (v.op) {
    case TraceOp::kAdd:
    case TraceOp::kSub: return sum(v, copy, into);
    case TraceOp::kMul: return b_.op2(Op::kMul, lane, arg(0), arg(1), into);
    case TraceOp::kFma: return b_.op3(Op::kFma, lane, arg(0), arg(1), arg(2), into);
    case TraceOp::kDiv: return divide(id, copy, into);
    case TraceOp::kNeg:
      return b_.op2(Op::kXor, lane, arg(0), bits_constant(lane, 1u << 31, 1ull << 63), into);
    case TraceOp::kAbs:
      return b_.op2(Op::kAnd, lane, arg(0), bits_constant(lane, ~0u >> 1, ~0ull >> 1), into);
    case TraceOp::kCopySign: {
      const V sign = bits_constant(lane, 1u << 31, 1ull << 63);
      const V magnitude = b_.op2(Op::kAndNot, lane, sign, arg(0));
      return b_.op2(Op::kOr, lane, magnitude, b_.op2(Op::kAnd, lane, arg(1), sign), into);
    }
    case TraceOp::kSqrt:
    case TraceOp::kFloor:
    case TraceOp::kCeil:
    case TraceOp::kTrunc:
    case TraceOp::kRint: return b_.op1(plain_op(v.op), lane, arg(0), into);
    case TraceOp::kMaxFirst:
    case TraceOp::kMinFirst: return b_.op2(plain_op(v.op), lane, arg(0), arg(1), into);
    case TraceOp::kMaxNan:
    case TraceOp::kMinNan:
    case TraceOp::kMaxNum:
    case TraceOp::kMinNum: return extremum(v, copy, into);
    default: return function(v, copy);
  }
}

bool Lowering::can_contract(ValueId id, int copy) const {
  const Value& v = trace_[id];
  if (v.op != TraceOp::kMul || v.type != TraceType::kF32 || a_.uses[id] != 1) return false;
  return vectors_[slot_of(id, copy)] == kNoReg;
}

V Lowering::sum(const Value& v, int copy, V into) {
  const Lane lane = lane_of_type(v.type);
  const bool is_sub = v.op == TraceOp::kSub;
  for (size_t i : {0, 1}) {
    const Value &one = trace_[v.args[i]], &other = trace_[v.args[1 - i]];
    const bool is_one = one.op == TraceOp::kConst && one.bits == kOne;
    const bool is_tanh = other.op == TraceOp::kTanh && a_.uses[v.args[1 - i]] == 1;
    if (!is_sub && lane == Lane::kF32 && is_one && is_tanh) {
      return math_one_plus_tanh(b_, vector(other.args[0], copy));
    }
  }
  const Value &a = trace_[v.args[0]], &b = trace_[v.args[1]];
  if (can_contract(v.args[0], copy)) {
    const V x = vector(a.args[0], copy), y = vector(a.args[1], copy);
    return b_.op3(is_sub ? Op::kFms : Op::kFma, lane, x, y, vector(v.args[1], copy), into);
  }
  if (can_contract(v.args[1], copy)) {
    const V x = vector(b.args[0], copy), y = vector(b.args[1], copy);
    return b_.op3(is_sub ? Op::kFnma : Op::kFma, lane, x, y, vector(v.args[0], copy), into);
  }
  return b_.op2(plain_op(v.op), lane, vector(v.args[0], copy), vector(v.args[1], copy), into);
}

V Lowering::divide(ValueId id, int copy, V into) {
  const Value& v = trace_[id];
  const Lane lane = lane_of_type(v.type);
  const V x = vector(v.args[0], copy);
  if (lane == Lane::kF32 && !is_exact_[id]) {
    for (const Divisor& d : divisors_) {
      if (d.value != v.args[1] || d.copy != (varies(v.args[1]) ? copy : 0)) continue;
      return math_divide(b_, x, d.by);
    }
  }
  return b_.op2(Op::kDiv, lane, x, vector(v.args[1], copy), into);
}

// kMax and kMin return their second operand where unordered, so a NaN in it wins by itself.
V Lowering::extremum(const Value& v, int copy, V into) {
  const Lane lane = lane_of_type(v.type);
  const bool is_max = v.op == TraceOp::kMaxNan || v.op == TraceOp::kMaxNum;
  const bool nan_wins = v.op == TraceOp::kMaxNan || v.op == TraceOp::kMinNan;
  const Op op = is_max ? Op::kMax : Op::kMin;
  const V a = vector(v.args[0], copy), b = vector(v.args[1], copy);
  if (nan_wins) {
    if (trace_[v.args[1]].op == TraceOp::kConst) return b_.op2(op, lane, b, a, into);
    if (trace_[v.args[0]].op == TraceOp::kConst) return b_.op2(op, lane, a, b, into);
    // Of a carried a and a new b, testing b keeps the test off the chain.
    const V best = b_.op2(op, lane, b, a);
    return b_.select(lane, b_.compare(Predicate::kUno, lane, b, b), b, best, into);
  }
  const V best = b_.op2(op, lane, a, b);
  return b_.select(lane, b_.compare(Predicate::kUno, lane, b, b), a, best, into);
}

V Lowering::function(const Value& v, int copy) {
  const Lane lane = lane_of_type(v.type);
  const V x = vector(v.args[0], copy);
  if (lane == Lane::kF32) {
    switch (v.op) {
      case TraceOp::kExp: return math_exp(b_, x);
      case TraceOp::kExp2: return math_exp2(b_, x);
      case TraceOp::kExpm1: return math_expm1(b_, x);
      case TraceOp::kLog: return math_log(b_, x);
      case TraceOp::kLog2: return math_log2(b_, x);
      case TraceOp::kLog10: return math_log10(b_, x);
      case TraceOp::kLog1p: return math_log1p(b_, x);
      case TraceOp::kTanh: return math_tanh(b_, x);
      case TraceOp::kErf: return math_erf(b_, x);
      case TraceOp::kSin: return math_sin(b_, x);
      case TraceOp::kCos: return math_cos(b_, x);
      case TraceOp::kPow: return math_pow(b_, x, vector(v.args[1], copy));
      default: break;
    }
  }
  if (lane == Lane::kF64 && v.op == TraceOp::kSin) return math_sin_f64(b_, x);
  if (lane == Lane::kF64 && v.op == TraceOp::kCos) return math_cos_f64(b_, x);
  const int helper = helper_number(v.op, lane);
  if (helper < 0) {
    refuse("there is no vector form of " + std::string(trace_op_word(v.op)));
    return x;
  }
  return b_.call_lanes(lane, helper, x, v.args[1] == kNoValue ? V{} : vector(v.args[1], copy));
}

V Lowering::bits_constant(Lane lane, uint64_t f32, uint64_t f64) {
  return b_.constant(lane, lane == Lane::kF64 ? f64 : f32);
}

// ---- conditions ----

M Lowering::mask(ValueId id, int copy) {
  const uint32_t known = vector_slot(id, copy);
  if (known != kNoReg) return {known};
  const M m = compute_mask(id, copy);
  bind(id, copy, V{m.id});
  return m;
}

M Lowering::compute_mask(ValueId id, int copy) {
  const Value& v = trace_[id];
  switch (v.op) {
    case TraceOp::kConst: return b_.mask_constant(v.bits != 0);
    case TraceOp::kCmp: return compare(v, copy);
    case TraceOp::kAnd:
      return b_.mask_op(Op::kMaskAnd, mask(v.args[0], copy), mask(v.args[1], copy));
    case TraceOp::kOr: return b_.mask_op(Op::kMaskOr, mask(v.args[0], copy), mask(v.args[1], copy));
    case TraceOp::kXor:
      return b_.mask_op(Op::kMaskXor, mask(v.args[0], copy), mask(v.args[1], copy));
    case TraceOp::kNot: return b_.mask_op(Op::kMaskNot, mask(v.args[0], copy));
    case TraceOp::kSelect: {
      const M m = mask(v.args[0], copy);
      const M yes = b_.mask_op(Op::kMaskAnd, m, mask(v.args[1], copy));
      const M no = b_.mask_op(Op::kMaskAnd, b_.mask_op(Op::kMaskNot, m), mask(v.args[2], copy));
      return b_.mask_op(Op::kMaskOr, yes, no);
    }
    default: break;
  }
  refuse("a condition is made by " + std::string(trace_op_word(v.op)));
  return b_.mask_constant(false);
}

M Lowering::compare(const Value& v, int copy) {
  const TraceType type = trace_[v.args[0]].type;
  if (type == TraceType::kI64) return compare_i64(v, copy);
  V x = vector(v.args[0], copy), y = vector(v.args[1], copy);
  Predicate p = v.predicate;
  if (p >= Predicate::kB) {  // unsigned: with the top bit flipped it is a signed order
    const V top = b_.constant(Lane::kI32, 1u << 31);
    x = b_.op2(Op::kXor, Lane::kI32, x, top);
    y = b_.op2(Op::kXor, Lane::kI32, y, top);
    constexpr Predicate kSigned[] = {Predicate::kLt, Predicate::kLe, Predicate::kGt,
                                     Predicate::kGe};
    p = kSigned[static_cast<int>(p) - static_cast<int>(Predicate::kB)];
  }
  return b_.compare(p, lane_of_type(type), x, y);
}

// The difference against 0, cut to what an i32 lane holds; sizes and counters are not negative, so
// unsigned order is the signed one.
M Lowering::compare_i64(const Value& v, int copy) {
  Predicate p = v.predicate;
  if (p >= Predicate::kB) {
    p = static_cast<Predicate>(static_cast<int>(Predicate::kLt) + static_cast<int>(p) -
                               static_cast<int>(Predicate::kB));
  }
  const V zero = b_.constant(Lane::kI32, 0);
  const Poly gap = poly_of(trace_, v.args[0]) - poly_of(trace_, v.args[1]);
  constexpr int64_t kLimit = int64_t{1} << 30;
  auto cut = [&](G g) {
    return b_.splat_gpr(b_.gop(Op::kGMax, b_.gop(Op::kGMin, g, kLimit), -kLimit));
  };
  if (at_.loop < 0 || !depends_on(gap, a_.varying[static_cast<size_t>(at_.loop)])) {
    return b_.compare(p, Lane::kI32, cut(scalar_of(gap)), zero);
  }
  const auto loop = static_cast<size_t>(at_.loop);
  const auto linear = linear_in(gap, trace_.loops[loop].iv, a_.varying[loop]);
  const auto step = linear ? linear->coefficient.as_constant() : std::nullopt;
  if (!step || std::abs(*step) > (1 << 20)) {
    return b_.compare(p, Lane::kI32, vector(v.args[0], copy), vector(v.args[1], copy));
  }
  const V first = cut(scalar_of(gap, copy));
  V lane = iota_;
  if (*step != 1) {
    lane =
        b_.op2(Op::kMul, Lane::kI32, lane, b_.constant(Lane::kI32, static_cast<uint32_t>(*step)));
  }
  return b_.compare(p, Lane::kI32, b_.op2(Op::kAdd, Lane::kI32, first, lane), zero);
}

}  // namespace nrd::jit
