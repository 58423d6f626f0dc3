// SPDX-License-Identifier: MIT
// src/jit/lower_index.cpp: i64 values in general-purpose registers, and addresses.
#include <bit>

#include "jit/lane_range.h"
#include "jit/lowering.h"

namespace nrd::jit {
namespace {

bool is_power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }
int log2_of(int64_t x) { return std::countr_zero(static_cast<uint64_t>(x)); }

Op scalar_op(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd: return Op::kGAdd;
    case TraceOp::kSub: return Op::kGSub;
    case TraceOp::kMul: return Op::kGMul;
    case TraceOp::kAnd: return Op::kGAnd;
    case TraceOp::kMin: return Op::kGMin;
    case TraceOp::kMax: return Op::kGMax;
    default: return Op::kReturn;
  }
}

}  // namespace

G Lowering::scalar(ValueId id, int copy) {
  if (const uint32_t reg = scalar_slot(id, copy); reg != kNoReg) return {reg};
  const G g = compute_scalar(id, copy);
  const size_t slot = slot_of(id, copy);
  scalars_[slot] = g.id;
  log_.push_back(slot);
  return g;
}

G Lowering::compute_scalar(ValueId id, int copy) {
  const Value& v = trace_[id];
  switch (v.op) {
    case TraceOp::kConst: return b_.gconst(static_cast<int64_t>(v.bits));
    case TraceOp::kParam: return b_.gload({b_.block(), {}, 1, layout_.size(ordinal_[v.index])});
    case TraceOp::kIv: {
      const int offset = lane_offset(copy);
      return offset == 0 ? at_.iv : b_.gop(Op::kGAdd, at_.iv, offset);
    }
    case TraceOp::kAdd:
    case TraceOp::kSub:
    case TraceOp::kMul:
    case TraceOp::kAnd:
    case TraceOp::kMin:
    case TraceOp::kMax:
      return b_.gop(scalar_op(v.op), scalar(v.args[0], copy), scalar(v.args[1], copy));
    case TraceOp::kNeg: return b_.gop(Op::kGSub, b_.gconst(0), scalar(v.args[0], copy));
    case TraceOp::kDivFloor:
    case TraceOp::kModFloor: return scalar_quotient(v, copy);
    case TraceOp::kShl:
    case TraceOp::kSar: {
      const auto by = poly_of(trace_, v.args[1]).as_constant();
      if (!by) break;
      const Op op = v.op == TraceOp::kShl ? Op::kGShl : Op::kGSar;
      return b_.gop(op, scalar(v.args[0], copy), *by);
    }
    case TraceOp::kSelect: {
      const G all = b_.glane(b_.mask_to_vector(mask(v.args[0], copy)));  // -1 or 0
      const G no = scalar(v.args[2], copy);
      const G gap = b_.gop(Op::kGSub, scalar(v.args[1], copy), no);
      return b_.gop(Op::kGAdd, no, b_.gop(Op::kGAnd, gap, all));
    }
    case TraceOp::kToI64:
    case TraceOp::kUToI64: {
      if (trace_[v.args[0]].type != TraceType::kI32) break;
      const G g = b_.glane(vector(v.args[0], copy));
      return v.op == TraceOp::kToI64 ? g : b_.gop(Op::kGAnd, g, b_.gconst(0xffffffff));
    }
    case TraceOp::kCarry:
    case TraceOp::kResult:
      return b_.glane(vector(id, copy));  // an index that a vector loop carried
    default: break;
  }
  refuse("a 64-bit integer is made by " + std::string(trace_op_word(v.op)));
  return b_.gconst(0);
}

// kGDiv has no signs. floor(a / b) of a negative a is ~(~a / b); `flip` is -1 there.
Lowering::Quotient Lowering::scalar_divide(ValueId dividend, ValueId divisor, int copy) {
  const G a = scalar(dividend, copy);
  Quotient q{.divisor = scalar(divisor, copy)};
  const auto by = poly_of(trace_, divisor).as_constant();
  const bool is_positive = by && *by > 0;
  if (!is_positive) {
    // The magnitude (of -2^63 too), and 1 in the place of 0: code that is hoisted out of a loop
    // divides even where the loop runs nothing.
    const G b = q.divisor;
    q.sign = b_.gop(Op::kGMax, b_.gop(Op::kGMin, b, 1), -1);
    const G one_for_zero = b_.gop(Op::kGSub, b_.gconst(1), b_.gop(Op::kGMul, q.sign, q.sign));
    q.divisor = b_.gop(Op::kGAdd, b_.gop(Op::kGMul, b, q.sign), one_for_zero);
  }
  if (is_never_negative(trace_, dividend)) {
    q.quotient = b_.gop(Op::kGDiv, a, q.divisor);
  } else {
    const G flip = b_.gop(Op::kGSar, a, 63);
    q.quotient = flipped(b_.gop(Op::kGDiv, flipped(a, flip), q.divisor), flip);
  }
  q.remainder = b_.gop(Op::kGSub, a, b_.gop(Op::kGMul, q.quotient, q.divisor));
  return q;
}

