// SPDX-License-Identifier: MIT
// src/lift/zero_trips.cpp: code for the case that a loop runs nothing, joined with the code for all
// other cases. See refine.h.
#include "lift/flat_map.h"
#include "lift/ifconvert.h"
#include "lift/refine.h"

namespace nrd::lift {
namespace {

struct Literal {
  NodeId node;
  bool truth;
};

// What else is known where a condition is `truth`.
void collect_literals(NodeFactory& factory, NodeId condition, bool truth,
                      std::vector<Literal>& out) {
  out.push_back({condition, truth});
  const Node n = factory[condition];
  if (n.kind != Kind::kPure) return;
  if (n.op == (truth ? TraceOp::kAnd : TraceOp::kOr)) {
    collect_literals(factory, n.args[0], truth, out);
    collect_literals(factory, n.args[1], truth, out);
  } else if (n.op == TraceOp::kNot) {
    collect_literals(factory, n.args[0], !truth, out);
  } else {
    out.push_back({factory.invert(condition), !truth});
  }
}

// Rewrites nodes for the case that some facts hold: loops that then run nothing leave their
// initial values, and known conditions are constants.
class UnderFacts {
 public:
  UnderFacts(const Function& f, NodeFactory& factory, Scev& scev, Facts& facts,
             const LoopTree& tree, NodeId condition, bool truth)
      : f_(f), factory_(factory), scev_(scev), facts_(facts), tree_(tree) {
    collect_facts(f, scev, condition, truth, given_);
    std::vector<Literal> literals;
    collect_literals(factory, condition, truth, literals);
    for (const Literal& l : literals) memo_.set(l.node, factory.constant(Type::kBool, l.truth));
  }

  bool knows_something() const { return !given_.empty(); }

  NodeId of(NodeId id) {
    if (const uint32_t known = memo_.find(id); known != FlatMap::kMissing) return known;
    const NodeId made = compute(id);
    memo_.set(id, made);
    return made;
  }

 private:
  NodeId compute(NodeId id) {
    Node n = f_[id];
    if (is_leaf(n)) return leaf(id, n);
    if (n.kind == Kind::kLoad || n.kind == Kind::kConst || n.kind == Kind::kArg) return id;
    bool changed = false;
    for (NodeId& arg : n.args) {
      if (arg == kNoNode) continue;
      const NodeId other = of(arg);
      changed |= other != arg;
      arg = other;
    }
    if (!changed) return id;
    if (n.kind == Kind::kPure && n.op == TraceOp::kSelect)
      return choose(factory_, n.args[0], n.args[1], n.args[2]);
    return factory_.add(n);
  }

  NodeId leaf(NodeId id, const Node& n) {
    if (leaf_role(n) != LeafRole::kResult) return id;
    const Region& loop = tree_.regions[n.index];
    if (leaf_number(n) >= loop.carries.size()) return id;
    const NodeId init = loop.carries[leaf_number(n)].init;
    if (init == kNoNode || !facts_.is_at_most_zero(scev_.of(loop.extent), given_)) return id;
    return of(init);
  }

