// SPDX-License-Identifier: MIT
// src/lift/rebuild.cpp: the nodes of a refined tree. See refine.h.
#include <algorithm>

#include "lift/ifconvert.h"
#include "lift/refine.h"
#include "lift/simplify.h"
#include "lift/tidy.h"

namespace nrd::lift {

NodeId Refiner::rebuild(NodeId id) {
  if (memo_.size() <= id || memo_[id] == kNoNode) set_memo(id, rebuild_now(id));
  return memo_[id];
}

void Refiner::set_memo(NodeId id, NodeId made) {
  if (memo_.size() <= id) memo_.resize(function_.nodes.size() + 64, kNoNode);
  memo_[id] = made;
  const Kind kind = function_[id].kind;
  if (kind != Kind::kLoad && kind != Kind::kPhi) memo_log_.push_back(id);
}

// What a loop's body knows is not known behind it: pure nodes are made anew there.
void Refiner::forget_since(size_t mark) {
  for (; memo_log_.size() > mark; memo_log_.pop_back()) memo_[memo_log_.back()] = kNoNode;
}

NodeId Refiner::rebuild_now(NodeId id) {
  Node n = function_[id];
  switch (n.kind) {
    case Kind::kConst:
    case Kind::kArg:
    case Kind::kUndef: return id;
    case Kind::kLoad: give_up("the load at " + place(n.address) + " is used before it happens");
    case Kind::kPhi: return rebuild_leaf(id, n);
    default: break;
  }
  for (NodeId& arg : n.args)
    if (arg != kNoNode) arg = rebuild(arg);
  return finish(n);
}

NodeId Refiner::rebuild_leaf(NodeId id, const Node& leaf) {
  const LeafRole role = leaf_role(leaf);
  if (role == LeafRole::kIv) return id;
  if (role == LeafRole::kLast && inlined_[leaf.index]) return rebuild(leaf.args[0]);
  const bool is_behind = role == LeafRole::kResult || role == LeafRole::kLast;
  const bool is_counter =
      is_index_type(leaf.type) && (role == LeafRole::kLast || scev_.is_affine(id));
  if (is_counter) {
    const IntPoly poly = scev_.of(id);
    const NodeId itself = poly.single_atom();
    const bool is_opaque = itself != kNoNode && (itself == id || function_[itself].args[0] == id);
    if (!is_opaque) {
      if (is_behind && runs_at_least_once_[leaf.index])
        give_up("the counter of the loop at " + place(in(static_cast<int>(leaf.index)).address) +
                ", which runs at least once, is used behind it");
      return from_poly(poly, leaf.type);
    }
  }
  return role == LeafRole::kLast ? last_value(leaf) : id;
}

// The value that something had in the last iteration is carried out of the loop. Where the loop
// did not run nobody asks for it.
NodeId Refiner::last_value(const Node& leaf) {
  const int region = static_cast<int>(leaf.index);
  if (!in(region).bottom_tested)
    give_up("a value of the last iteration is used behind the loop at " +
            place(in(region).address));
  const size_t number = out(region).carries.size();
  Carry carry;
  carry.leaf = factory_.append(make_leaf(LeafRole::kCarry, leaf.type, region, number));
  carry.result = factory_.append(make_leaf(LeafRole::kResult, leaf.type, region, number));
  carry.init = factory_.constant(leaf.type, 0);
  carry.next = rebuild(leaf.args[0]);
  out(region).carries.push_back(carry);
  return carry.result;
}

NodeId Refiner::from_poly(const IntPoly& poly, Type type) {
  IntPoly refined;
  for (const PolyTerm& term : poly.terms()) {
    IntPoly product(term.coefficient);
    for (NodeId atom : term.atoms)
      if (atom != kNoNode) product = product * scev_.of(rebuild(atom));
    refined += product;
  }
  return factory_.convert(scev_.node_of(refined), type);
}

NodeId Refiner::canonical(NodeId id) {
  return function_[id].type == Type::kI64 ? scev_.node_of(scev_.of(id)) : id;
}

NodeId Refiner::finish(const Node& node) {
  Node n = node;
  switch (n.kind) {
    case Kind::kU64ToF32: return factory_.pure(TraceOp::kToF32, n.type, canonical(n.args[0]));
    case Kind::kU64ToF64: return factory_.pure(TraceOp::kToF64, n.type, canonical(n.args[0]));
    case Kind::kUDiv:
    case Kind::kSDiv:
    case Kind::kURem:
    case Kind::kSRem: return quotient(n);
    case Kind::kTrunc: {
      // Half of a stack slot that was written in parts on one of several paths.
      const Node whole = function_[n.args[0]];
      if (whole.kind != Kind::kPure || whole.op != TraceOp::kSelect) return factory_.add(n);
      const NodeId yes =
          finish({.kind = n.kind, .type = n.type, .args = {whole.args[1], kNoNode, kNoNode}});
      const NodeId no =
          finish({.kind = n.kind, .type = n.type, .args = {whole.args[2], kNoNode, kNoNode}});
      return choice(whole.args[0], yes, no);
    }
    case Kind::kPure: break;
    default: return factory_.add(n);
  }
  if (n.op == TraceOp::kSelect) return choice(n.args[0], n.args[1], n.args[2]);
  if (is_sign_of_positive(n)) return factory_.constant(n.type, 0);
  const bool leaves_integers =
      n.op == TraceOp::kToF32 || n.op == TraceOp::kToF64 || n.op == TraceOp::kCmp;
  if (leaves_integers)
    for (NodeId& arg : n.args)
      if (arg != kNoNode) arg = canonical(arg);
  NodeId made = n.op == TraceOp::kOr ? without_zero_trips(n) : kNoNode;
  if (made == kNoNode) made = tidied(n, factory_);
  if (made == kNoNode) made = factory_.add(n);
  if (n.op != TraceOp::kCmp || function_[made].op != TraceOp::kCmp) return made;
  const Facts::Verdict verdict = facts_.decide(made);
  if (verdict == Facts::Verdict::kUnknown) return made;
  return factory_.constant(Type::kBool, verdict == Facts::Verdict::kTrue);
}

// x >> 31, by which division by a power of two corrects its rounding.
bool Refiner::is_sign_of_positive(const Node& n) {
  if ((n.op != TraceOp::kShr && n.op != TraceOp::kSar) || !is_index_type(n.type)) return false;
  const Node& by = function_[n.args[1]];
  const bool takes_sign =
      by.kind == Kind::kConst && by.bits == static_cast<uint64_t>(type_bits(n.type) - 1);
  return takes_sign && facts_.proves_nonnegative(scev_.of(n.args[0]));
}

// C rounds towards zero, a trace down: what is negative is divided by its magnitude.
NodeId Refiner::quotient(const Node& n) {
  const NodeId made = factory_.add(n);
  if (function_[made].kind != n.kind || !is_index_type(n.type)) return made;
  const bool is_signed = n.kind == Kind::kSDiv || n.kind == Kind::kSRem;
  const bool is_quotient = n.kind == Kind::kUDiv || n.kind == Kind::kSDiv;
  const bool is_data = scev_.is_data(n.args[0]) || scev_.is_data(n.args[1]);
  if (!is_data && (!is_signed || is_count(scev_.of(n.args[0]))))
    return factory_.convert(scev_.node_of(scev_.of(made)), n.type);
  if (!is_signed && n.type == Type::kI64 && is_data && scev_.may_be_negative(n.args[0]))
    give_up("the division at " + place(n.address) + " is of 64 bits without a sign");
  const NodeId a = factory_.convert(n.args[0], Type::kI64, is_signed);
  const NodeId b = factory_.convert(n.args[1], Type::kI64, is_signed);
  const auto divided = [&](NodeId x) {
    return canonical(factory_.pure(TraceOp::kDivFloor, Type::kI64, x, b));
  };
  NodeId whole = divided(a);
  if (is_signed && !facts_.proves_nonnegative(scev_.of(a))) {
    const NodeId zero = factory_.constant(Type::kI64, 0);
    const NodeId up = factory_.pure(TraceOp::kSub, Type::kI64, zero,
                                    divided(factory_.pure(TraceOp::kSub, Type::kI64, zero, a)));
    whole = choice(factory_.compare(Predicate::kLt, a, zero), up, whole);
  }
  if (!is_quotient)
    whole = factory_.pure(TraceOp::kSub, Type::kI64, a,
                          factory_.pure(TraceOp::kMul, Type::kI64, whole, b));
  return factory_.convert(whole, n.type);
}

// What counts something is not negative: sums of sizes and counters, and what the loops' bounds
// say.
bool Refiner::is_count(const IntPoly& poly) {
  const bool has_minus = std::any_of(poly.terms().begin(), poly.terms().end(),
                                     [](const PolyTerm& term) { return term.coefficient < 0; });
  return !has_minus || facts_.proves_nonnegative(poly);
}

NodeId Refiner::choice(NodeId condition, NodeId a, NodeId b) {
  if (a == b) return a;
  const Facts::Verdict verdict = facts_.decide(condition);
  if (verdict != Facts::Verdict::kUnknown) return verdict == Facts::Verdict::kTrue ? a : b;
  if (const NodeId one = without_zero_trips(condition, a, b); one != kNoNode) return one;
  const Node select{.kind = Kind::kPure,
                    .op = TraceOp::kSelect,
                    .type = function_[a].type,
                    .args = {condition, a, b}};
  const NodeId tidy = tidied(select, factory_);
  return tidy != kNoNode ? tidy : choose(factory_, condition, a, b);
}

}  // namespace nrd::lift