G Lowering::scalar_quotient(const Value& v, int copy) {
  const auto by = poly_of(trace_, v.args[1]).as_constant();
  const bool is_mod = v.op == TraceOp::kModFloor;
  if (by && is_power_of_two(*by)) {
    const G a = scalar(v.args[0], copy);
    return is_mod ? b_.gop(Op::kGAnd, a, *by - 1) : b_.gop(Op::kGSar, a, log2_of(*by));
  }
  const Quotient q = scalar_divide(v.args[0], v.args[1], copy);
  if (is_mod) return q.remainder;
  return q.sign.valid() ? b_.gop(Op::kGMul, q.quotient, q.sign) : q.quotient;
}

// ~x where flip is -1, x where it is 0.
G Lowering::flipped(G x, G flip) {
  const G inverse = b_.gop(Op::kGSub, b_.gconst(-1), x);
  return b_.gop(Op::kGAdd, x, b_.gop(Op::kGAnd, b_.gop(Op::kGSub, inverse, x), flip));
}

G Lowering::product_of(const PolyTerm& term, int copy) {
  G product;
  for (ValueId atom : term.factors()) {
    const G factor = scalar(atom, copy);
    product = product.valid() ? b_.gop(Op::kGMul, product, factor) : factor;
  }
  return product;
}

G Lowering::scalar_of(const Poly& poly, int copy) {
  G sum;
  int64_t constant = 0;
  for (const PolyTerm& term : poly.terms()) {
    if (term.degree == 0) {
      constant = term.coefficient;
      continue;
    }
    G part = product_of(term, copy);
    const bool is_negated = term.coefficient == -1 && sum.valid();
    if (is_power_of_two(term.coefficient) && term.coefficient != 1) {
      part = b_.gop(Op::kGShl, part, log2_of(term.coefficient));
    } else if (term.coefficient != 1 && !is_negated) {
      part = b_.gop(Op::kGMul, part, term.coefficient);
    }
    if (!sum.valid()) {
      sum = part;
    } else {
      sum = b_.gop(is_negated ? Op::kGSub : Op::kGAdd, sum, part);
    }
  }
  if (!sum.valid()) return b_.gconst(constant);
  return constant == 0 ? sum : b_.gop(Op::kGAdd, sum, constant);
}

// ---- addresses ----

G Lowering::stream(int param, const Poly& rest) {
  if (rest.is_zero()) return base(param);
  for (const Stream& s : streams_) {
    if (s.param == param && s.rest == rest) return s.pointer;
  }
  const G elements = scalar_of(rest);
  const G pointer = b_.gaddress({base(param), elements, bytes_of(param), 0});
  streams_.push_back({param, rest, pointer});
  return pointer;
}

// Of an element that is the same in every lane.
Mem Lowering::uniform_address(ValueId id) {
  const int param = trace_[id].index;
  const Poly index = poly_of(trace_, trace_[id].args[0]);
  if (const auto fixed = index.as_constant()) {
    return {base(param), {}, 1, *fixed * bytes_of(param)};
  }
  return {base(param), scalar_of(index), bytes_of(param), 0};
}

// Of the element of lane `extra` of copy 0, for an index that is linear in the counter.
Mem Lowering::linear_address(ValueId id, int64_t extra) {
  const AccessPlan& plan = a_.access[id];
  const int param = trace_[id].index;
  const int64_t size = bytes_of(param);
  const G pointer = stream(param, plan.rest);
  const auto step = plan.coefficient.as_constant();
  if (step && (*step == 1 || *step == 2) && *step * size <= 8) {
    return {pointer, at_.iv, static_cast<int>(*step * size), (plan.offset + *step * extra) * size};
  }
  const G lane = extra == 0 ? at_.iv : b_.gop(Op::kGAdd, at_.iv, extra);
  const G elements =
      step ? b_.gop(Op::kGMul, lane, *step) : b_.gop(Op::kGMul, lane, scalar_of(plan.coefficient));
  return {pointer, elements, static_cast<int>(size), plan.offset * size};
}

// How many of the first `count` lanes a guard lets through.
G Lowering::count_under(ValueId guard, int copy, G count) {
  if (!varies(guard)) {
    const G all = b_.glane(b_.mask_to_vector(mask(guard, 0)));
    return b_.gop(Op::kGAnd, all, count);
  }
  bool understood = true;
  for (const Prefix& prefix : a_.prefixes(guard, static_cast<uint16_t>(at_.loop), understood)) {
    G bound = scalar_of(prefix.bound);
    if (prefix.divisor != 1) {
      bound = b_.gop(Op::kGMax, b_.gop(Op::kGAdd, bound, prefix.divisor - 1), 0);
      bound = b_.gop(Op::kGDiv, bound, prefix.divisor);
    }
    const G rest = b_.gop(Op::kGSub, b_.gop(Op::kGSub, bound, at_.iv), lane_offset(copy));
    count = b_.gop(Op::kGMax, b_.gop(Op::kGMin, count, rest), 0);
  }
  return count;
}

}  // namespace nrd::jit
