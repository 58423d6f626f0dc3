// SPDX-License-Identifier: MIT
// src/lift/emitter.h: inside structure.h: writes a trace, statement by statement.
#pragma once

#include "lift/flat_map.h"
#include "lift/needed.h"
#include "lift/scev.h"

namespace nrd::lift {

class Emitter {
 public:
  Emitter(Function& function, NodeFactory& factory, const LoopTree& tree, Scev& scev,
          const FlatParams& params, const LiftRequest& request);
  OpTrace run();

 private:
  // structure.cpp: statements
  void emit_params();
  void emit_map();
  void emit_result();
  void emit_items(int region);
  void emit_load(int region, NodeId load);
  void emit_store(int region, const Node& store);
  void emit_loop(int parent, int region);
  void emit_carries(int region, uint16_t loop, std::vector<size_t>& needed);
  uint16_t open_loop(ValueId extent, int region);
  std::vector<ValueId>& body(int region);
  ValueId append(int region, const TraceValue& value);
  ValueId new_value(const TraceValue& value);

  // emit_prepare.cpp: questions about the whole tree
  void find_sizes();
  void find_guarded_choices();
  void try_guarded_choice(NodeId select, NodeId guard, NodeId load, NodeId other);

  // emit_values.cpp
  ValueId emit(NodeId node);
  ValueId emit_now(NodeId node);
  ValueId place_at(NodeId node, TraceOp op, TraceType type, ValueId a, ValueId b = kNoValue,
                   ValueId c = kNoValue);
  ValueId constant_of(const Node& node);
  ValueId constant(TraceType type, uint64_t bits);
  ValueId argument(const Node& node);
  ValueId size_param(uint16_t index);
  ValueId leaf(const Node& node);
  ValueId pure(NodeId id, const Node& node);
  ValueId lookup(NodeId at, const Node& node, bool sign);
  ValueId select_bool(NodeId id, const Node& node);
  ValueId compare_bool(NodeId id, const Node& node);
  ValueId compare(NodeId at, Predicate predicate, ValueId a, ValueId b);
  ValueId truncated(NodeId id, const Node& node);
  ValueId widened(NodeId id, const Node& node);
  ValueId extended(NodeId at, NodeId id, bool sign);

  // emit_index.cpp: sums of products, in one order
  struct Indexed {
    ValueId value = kNoValue;
    int scope = 0;
  };
  ValueId sum_of(const IntPoly& poly);
  std::vector<PolyTerm> in_order(const IntPoly& poly) const;
  Indexed product_of(const PolyTerm& term, int64_t coefficient);
  Indexed joined(TraceOp op, const Indexed& a, const Indexed& b);
  ValueId index_constant(int64_t value);

  const Region& region_at(int r) const { return tree_.regions[static_cast<size_t>(r)]; }

  Function& f_;
  NodeFactory& factory_;
  const LoopTree& tree_;
  Scev& scev_;
  const FlatParams& params_;
  const LiftRequest& request_;
  Scopes scopes_;
  Needed needed_;
  OpTrace trace_;
  bool is_map_ = false;                          // of a function that returns a value
  std::vector<ValueId> values_;                  // of each node
  std::vector<bool> is_size_;                    // of each parameter
  std::vector<ValueId> sizes_;                   // their values
  std::vector<uint16_t> loop_of_;                // of each region
  std::vector<std::vector<LoopCarry>> carried_;  // by region and number
  std::vector<NodeId> otherwise_;                // of a guarded load: its other value
  std::vector<NodeId> same_as_;                  // of a select: the guarded load that it is
  FlatMap indices_;                              // sums and products by operation and operands
};

TraceType trace_type(Type type, uint64_t address);

}  // namespace nrd::lift
