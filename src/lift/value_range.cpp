// SPDX-License-Identifier: MIT
// src/lift/value_range.cpp: see value_range.h.
#include "lift/value_range.h"

#include <algorithm>

#include "lift/affine.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kDeepestRange = 10;
constexpr int kMaxConditions = 24;
constexpr int64_t kLargestStep = 16;  // of a counter that does not wrap

Interval of_bits(int bits, bool is_signed) {
  if (bits >= 52) return {};
  const int64_t end = int64_t{1} << bits;
  return is_signed ? Interval{-end / 2, end / 2 - 1} : Interval{0, end - 1};
}

Interval united(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Never empty: code that cannot run may say anything.
Interval both(const Interval& a, const Interval& b) {
  const Interval common{std::max(a.low, b.low), std::min(a.high, b.high)};
  return common.low <= common.high ? common : b;
}

// What fulfils `predicate` with a constant, of numbers in `all`.
Interval fulfilling(Predicate predicate, int64_t constant, const Interval& all) {
  switch (predicate) {
    case Predicate::kEq: return {constant, constant};
    case Predicate::kNe:
      if (constant == all.low) return {constant + 1, all.high};
      return constant == all.high ? Interval{all.low, constant - 1} : all;
    case Predicate::kLt: return {all.low, constant - 1};
    case Predicate::kLe: return {all.low, constant};
    case Predicate::kGt: return {constant + 1, all.high};
    case Predicate::kGe: return {constant, all.high};
    case Predicate::kB: return constant > 0 ? Interval{0, constant - 1} : all;
    case Predicate::kBe: return constant >= 0 ? Interval{0, constant} : all;
    // Above a constant without sign: all that is not negative above it, where nothing is negative.
    case Predicate::kA: return all.low >= 0 ? Interval{constant + 1, all.high} : all;
    case Predicate::kAe: return all.low >= 0 ? Interval{constant, all.high} : all;
    default: return all;
  }
}

Interval of_table(const ConstantTable& table) {
  Interval all{Interval::kFar, -Interval::kFar};
  for (const uint64_t bits : table.elements) {
    const int64_t element = sign_extended(bits, table.type);
    all = united(all, {element, element});
  }
  return all;
}

}  // namespace

Interval ValueRanges::of(NodeId id, BlockId block) {
  known_.clear();
  add_conditions_of(block, 0);
  return range_of(id, 0);
}

// Of the block and of those that dominate it, each that is entered on one side of a branch.
void ValueRanges::add_conditions_of(BlockId block, int depth) {
  for (int i = 0; i < kMaxConditions && block != 0 && block != kNoBlock; i++) {
    const std::vector<BlockId>& before = f_.blocks[block].predecessors;
    if (before.size() == 1) add_edge(before[0], block, depth);
    block = before.size() == 1 ? before[0] : f_.blocks[block].dominator;
  }
}

void ValueRanges::add_edge(BlockId from, BlockId to, int depth) {
  const std::vector<BlockId>& next = f_.blocks[from].successors;
  if (next.size() == 2 && next[0] != next[1]) add(f_.blocks[from].condition, next[0] == to, depth);
}

void ValueRanges::add(NodeId condition, bool holds, int depth) {
  const Node& c = f_[condition];
  if (c.kind != Kind::kPure || c.type != Type::kBool) return;
  if (c.op == TraceOp::kNot) return add(c.args[0], !holds, depth);
  if (c.op == (holds ? TraceOp::kAnd : TraceOp::kOr)) {
    add(c.args[0], holds, depth);
    return add(c.args[1], holds, depth);
  }
  if (c.op != TraceOp::kCmp || !is_index_type(f_[c.args[0]].type)) return;
  const Predicate predicate = holds ? c.predicate : inverse(c.predicate);
  const auto learn = [&](NodeId node, NodeId other, Predicate p) {
    if (f_[other].kind != Kind::kConst) return;
    const Interval all = range_of(node, depth + 3);
    known_.push_back({node, fulfilling(p, sign_extended(f_[other].bits, f_[other].type), all)});
  };
  learn(c.args[0], c.args[1], predicate);
  learn(c.args[1], c.args[0], swapped(predicate));
}

Interval ValueRanges::range_of(NodeId id, int depth) {
  Interval range = made(id, depth);
  for (const Known& k : known_)
    if (k.node == id) range = both(range, k.range);
  return range;
}