  const Function& f_;
  NodeFactory& factory_;
  Scev& scev_;
  Facts& facts_;
  const LoopTree& tree_;
  std::vector<Fact> given_;
  FlatMap memo_;
};

}  // namespace

// a where a loop ran, b where it would have had nothing to do: if the loop's initial values turn
// a into b, then a is right in both cases.
NodeId Refiner::without_zero_trips(NodeId condition, NodeId a, NodeId b) {
  for (const bool keeps_a : {true, false}) {
    const NodeId kept = keeps_a ? a : b, other = keeps_a ? b : a;
    if (!depends_on_loops(kept)) continue;
    UnderFacts under(function_, factory_, scev_, facts_, out_, condition, !keeps_a);
    if (under.knows_something() && under.of(kept) == under.of(other)) return kept;
  }
  return kNoNode;
}

// The same for truth values: c and a, or not c and b.
NodeId Refiner::without_zero_trips(const Node& disjunction) {
  if (disjunction.type != Type::kBool) return kNoNode;
  const Node x = function_[disjunction.args[0]], y = function_[disjunction.args[1]];
  const auto is_and = [](const Node& n) { return n.kind == Kind::kPure && n.op == TraceOp::kAnd; };
  if (!is_and(x) || !is_and(y)) return kNoNode;
  for (const int i : {0, 1})
    for (const int k : {0, 1}) {
      if (factory_.invert(x.args[i]) != y.args[k]) continue;
      const NodeId one = without_zero_trips(x.args[i], x.args[1 - i], y.args[1 - k]);
      if (one != kNoNode) return one;
    }
  return kNoNode;
}

// Some comparison of integers that the condition depends on.
NodeId Refiner::integer_test(NodeId condition, int depth) const {
  const Node& n = function_[condition];
  if (n.kind != Kind::kPure || depth == 0) return kNoNode;
  if (n.op == TraceOp::kCmp) {
    const Type type = function_[n.args[0]].type;
    return type == Type::kI32 || type == Type::kI64 ? condition : kNoNode;
  }
  if (n.op != TraceOp::kAnd && n.op != TraceOp::kOr && n.op != TraceOp::kNot) return kNoNode;
  for (NodeId arg : n.args) {
    const NodeId test = arg == kNoNode ? kNoNode : integer_test(arg, depth - 1);
    if (test != kNoNode) return test;
  }
  return kNoNode;
}

// A value that code computes in two ways, one for the case that a loop runs nothing, in the way
// that serves both.
NodeId Refiner::merged_cases(NodeId value) {
  const Node n = function_[value];
  if (n.kind != Kind::kPure || n.op != TraceOp::kSelect || !depends_on_loops(value)) return value;
  constexpr int kDepth = 8;
  const NodeId test = integer_test(n.args[0], kDepth);
  if (test == kNoNode) return value;
  UnderFacts yes(function_, factory_, scev_, facts_, out_, test, true);
  UnderFacts no(function_, factory_, scev_, facts_, out_, test, false);
  const NodeId one = without_zero_trips(test, yes.of(value), no.of(value));
  return one != kNoNode ? one : value;
}

// True whatever its parts are, also where one of two cases is that a loop runs nothing.
bool Refiner::is_always(NodeId condition) {
  if (is_tautology(factory_, condition)) return true;
  constexpr int kDepth = 8;
  const NodeId test = integer_test(condition, kDepth);
  if (test == kNoNode || test == condition || !depends_on_loops(condition)) return false;
  for (const bool truth : {true, false}) {
    UnderFacts under(function_, factory_, scev_, facts_, out_, test, truth);
    if (!is_tautology(factory_, under.of(condition))) return false;
  }
  return true;
}

bool Refiner::depends_on_loops(NodeId id) {
  if (loop_memo_.size() <= id) loop_memo_.resize(function_.nodes.size() + 64, 0);
  if (loop_memo_[id] != 0) return loop_memo_[id] == 2;
  const Node n = function_[id];
  bool depends = is_leaf(n) && leaf_role(n) == LeafRole::kResult;
  if (n.kind != Kind::kLoad && n.kind != Kind::kPhi)
    for (NodeId arg : n.args) depends = depends || (arg != kNoNode && depends_on_loops(arg));
  loop_memo_[id] = depends ? 2 : 1;
  return depends;
}

bool is_tautology(NodeFactory& factory, NodeId condition) {
  constexpr size_t kMostLiterals = 6;
  int steps_left = 2000;         // a large condition is none
  std::vector<NodeId> literals;  // either the condition or its inverse, whichever came first
  const auto visit = [&](auto&& self, NodeId id, uint64_t assignment, bool collects) -> bool {
    const Node n = factory[id];
    if (--steps_left < 0) return false;
    if (n.kind == Kind::kConst) return n.bits != 0;
    if (n.kind == Kind::kPure && (n.op == TraceOp::kAnd || n.op == TraceOp::kOr)) {
      const bool a = self(self, n.args[0], assignment, collects);
      const bool b = self(self, n.args[1], assignment, collects);
      return n.op == TraceOp::kAnd ? a && b : a || b;
    }
    if (n.kind == Kind::kPure && n.op == TraceOp::kNot)
      return !self(self, n.args[0], assignment, collects);
    const NodeId inverse = factory.invert(id);
    for (size_t i = 0; i < literals.size(); i++) {
      if (literals[i] == id) return assignment >> i & 1;
      if (literals[i] == inverse) return !(assignment >> i & 1);
    }
    if (collects) literals.push_back(id);
    return false;
  };
  visit(visit, condition, 0, true);
  if (literals.size() > kMostLiterals) return false;
  for (uint64_t assignment = 0; assignment < uint64_t{1} << literals.size(); assignment++)
    if (!visit(visit, condition, assignment, false)) return false;
  return steps_left >= 0;
}

}  // namespace nrd::lift
