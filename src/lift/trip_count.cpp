// SPDX-License-Identifier: MIT
// src/lift/trip_count.cpp: carried integers with an invariant step, and how often loops run.
#include <algorithm>

#include "lift/scev.h"

namespace nrd::lift {

void Scev::solve() {
  std::vector<int> order;
  for (size_t r = 0; r < tree_.regions.size(); r++) {
    order.push_back(static_cast<int>(r));
    steps_.emplace_back(tree_.regions[r].carries.size());
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const int depth_a = tree_.regions[static_cast<size_t>(a)].depth;
    const int depth_b = tree_.regions[static_cast<size_t>(b)].depth;
    return depth_a != depth_b ? depth_a > depth_b : a < b;
  });
  for (int region : order) solve_region(region);
}

void Scev::solve_region(int region) {
  const std::vector<Carry>& carries = tree_.regions[static_cast<size_t>(region)].carries;
  const NodeId iv = tree_.regions[static_cast<size_t>(region)].iv;
  std::vector<Step>& steps = steps_[static_cast<size_t>(region)];
  // The second time finds what is carried one step behind a counter: r + s * iv next, and so the
  // same with iv - 1 now, if that is how it starts.
  for (const bool behind : {false, true}) {
    bool found = false;
    for (size_t i = 0; i < carries.size(); i++) {
      const Type type = function_[carries[i].leaf].type;
      if (steps[i].known || (type != Type::kI32 && type != Type::kI64)) continue;
      const IntPoly next = of(carries[i].next);
      IntPoly step = next - of(carries[i].leaf);
      if (behind) {
        const auto split = next.linear_in(iv);
        if (!split || split->rest - split->slope != of(carries[i].init)) continue;
        step = split->slope;
      }
      if (step.is_too_large() || varies_in(step, region)) continue;
      steps[i] = {carries[i].init, step, true};
      found = true;
    }
    if (found) forget();
  }
}

bool Scev::is_affine(NodeId leaf) const {
  const Node& n = function_[leaf];
  if (!is_leaf(n) || leaf_role(n) == LeafRole::kIv || leaf_role(n) == LeafRole::kLast) return false;
  return n.index < steps_.size() && leaf_number(n) < steps_[n.index].size() &&
         steps_[n.index][leaf_number(n)].known;
}

IntPoly Scev::of_leaf(NodeId id, const Node& n) {
  if (leaf_role(n) == LeafRole::kLast) return of_last(id, n);
  if (!is_affine(id)) return atom(id);
  const int region = static_cast<int>(n.index);
  const Step step = steps_[n.index][leaf_number(n)];
  const IntPoly slope = resolve(step.step);
  if (leaf_role(n) == LeafRole::kCarry)
    return of(step.init) + slope * IntPoly::atom(tree_.regions[n.index].iv);
  const TripCount trips = trip_count(region);
  return trips.known ? of(step.init) + slope * trips.count : atom(id);
}

IntPoly Scev::of_last(NodeId id, const Node& n) {
  const int region = static_cast<int>(n.index);
  const Type type = function_[n.args[0]].type;
  if (type != Type::kI32 && type != Type::kI64) return atom(id);
  const IntPoly inside = of(n.args[0]);
  const auto split = inside.linear_in(tree_.regions[n.index].iv);
  const TripCount trips = trip_count(region);
  if (!split || !trips.known || varies_in(split->rest, region) || varies_in(split->slope, region))
    return atom(id);
  const IntPoly at = trips.count - IntPoly(tree_.regions[n.index].bottom_tested ? 1 : 0);
  return split->rest + split->slope * at;
}

IntPoly Scev::resolve(const IntPoly& poly) {
  IntPoly sum;
  for (const PolyTerm& term : poly.terms()) {
    IntPoly product(term.coefficient);
    for (NodeId atom : term.atoms)
      if (atom != kNoNode) product = product * of(atom);
    sum += product;
  }
  return poly.is_too_large() ? poly : sum;
}

TripCount Scev::trip_count(int region) {
  const Region& loop = tree_.regions[static_cast<size_t>(region)];
  TripCount trips = count_passes(loop.stays, region);
  if (!trips.known)
    trips.reason = "the loop at " + place(loop.address) + ": " + trips.reason;
  else if (loop.bottom_tested)
    trips.count += IntPoly(1);  // the body ran once before the first test
  return trips;
}

// How often the test says to go on before it first does not.
TripCount Scev::count_passes(NodeId condition, int region) {
  const Node n = function_[condition];
  if (n.kind == Kind::kPure && n.op == TraceOp::kAnd) {
    TripCount a = count_passes(n.args[0], region);
    if (!a.known) return a;
    TripCount b = count_passes(n.args[1], region);
    if (!b.known) return b;
    return {true, false, smaller(a.count, b.count), {}};
  }
  const Type type =
      n.kind == Kind::kPure && n.op == TraceOp::kCmp ? function_[n.args[0]].type : Type::kNone;
  if (type != Type::kI32 && type != Type::kI64)
    return {false, false, {}, "its exit is not a comparison of integers"};
  return passes_of(n.predicate, of(n.args[0]), of(n.args[1]), region);
}

TripCount Scev::passes_of(Predicate predicate, const IntPoly& a, const IntPoly& b, int region) {
  const NodeId iv = tree_.regions[static_cast<size_t>(region)].iv;
  IntPoly ahead;  // goes on while this is not negative (kNe: not zero)
  switch (predicate) {
    case Predicate::kLt:
    case Predicate::kB: ahead = b - a - IntPoly(1); break;
    case Predicate::kLe:
    case Predicate::kBe: ahead = b - a; break;
    case Predicate::kGt:
    case Predicate::kA: ahead = a - b - IntPoly(1); break;
    case Predicate::kGe:
    case Predicate::kAe:
    case Predicate::kEq:
    case Predicate::kNe: ahead = a - b; break;
    default: return {false, false, {}, "its exit is not a comparison of integers"};
  }
  const auto split = ahead.linear_in(iv);
  if (!split || varies_in(split->rest, region) || varies_in(split->slope, region))
    return {false, false, {}, "its exit depends on data, or on more than a steady counter"};
  if (split->slope.is_zero()) return {false, false, {}, "its exit does not depend on a counter"};
  if (predicate == Predicate::kEq) {
    if (!split->rest.is_constant())
      return {false, false, {}, "it goes on while two numbers are equal"};
    return {true, false, IntPoly(split->rest.is_zero() ? 1 : 0), {}};
  }
  const IntPoly down = -split->slope;
  if (predicate == Predicate::kNe) {
    auto count = split->rest.divided_by(down);
    if (!count && down.is_constant())
      count =
          down.constant() > 0 ? divide_floor(split->rest, down) : divide_floor(-split->rest, -down);
    if (!count) return {false, false, {}, "its counter does not meet its bound"};
    return {true, true, *count, {}};
  }
  if (const auto count = (split->rest + IntPoly(1)).divided_by(down); count && !down.is_constant())
    return {true, false, *count, {}};
  if (!down.is_constant() || down.constant() <= 0)
    return {false, false, {}, "its counter moves away from its bound"};
  return {true, false, divide_floor(split->rest + down, down), {}};
}

}  // namespace nrd::lift