Interval ValueRanges::made(NodeId id, int depth) {
  const Node& n = f_[id];
  const Interval all = of_bits(type_bits(n.type), n.type != Type::kBool);
  if (depth > kDeepestRange) return all;
  const auto arg = [&](size_t i) { return range_of(n.args[i], depth + 1); };
  switch (n.kind) {
    case Kind::kConst: {
      const int64_t value = sign_extended(n.bits, n.type);
      return n.type == Type::kBool ? all : Interval{value, value};
    }
    case Kind::kSext: return arg(0);
    case Kind::kZext: {
      const Interval inner = arg(0);
      return inner.low >= 0 ? inner : of_bits(type_bits(f_[n.args[0]].type), false);
    }
    case Kind::kTrunc: return arg(0).is_within(all) ? arg(0) : all;
    case Kind::kPhi: return of_phi(id, depth);
    case Kind::kPure: return of_pure(id, all, depth);
    case Kind::kUDiv:
    case Kind::kURem:
    case Kind::kSDiv:
    case Kind::kSRem: return of_division(n, all, depth);
    default: return all;
  }
}

int64_t ValueRanges::step_of(NodeId next, NodeId phi) const {
  const Node& n = f_[next];
  if (n.kind != Kind::kPure || n.op != TraceOp::kAdd || n.args[0] != phi) return 0;
  if (f_[n.args[1]].kind != Kind::kConst) return 0;
  const int64_t step = sign_extended(f_[n.args[1]].bits, n.type);
  return step >= -kLargestStep && step <= kLargestStep ? step : 0;
}

// A counter never comes back to the other side of where it begins.
Interval ValueRanges::of_phi(NodeId id, int depth) {
  const Node& n = f_[id];
  const Block& block = f_.blocks[n.index];
  const std::vector<NodeId>& args = block.phis[n.bits].args;
  Interval begin{Interval::kFar, -Interval::kFar};
  for (size_t i = 0; i < args.size(); i++)
    if (step_of(args[i], id) == 0)
      begin = united(begin, of_argument_on_edge(args[i], block.predecessors[i], n.index, depth));
  Interval range = begin;
  for (size_t i = 0; i < args.size(); i++)
    if (step_of(args[i], id) != 0)
      range = united(range, of_next(id, args[i], block.predecessors[i], begin, depth));
  return range;
}

// What a counter is as the next round begins. One that goes on until it equals a number never
// passes that.
Interval ValueRanges::of_next(NodeId phi, NodeId next, BlockId from, const Interval& begin,
                              int depth) {
  const Interval all = of_bits(type_bits(f_[phi].type), true);
  const int64_t step = step_of(next, phi);
  Interval range = step > 0 ? Interval{begin.low, all.high} : Interval{all.low, begin.high};
  const BlockId header = f_[phi].index;
  const Block& latch = f_.blocks[from];
  const size_t before = known_.size();
  known_.push_back({phi, range});
  known_.push_back({next, range});
  add_edge(from, header, depth);
  for (size_t k = before; k < known_.size(); k++) {
    const Interval& r = known_[k].range;
    if (known_[k].node == next) range = both(range, r);
    if (known_[k].node == phi && r.is_known()) range = both(range, {r.low + step, r.high + step});
  }
  known_.resize(before);
  if (latch.successors.size() != 2 || begin.low != begin.high) return range;
  const Node& c = f_[latch.condition];
  const Predicate goes_on = latch.successors[0] == header ? Predicate::kNe : Predicate::kEq;
  if (c.kind != Kind::kPure || c.op != TraceOp::kCmp || c.predicate != goes_on) return range;
  const bool of_next = c.args[0] == next;
  if ((!of_next && c.args[0] != phi) || f_[c.args[1]].kind != Kind::kConst) return range;
  const int64_t number = sign_extended(f_[c.args[1]].bits, f_[phi].type);
  const int64_t end = of_next ? number : number + step, way = end - begin.low;
  if (way % step != 0 || way / step < 1) return range;
  return both(range, united({begin.low, begin.low}, {end - step, end - step}));
}

Interval ValueRanges::of_argument_on_edge(NodeId arg, BlockId from, BlockId to, int depth) {
  const size_t before = known_.size();
  if (depth + 4 <= kDeepestRange) {  // they may lead back here
    add_edge(from, to, depth + 4);
    add_conditions_of(from, depth + 4);
  }
  const Interval range = range_of(arg, depth + 4);
  known_.resize(before);
  return range;
}

Interval ValueRanges::of_select(const Node& n, int depth) {
  const size_t before = known_.size();
  Interval arms[2];
  for (const bool holds : {true, false}) {
    add(n.args[0], holds, depth + 1);
    arms[holds ? 0 : 1] = range_of(n.args[holds ? 1 : 2], depth + 1);
    known_.resize(before);
  }
  return united(arms[0], arms[1]);
}

