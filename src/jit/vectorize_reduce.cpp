// SPDX-License-Identifier: MIT
// src/jit/vectorize_reduce.cpp: vector loops that carry sums, products, extrema and their indices.
//
// One order of operations for every ISA and thread count: element i of a chunk of 16384 belongs to
// virtual lane i mod 64 (f64: i mod 16), however many registers hold those lanes; a chunk's lanes
// are combined as a tree (distances 32, 16, ... 1), chunks in index order onto what was before.
#include <algorithm>

#include "jit/lowering.h"

namespace nrd::jit {
namespace {

constexpr int kVirtualLanes = 64, kVirtualLanesF64 = 16;

}  // namespace

std::vector<Lowering::Accumulator> Lowering::accumulators(uint16_t number) {
  const TraceLoop& l = trace_.loops[number];
  std::vector<Accumulator> sums;
  for (size_t i = 0; i < l.carries.size(); i++) {
    const LoopCarry& c = l.carries[i];
    if (!a_.is_live(c.carry)) continue;
    const CarryInfo& info = a_.carries[number][i];
    if (info.kind == CarryKind::kConstant) {
      bind(c.carry, 0, vector(c.init, 0));
      bind(c.result, 0, vector(c.init, 0));
      continue;
    }
    const Lane lane = lane_of(c.carry);
    // An index has as many lanes as the extremum it goes with.
    const size_t decides = info.extremum >= 0 ? static_cast<size_t>(info.extremum) : i;
    const bool is_f64 = lane_of(l.carries[decides].carry) == Lane::kF64;
    const int parts = (is_f64 ? kVirtualLanesF64 : kVirtualLanes) / lanes_;
    Accumulator sum{i, lane, move(lane, vector(c.init, 0)), {}};
    for (int k = 0; k < parts; k++) sum.parts.push_back(b_.new_vector());
    sums.push_back(std::move(sum));
  }
  return sums;
}

void Lowering::reduce_loop(uint16_t number) {
  // The lanes of a nest of extrema are set and combined around the nest.
  std::vector<Accumulator> own;
  std::vector<Accumulator>& sums = shared_sums_ != nullptr ? *shared_sums_ : own;
  if (shared_sums_ == nullptr) own = accumulators(number);
  hoist_out_of(number, false);
  G iv, end;
  begin_counter(number, iv, end);
  const Label top = b_.label(), done = b_.label();
  b_.branch(Predicate::kGe, iv, end, done);
  const Mark outside = mark();
  hoist_out_of(number, true);
  if (shared_sums_ != nullptr) {
    reduce_chunk(number, iv, end, sums);
  } else {
    b_.loop_begin();
    b_.bind(top);
    const G chunk_end = b_.gop(Op::kGMin, b_.gop(Op::kGAdd, iv, kReductionChunk), end);
    seed(number, sums);
    reduce_chunk(number, iv, chunk_end, sums);
    fold(number, sums);
    b_.branch(Predicate::kLt, iv, end, top);
    b_.loop_end();
  }
  forget(outside);
  b_.bind(done);
  bind_results(number, own);
}

void Lowering::bind_results(uint16_t number, const std::vector<Accumulator>& sums) {
  for (const Accumulator& sum : sums) {
    const V result = one_zero(a_.carries[number][sum.carry].kind, sum.lane, sum.so_far);
    bind(trace_.loops[number].carries[sum.carry].result, 0, result);
  }
}

// Which of two equal zeros an extremum keeps depends on how its elements were shared out, so it
// keeps neither: its zero is +0.
V Lowering::one_zero(CarryKind kind, Lane lane, V extremum) {
  if (!is_extremum(kind) || lane == Lane::kI32) return extremum;
  return b_.op2(Op::kAdd, lane, extremum, b_.constant(lane, 0));
}

// Extrema start from what is known already: it does not matter how often it is counted.
void Lowering::seed(uint16_t number, const std::vector<Accumulator>& sums) {
  for (const Accumulator& sum : sums) {
    const CarryKind kind = a_.carries[number][sum.carry].kind;
    V first = sum.so_far;
    if (kind == CarryKind::kSum) first = b_.constant(sum.lane, 0);
    if (kind == CarryKind::kProduct) {
      const uint64_t one = sum.lane == Lane::kI32 ? 1 : 0x3f800000;
      first = bits_constant(sum.lane, one, 0x3ff0000000000000);
    }
    for (V part : sum.parts) move(sum.lane, first, part);
  }
}

// Leaves the counter at the chunk's end.
void Lowering::reduce_chunk(uint16_t number, G iv, G end, std::vector<Accumulator>& sums) {
  const Label top = b_.label(), rest = b_.label(), done = b_.label();
  const int steps = kVirtualLanes / lanes_;
  const G last = b_.gop(Op::kGSub, end, kVirtualLanes);
  b_.branch(Predicate::kGt, iv, last, rest);
  LoadsAhead ahead = loads_ahead(number, iv, steps);
  b_.loop_begin();
  b_.bind(top);
  load_next(ahead, iv, last);
  for (int k = 0; k < steps; k++)
    reduce_step(number, {number, iv, 1, k, nullptr, false, &ahead}, sums);
  advance(ahead);
  b_.gop(Op::kGAdd, iv, kVirtualLanes, iv);
  b_.branch(Predicate::kLe, iv, last, top);
  b_.loop_end();
  b_.bind(rest);

  const G left = b_.gop(Op::kGSub, end, iv);
  for (int k = 0; k < steps; k++) {
    b_.branch(Predicate::kLe, left, k * lanes_, done);
    const G here = k == 0 ? left : b_.gop(Op::kGSub, left, k * lanes_);
    const G count = b_.gop(Op::kGMin, here, lanes_);
    const Tail tail = b_.tail(count);
    reduce_step(number, {number, iv, 1, k, &tail, false}, sums);
  }
  b_.bind(done);
  b_.gmove(end, iv);
}

void Lowering::reduce_step(uint16_t number, const VectorLoop& at, std::vector<Accumulator>& sums) {
  const TraceLoop& l = trace_.loops[number];
  const Mark inside = mark();
  at_ = at;
  bind_loads_ahead();
  auto part_of = [&](const Accumulator& sum) {
    return sum.parts[static_cast<size_t>(at.first) % sum.parts.size()];
  };
  bool has_index = false;
  for (const Accumulator& sum : sums) {
    bind(l.carries[sum.carry].carry, 0, part_of(sum));
    has_index |= a_.carries[number][sum.carry].kind == CarryKind::kArg;
  }
  statements(l.body);
  if (at.tail == nullptr && !has_index) {
    for (const Accumulator& sum : sums) vector(l.carries[sum.carry].next, 0, part_of(sum));
  } else {
    std::vector<V> next;
    for (const Accumulator& sum : sums) next.push_back(vector(l.carries[sum.carry].next, 0));
    for (size_t i = 0; i < sums.size(); i++) {
      const V part = part_of(sums[i]);
      if (at.tail == nullptr) {
        move(sums[i].lane, next[i], part);
      } else {
        b_.select(sums[i].lane, at.tail->mask, next[i], part, part);
      }
    }
  }
  at_ = {};
  forget(inside);
}

// ---- extrema of a matrix ----

// A counted loop that only hands extrema through the one vector loop inside it. They do not depend
// on the order, so their lanes are combined once, behind the whole nest.
bool Lowering::is_nest_of_extrema(uint16_t number) const {
  if (at_.loop >= 0 || shared_sums_ != nullptr) return false;
  const TraceLoop& l = trace_.loops[number];
  int inner = -1;
  for (ValueId id : l.body) {
    if (trace_[id].op != TraceOp::kLoop || !a_.is_live_loop(trace_[id].index)) continue;
    if (inner >= 0) return false;
    inner = trace_[id].index;
  }
  if (inner < 0 || a_.loops[static_cast<size_t>(inner)].form != LoopForm::kReduce) return false;
  const std::vector<LoopCarry>& within = trace_.loops[static_cast<size_t>(inner)].carries;
  bool carries_any = false;
  if (l.carries.size() != within.size()) return false;
  for (size_t i = 0; i < l.carries.size(); i++) {
    const LoopCarry& c = l.carries[i];
    const CarryKind kind = a_.carries[number][i].kind;
    if (!a_.is_live(c.carry) || !is_extremum(kind)) return false;
    if (within[i].init != c.carry || c.next != within[i].result) return false;
    if (a_.uses[c.carry] != 1 || a_.uses[c.next] != 1) return false;
    carries_any = true;
  }
  return carries_any;
}

void Lowering::reduce_nest(uint16_t number) {
  std::vector<Accumulator> sums = accumulators(number);
  seed(number, sums);
  shared_sums_ = &sums;
  iterate(number, {});
  shared_sums_ = nullptr;
  fold(number, sums);
  bind_results(number, sums);
}

// ---- the tree ----

void Lowering::fold(uint16_t number, std::vector<Accumulator>& sums) {
  std::vector<Group> groups;
  for (Accumulator& sum : sums) {
    const CarryInfo& info = a_.carries[number][sum.carry];
    if (info.kind != CarryKind::kArg) groups.push_back({&sum});
  }
  for (Accumulator& sum : sums) {
    const CarryInfo& info = a_.carries[number][sum.carry];
    if (info.kind != CarryKind::kArg) continue;
    for (Group& group : groups) {
      if (group[0]->carry == static_cast<size_t>(info.extremum)) group.push_back(&sum);
    }
  }
  for (const Group& group : groups) {
    std::vector<std::vector<V>> parts(group[0]->parts.size());
    for (size_t k = 0; k < parts.size(); k++) {
      for (const Accumulator* sum : group) parts[k].push_back(sum->parts[k]);
    }
    for (size_t half = parts.size() / 2; half > 0; half /= 2) {
      for (size_t k = 0; k < half; k++) {
        parts[k] = combine(number, group, parts[k], parts[k + half]);
      }
    }
    std::vector<V> total = parts[0];
    for (int distance = lanes_ / 2; distance > 0; distance /= 2) {
      std::vector<V> other;
      for (size_t i = 0; i < group.size(); i++) {
        other.push_back(b_.fold(group[i]->lane, total[i], distance));
      }
      total = combine(number, group, total, other);
    }
    std::vector<V> so_far;
    for (size_t i = 0; i < group.size(); i++) {
      total[i] = b_.splat(group[i]->lane, total[i]);
      so_far.push_back(group[i]->so_far);
    }
    const std::vector<V> all = combine(number, group, so_far, total);
    for (size_t i = 0; i < group.size(); i++) move(group[i]->lane, all[i], group[i]->so_far);
  }
}

// Of equal candidates the smaller index wins: it came first.
std::vector<V> Lowering::combine(uint16_t number, const Group& group, const std::vector<V>& a,
                                 const std::vector<V>& b) {
  const CarryKind kind = a_.carries[number][group[0]->carry].kind;
  const Lane lane = group[0]->lane;
  if (group.size() == 1) return {combine_one(kind, lane, a[0], b[0])};
  const M b_wins = is_better(kind, lane, b[0], a[0]);
  const M a_wins = is_better(kind, lane, a[0], b[0]);
  const M is_earlier = b_.compare(Predicate::kLt, Lane::kI32, b[1], a[1]);
  const M neither = b_.mask_op(Op::kMaskNot, b_.mask_op(Op::kMaskOr, a_wins, b_wins));
  const M take_b = b_.mask_op(Op::kMaskOr, b_wins, b_.mask_op(Op::kMaskAnd, neither, is_earlier));
  std::vector<V> all;
  for (size_t i = 0; i < group.size(); i++) {
    all.push_back(b_.select(group[i]->lane, take_b, b[i], a[i]));
  }
  return all;
}

M Lowering::is_better(CarryKind kind, Lane lane, V challenger, V best) {
  const bool is_max = kind == CarryKind::kMaxFirst || kind == CarryKind::kMaxNan ||
                      kind == CarryKind::kMaxNum || kind == CarryKind::kMax;
  if (lane == Lane::kI32) {
    return b_.compare(is_max ? Predicate::kGt : Predicate::kLt, lane, challenger, best);
  }
  const M wins = b_.compare(is_max ? Predicate::kOgt : Predicate::kOlt, lane, challenger, best);
  if (kind != CarryKind::kMaxNan && kind != CarryKind::kMinNan) return wins;
  const M is_first_nan =
      b_.mask_op(Op::kMaskAnd, b_.compare(Predicate::kUno, lane, challenger, challenger),
                 b_.compare(Predicate::kOrd, lane, best, best));
  return b_.mask_op(Op::kMaskOr, wins, is_first_nan);
}

// a is what came before b.
V Lowering::combine_one(CarryKind kind, Lane lane, V a, V b) {
  const bool is_max = kind == CarryKind::kMaxFirst || kind == CarryKind::kMaxNan ||
                      kind == CarryKind::kMaxNum || kind == CarryKind::kMax;
  const Op op = is_max ? Op::kMax : Op::kMin;
  switch (kind) {
    case CarryKind::kSum: return b_.op2(Op::kAdd, lane, a, b);
    case CarryKind::kProduct: return b_.op2(Op::kMul, lane, a, b);
    case CarryKind::kMaxNan:
    case CarryKind::kMinNan: {
      const V best = b_.op2(op, lane, b, a);
      return b_.select(lane, b_.compare(Predicate::kUno, lane, b, b), b, best);
    }
    case CarryKind::kMaxNum:
    case CarryKind::kMinNum: {
      const V best = b_.op2(op, lane, a, b);
      return b_.select(lane, b_.compare(Predicate::kUno, lane, b, b), a, best);
    }
    default: return b_.op2(op, lane, b, a);  // b replaces a only if it is better
  }
}

}  // namespace nrd::jit
