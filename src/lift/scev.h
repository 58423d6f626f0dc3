// SPDX-License-Identifier: MIT
// src/lift/scev.h: scalar evolution: integers as polynomials over parameters, loop counters and
// whatever else cannot be taken apart; loops with their trip counts.
//
// Assumed of sizes and counters, and left to the proof: 32-bit integers that are widened do not
// wrap, and what is divided or compared without sign is not negative. Nothing is assumed of data,
// which is what memory and floating-point numbers make (scev_range.cpp).
#pragma once

#include <deque>
#include <string>

#include "lift/int_poly.h"
#include "lift/loop_tree.h"

namespace nrd::lift {

struct TripCount {
  bool known = false;
  bool exact = false;  // the loop is left on equality, so the count is right whenever it runs
  IntPoly count;       // iterations of the body
  std::string reason;  // where it is not known
};

// What an integer can be.
using Wide = __int128;
struct Range {
  Wide low = 0, high = 0;
  bool fits(Type type) const;
};

class Scev {
 public:
  Scev(Function& function, NodeFactory& factory, const LoopTree& tree, const FlatParams& params)
      : function_(function),
        factory_(factory),
        tree_(tree),
        params_(params),
        scopes_(function, tree) {}

  // Finds the carried integers that move by an invariant step, innermost loops first.
  void solve();
  bool is_affine(NodeId leaf) const;  // a kCarry or kResult that solve() understood

  const IntPoly& of(NodeId node);        // of an integer of 32 or 64 bits
  NodeId node_of(const IntPoly& poly);   // i64, canonical: equal polynomials are one node
  IntPoly resolve(const IntPoly& poly);  // once more, after something was solved
  TripCount trip_count(int region);

  // Building blocks, simplified.
  IntPoly divide_floor(const IntPoly& a, const IntPoly& b);
  IntPoly modulo_floor(const IntPoly& a, const IntPoly& b);
  IntPoly smaller(const IntPoly& a, const IntPoly& b) { return extreme(TraceOp::kMin, a, b); }
  IntPoly larger(const IntPoly& a, const IntPoly& b) { return extreme(TraceOp::kMax, a, b); }

  // Not below 0 by its form alone: positive terms of sizes, counters and quotients of such.
  bool is_nonnegative(const IntPoly& poly);
  bool is_nonnegative_atom(NodeId atom);
  bool varies_in(const IntPoly& poly, int region);

  // scev_range.cpp
  bool is_data(NodeId node);
  bool may_be_negative(NodeId node);  // as far as data is concerned

 private:
  struct Step {
    NodeId init = kNoNode;
    IntPoly step;
    bool known = false;
  };

  void solve_region(int region);
  IntPoly compute(NodeId node);
  IntPoly of_width(NodeId id, const Node& node);
  IntPoly of_quotient(NodeId id, const Node& node);
  IntPoly of_pure(NodeId id, const Node& node);
  IntPoly without_wrapping(NodeId id, const Node& node);
  IntPoly of_shift_right(NodeId id, const Node& node);
  IntPoly of_leaf(NodeId id, const Node& node);
  IntPoly of_and(NodeId id, const Node& node);
  bool is_below(NodeId masking, uint64_t end);
  IntPoly of_or(NodeId id, const Node& node);
  IntPoly of_select(NodeId id, const Node& node);
  IntPoly of_last(NodeId id, const Node& node);
  IntPoly atom(NodeId node);
  IntPoly without_reciprocal(const IntPoly& a, const IntPoly& b);
  IntPoly without_remainders(const IntPoly& a, const IntPoly& b);
  IntPoly composite(TraceOp op, const IntPoly& a, const IntPoly& b);
  IntPoly extreme(TraceOp op, const IntPoly& a, const IntPoly& b);
  TripCount count_passes(NodeId condition, int region);
  TripCount passes_of(Predicate predicate, const IntPoly& a, const IntPoly& b, int region);
  Range range_of(const IntPoly& poly);
  Range range_of_node(NodeId node, int depth);
  Range range_of_pure(const Node& node, int depth);
  bool holds(const IntPoly& poly, Type type, bool is_of_data);
  void forget() { memo_.clear(), polys_.clear(); }

  Function& function_;
  NodeFactory& factory_;
  const LoopTree& tree_;
  const FlatParams& params_;
  Scopes scopes_;
  std::vector<int> memo_;  // 1 + index into polys_
  std::deque<IntPoly> polys_;
  std::vector<uint8_t> data_;             // is_data: 0 unknown, 1 no, 2 yes
  std::vector<std::vector<Step>> steps_;  // of each carry of each region
};

}  // namespace nrd::lift