Interval ValueRanges::of_division(const Node& n, const Interval& all, int depth) {
  const Node& by = f_[n.args[1]];
  const int64_t divisor = by.kind == Kind::kConst ? sign_extended(by.bits, by.type) : 0;
  if (divisor <= 0) return all;
  const Interval a = range_of(n.args[0], depth + 1);
  const bool is_signed = n.kind == Kind::kSDiv || n.kind == Kind::kSRem;
  if (n.kind == Kind::kSDiv || n.kind == Kind::kUDiv)
    return a.is_known() && (is_signed || a.low >= 0) ? Interval{a.low / divisor, a.high / divisor}
                                                     : all;
  return {is_signed && a.low < 0 ? 1 - divisor : 0, divisor - 1};
}

// x - c * (x / c), as compilers write x % c, in whatever form the product is.
Interval ValueRanges::of_remainder(NodeId id, int depth) {
  const Affine form = AffineForms(f_).of(id);
  if (form.constant != 0 || form.terms.size() != 2) return {};
  for (const auto& [quotient, factor] : form.terms) {
    const Node& q = f_[quotient];
    const bool divides = q.kind == Kind::kSDiv || q.kind == Kind::kUDiv;
    if (!divides || f_[q.args[1]].kind != Kind::kConst) continue;
    uint64_t divisor = f_[q.args[1]].bits;
    NodeId x = q.args[0];
    const Node& shifted = f_[x];  // x / 100 is (x >> 2) / 25
    if (q.kind == Kind::kUDiv && shifted.kind == Kind::kPure && shifted.op == TraceOp::kShr &&
        f_[shifted.args[1]].kind == Kind::kConst && f_[shifted.args[1]].bits < 20) {
      divisor <<= f_[shifted.args[1]].bits;
      x = shifted.args[0];
    }
    const auto at = form.terms.find(x);
    if (at == form.terms.end() || at->second != 1 || divisor >= uint64_t{1} << 31) continue;
    const auto most = static_cast<int64_t>(divisor) - 1;
    if (factor != -most - 1) continue;
    return {q.kind == Kind::kSDiv && range_of(x, depth + 1).low < 0 ? -most : 0, most};
  }
  return {};
}

Interval ValueRanges::of_pure(NodeId id, const Interval& all, int depth) {
  const Node& n = f_[id];
  const auto arg = [&](size_t i) { return range_of(n.args[i], depth + 1); };
  const auto within = [&](const Interval& r) { return r.is_within(all) ? r : all; };
  const bool by_constant = n.args[1] != kNoNode && f_[n.args[1]].kind == Kind::kConst;
  const int64_t by = by_constant ? sign_extended(f_[n.args[1]].bits, f_[n.args[1]].type) : -1;
  switch (n.op) {
    case TraceOp::kLookup: return of_table(f_.tables[n.bits]);
    case TraceOp::kSelect: return n.type == Type::kBool ? all : of_select(n, depth);
    case TraceOp::kMin:
      return {std::min(arg(0).low, arg(1).low), std::min(arg(0).high, arg(1).high)};
    case TraceOp::kMax:
      return {std::max(arg(0).low, arg(1).low), std::max(arg(0).high, arg(1).high)};
    case TraceOp::kAnd:
      if (by >= 0) return {0, by};
      return arg(0).low >= 0 ? Interval{0, arg(0).high} : all;
    case TraceOp::kAdd:
      return both(of_remainder(id, depth),
                  within({arg(0).low + arg(1).low, arg(0).high + arg(1).high}));
    case TraceOp::kSub:
      return both(of_remainder(id, depth),
                  within({arg(0).low - arg(1).high, arg(0).high - arg(1).low}));
    case TraceOp::kMul:
      return by >= 0 && by < 1024 ? within({arg(0).low * by, arg(0).high * by}) : all;
    case TraceOp::kShl:
      return by >= 0 && by < 10
                 ? within({arg(0).low * (int64_t{1} << by), arg(0).high * (int64_t{1} << by)})
                 : all;
    case TraceOp::kShr:
    case TraceOp::kSar: {
      if (by < 1 || by >= type_bits(n.type)) return all;
      const Interval a = arg(0);
      if (a.is_known() && (a.low >= 0 || n.op == TraceOp::kSar)) return {a.low >> by, a.high >> by};
      return of_bits(type_bits(n.type) - static_cast<int>(by), n.op == TraceOp::kSar);
    }
    default: return all;
  }
}

}  // namespace nrd::lift
