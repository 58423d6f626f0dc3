// SPDX-License-Identifier: MIT
// src/lift/refine.h: from what the code does to what it means: counted loops, accesses by parameter
// and element, no guards but those that matter.
#pragma once

#include "lift/facts.h"
#include "lift/needed.h"

namespace nrd::lift {

// The LoopTree of if_convert, made anew in program order. In the result
// - a loop has an extent, and guards that only skip loops with nothing to do are gone;
// - steady counters are expressions of the loops' ivs;
// - loads and stores name a parameter (Node::index) and an element (args[0], i64); a load has the
//   type of the element, and Node::bits is its region;
// - an element that a loop reads and writes at a fixed place is carried by the loop instead.
class Refiner {
 public:
  Refiner(Function& function, NodeFactory& factory, const LoopTree& tree, Scev& scev,
          const FlatParams& params);
  LoopTree run();

 private:
  // refine.cpp: regions in program order
  void walk(int region);
  void walk_items(int region);
  void walk_loop(int region);
  void start_carries(int region);
  void walk_inline(int region);
  void finish_inline(int region);
  bool runs_once(int region);
  void finish_loop(int region);
  void set_extent(int region, NodeId guard);
  void check_guard(int region, NodeId guard);
  bool is_size(NodeId id) const;
  void assume_dividends(const IntPoly& poly, std::vector<Fact>& given);
  [[noreturn]] void refuse_guard(int region);
  bool has_no_effect(int region, std::span<const Fact> given);
  bool writes_back(NodeId store, std::span<const Fact> given);
  NodeId refined_guard(NodeId guard);  // kNoNode: always

  // rebuild.cpp: nodes
  NodeId rebuild(NodeId node);
  void set_memo(NodeId node, NodeId made);
  void forget_since(size_t mark);
  NodeId rebuild_now(NodeId node);
  NodeId rebuild_leaf(NodeId node, const Node& leaf);
  NodeId last_value(const Node& leaf);
  NodeId from_poly(const IntPoly& poly, Type type);
  NodeId finish(const Node& node);
  NodeId quotient(const Node& division);
  bool is_count(const IntPoly& poly);
  bool is_sign_of_positive(const Node& shift);
  NodeId canonical(NodeId node);  // an i64 in the one form of its polynomial
  NodeId choice(NodeId condition, NodeId a, NodeId b);

  // zero_trips.cpp: cases in which a loop runs nothing
  NodeId without_zero_trips(NodeId condition, NodeId a, NodeId b);
  NodeId without_zero_trips(const Node& disjunction);
  NodeId merged_cases(NodeId value);
  bool is_always(NodeId condition);
  NodeId integer_test(NodeId condition, int depth) const;
  bool depends_on_loops(NodeId node);

  // memory.cpp: accesses
  struct Place {
    uint32_t param = 0;
    NodeId index = kNoNode;
    uint32_t parts = 1;  // elements that the access spans
  };
  struct PointerChoice {
    NodeId condition;
    IntPoly yes, no;
  };
  bool find_pointer(const IntPoly& address, Place& out, const Node& access);
  bool find_choice(const IntPoly& address, int depth, PointerChoice& out);
  void walk_load(NodeId load);
  NodeId load_global(const Node& access);
  void walk_store(NodeId store);
  NodeId load_parts(const Place& place, const Node& access, NodeId guard);
  void store_parts(const Place& place, NodeId value, NodeId guard, uint64_t address);
  NodeId load_from(const IntPoly& address, const Node& access, NodeId guard, int depth);
  void store_to(const IntPoly& address, const Node& access, NodeId value, NodeId guard, int depth);
  NodeId load_element(const Place& place, NodeId guard, uint64_t address);
  void store_element(const Place& place, NodeId value, NodeId guard, uint64_t address);
  NodeId known_element(const Place& place, NodeId guard);
  bool joins_guards(NodeId load, NodeId guard);
  bool is_known_early(NodeId condition);
  enum class Overlap : uint8_t { kNever, kMaybe, kAlways };
  Overlap overlap(NodeId index_a, NodeId index_b);
  bool touches(int region, uint32_t param, bool stores_only) const;
  void relax_guards(int region);

  // interchange.cpp
  bool interchange(int outer);
  bool is_interchangeable(int outer, int inner);
  int only_inner_loop(int region);
  bool carries_nothing(int region);

  // promote.cpp
  void promote(int region);
  bool is_promotable(int region, const Place& place);
  void promote_place(int region, const Place& place);

  Region& in(int r) { return tree_.regions[static_cast<size_t>(r)]; }
  Region& out(int r) { return out_.regions[static_cast<size_t>(r)]; }

  Function& function_;
  NodeFactory& factory_;
  LoopTree tree_;
  LoopTree out_;
  Scev& scev_;
  Facts facts_;
  const FlatParams& params_;
  Needed needed_;
  Scopes out_scopes_;
  int scope_ = 0;
  std::vector<NodeId> memo_;
  std::vector<NodeId> memo_log_;          // pure nodes with a memo, in order
  std::vector<uint8_t> loop_memo_;        // depends_on_loops: 0 unknown, 1 no, 2 yes
  std::vector<bool> runs_at_least_once_;  // do-while loops whose extent is at least 1 by force
  std::vector<bool> inlined_;             // loops that run once
};

// Is a condition true whatever its parts are? Small ones are tried out.
bool is_tautology(NodeFactory& factory, NodeId condition);

}  // namespace nrd::lift
