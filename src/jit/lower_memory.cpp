// SPDX-License-Identifier: MIT
// src/jit/lower_memory.cpp: loads, lookups and stores.
//
// An element under a guard is touched only where the guard holds: guards become counts of lanes.
#include <bit>

#include "jit/lane_range.h"
#include "jit/lowering.h"

namespace nrd::jit {

V Lowering::load(ValueId id, int copy, V into) {
  const Value& v = trace_[id];
  const bool is_varying = varies(id);
  if (!is_varying) return uniform_load(id, into);
  const ValueId guard = v.args[1];
  if (guard == kNoValue) return vector_load(id, copy, at_.tail, into);
  const G all = at_.tail != nullptr ? at_.tail->count : b_.gconst(lanes_);
  const Tail tail = b_.tail(count_under(guard, copy, all));
  const V loaded = vector_load(id, copy, &tail, {});
  return b_.select(lane_of(id), tail.mask, loaded, vector(v.args[2], copy), into);
}

// A table that fits a register is looked up there, any other in memory behind the code.
V Lowering::lookup(ValueId id, int copy) {
  const Value& v = trace_[id];
  const TraceTable& table = trace_.tables[v.index];
  const auto last = static_cast<uint32_t>(table.elements.size() - 1);
  V index = vector(v.args[0], copy);
  if (!is_lane_within(trace_, v.args[0], last)) {
    index = b_.op2(Op::kMax, Lane::kI32, index, b_.constant(Lane::kI32, 0));
    index = b_.op2(Op::kMin, Lane::kI32, index, b_.constant(Lane::kI32, last));
  }
  const bool is_wide = table.type == TraceType::kF64;
  if (b_.target().has_tables && lanes_ == 16 && last < 16 && !is_wide) {
    std::array<float, 16> row{};
    for (size_t i = 0; i <= last; i++)
      row[i] = std::bit_cast<float>(static_cast<uint32_t>(table.elements[i]));
    return b_.lookup(index, row);
  }
  const DType dtype = is_wide                         ? DType::kF64
                      : table.type == TraceType::kF32 ? DType::kF32
                                                      : DType::kI32;
  const size_t size = byte_size(dtype);
  std::vector<uint8_t> bytes(table.elements.size() * size);
  for (size_t i = 0; i <= last; i++) std::memcpy(&bytes[i * size], &table.elements[i], size);
  return b_.gather(dtype, lane_of(id), {b_.gdata(bytes), {}, 1, 0}, index);
}

V Lowering::uniform_load(ValueId id, V into) {
  const Value& v = trace_[id];
  const DType dtype = dtype_of(v.index);
  const Mem mem = uniform_address(id);
  if (v.args[1] == kNoValue) return b_.broadcast(dtype, lane_of(id), mem, into);
  const Tail tail = b_.tail(count_under(v.args[1], 0, b_.gconst(1)));
  const V loaded = b_.splat(lane_of(id), b_.load(dtype, lane_of(id), mem, &tail));
  return b_.select(lane_of(id), mask(v.args[1], 0), loaded, vector(v.args[2], 0), into);
}

V Lowering::vector_load(ValueId id, int copy, const Tail* tail, V into) {
  const Value& v = trace_[id];
  const AccessPlan& plan = a_.access[id];
  const DType dtype = dtype_of(v.index);
  const Lane lane = lane_of(id);
  switch (plan.kind) {
    case AccessKind::kUnit:
      return b_.load(dtype, lane, linear_address(id, lane_offset(copy)), tail, into);
    case AccessKind::kPair: return pair_load(id, copy);
    case AccessKind::kStrided: {
      const G stride = scalar_of(plan.coefficient * Poly::constant(bytes_of(v.index)));
      return b_.load_strided(dtype, lane, linear_address(id, lane_offset(copy)), stride, tail);
    }
    case AccessKind::kBlock: {
      const int size = bytes_of(v.index);
      const G element = scalar_of(plan.coefficient, copy);
      const Mem mem{stream(v.index, plan.rest), element, size, plan.offset * size};
      return b_.broadcast(dtype, lane, mem, into);
    }
    case AccessKind::kGather: {
      const Mem mem{stream(v.index, plan.rest), {}, 1, plan.offset * bytes_of(v.index)};
      return b_.gather(dtype, lane, mem, lanes_of(plan.coefficient, copy), tail);
    }
    case AccessKind::kUniform: break;
  }
  // The same element in every lane, but loaded anew in each iteration.
  return uniform_load(id, into);
}

// Lanes of the two vectors that hold `count` pairs.
std::pair<Tail, Tail> Lowering::pair_tails() {
  const G elements = b_.gop(Op::kGShl, at_.tail->count, 1);
  const G low = b_.gop(Op::kGMin, elements, lanes_);
  const G high = b_.gop(Op::kGMax, b_.gop(Op::kGSub, elements, lanes_), 0);
  return {b_.tail(low), b_.tail(high)};
}

V Lowering::pair_load(ValueId id, int copy) {
  const AccessPlan& plan = a_.access[id];
  const ValueId even = plan.is_odd ? plan.partner : id;
  const ValueId odd = plan.is_odd ? id : plan.partner;
  const int param = trace_[id].index;
  const Lane lane = lane_of(id);
  const Mem low = linear_address(even, lane_offset(copy));
  Mem high = low;
  high.offset += static_cast<int64_t>(lanes_) * bytes_of(param);
  V a, b;
  if (at_.tail != nullptr) {
    const auto [first, second] = pair_tails();
    a = b_.load(dtype_of(param), lane, low, &first);
    b = b_.load(dtype_of(param), lane, high, &second);
  } else {
    a = b_.load(dtype_of(param), lane, low);
    b = b_.load(dtype_of(param), lane, high);
  }
  bind(even, copy, b_.op2(Op::kEven, lane, a, b));
  bind(odd, copy, b_.op2(Op::kOdd, lane, a, b));
  return {vector_slot(id, copy)};
}

void Lowering::store(ValueId id, int copy) {
  const Value& v = trace_[id];
  if (at_.loop < 0) return uniform_store(id);
  const AccessPlan& plan = a_.access[id];
  if (plan.kind == AccessKind::kPair) return pair_store(id, copy);
  const V value = vector(v.args[1], copy);
  const DType dtype = dtype_of(v.index);
  const Lane lane = lane_of(v.args[1]);
  const Mem mem = linear_address(id, lane_offset(copy));
  const Tail* tail = at_.tail;
  Tail guarded;
  if (v.args[2] != kNoValue) {
    const G all = tail != nullptr ? tail->count : b_.gconst(lanes_);
    guarded = b_.tail(count_under(v.args[2], copy, all));
    tail = &guarded;
  }
  if (plan.kind == AccessKind::kUnit) {
    return b_.store(dtype, lane, mem, value, tail, at_.bypasses_cache && tail == nullptr);
  }
  const G stride = scalar_of(plan.coefficient * Poly::constant(bytes_of(v.index)));
  b_.store_strided(dtype, lane, mem, stride, value, tail);
}

void Lowering::uniform_store(ValueId id) {
  const Value& v = trace_[id];
  const V value = vector(v.args[1], 0);
  G count = b_.gconst(1);
  if (v.args[2] != kNoValue) count = count_under(v.args[2], 0, count);
  const Tail tail = b_.tail(count);
  b_.store(dtype_of(v.index), lane_of(v.args[1]), uniform_address(id), value, &tail);
}

// The first of the two waits for the second.
void Lowering::pair_store(ValueId id, int copy) {
  const AccessPlan& plan = a_.access[id];
  if (vector_slot(plan.partner, copy) == kNoReg) {
    bind(id, copy, vector(trace_[id].args[1], copy));
    return;
  }
  const ValueId even = plan.is_odd ? plan.partner : id;
  const ValueId odd = plan.is_odd ? id : plan.partner;
  const int param = trace_[id].index;
  const Lane lane = lane_of(trace_[id].args[1]);
  const V x = vector(trace_[even].args[1], copy), y = vector(trace_[odd].args[1], copy);
  const V low = b_.op2(Op::kZipLow, lane, x, y);
  const V high = b_.op2(Op::kZipHigh, lane, x, y);
  const Mem at_low = linear_address(even, lane_offset(copy));
  Mem at_high = at_low;
  at_high.offset += static_cast<int64_t>(lanes_) * bytes_of(param);
  if (at_.tail == nullptr) {
    b_.store(dtype_of(param), lane, at_low, low);
    b_.store(dtype_of(param), lane, at_high, high);
    return;
  }
  const auto [first, second] = pair_tails();
  b_.store(dtype_of(param), lane, at_low, low, &first);
  b_.store(dtype_of(param), lane, at_high, high, &second);
}

}  // namespace nrd::jit
