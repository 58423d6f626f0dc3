// SPDX-License-Identifier: MIT
// src/lift/if_converter.h: inside ifconvert.h: one conversion.
//
// Each loop body, inner loops taken as one block, is an acyclic graph: a region. Regions are
// walked in program order, and every old node is translated in the region where it is asked for:
// the same node means one value inside a loop and another, the last one, behind it.
#pragma once

#include "lift/loop_shape.h"

namespace nrd::lift {

class IfConverter {
 public:
  IfConverter(Function& function, NodeFactory& factory, const CSignature& signature,
              const FlatParams& params);
  LoopTree run();

 private:
  // ifconvert.cpp: program order
  void make_regions();
  void walk(int region);
  void walk_block(BlockId block);
  void walk_access(NodeId access, NodeId guard);
  void walk_loop(int region);
  void make_carries(int region);
  void name_results(int region);

  // ifconvert.cpp: translation
  NodeId translate(NodeId old);
  NodeId translate_now(NodeId old);
  NodeId at_scope(NodeId old, int region);
  NodeId behind(int region, NodeId value);
  NodeId argument(const Node& node);
  NodeId parameter(uint32_t flat, Type type);
  NodeId struct_field(const Node& load);

  // gates.cpp: phis
  void find_copies();
  NodeId common_source(const Phi& phi) const;
  NodeId gate(BlockId join, const Phi* phi);
  NodeId gate_back(int region, const Phi* phi);
  NodeId reach(BlockId block);
  NodeId run_gate(BlockId join, const Phi* phi, BlockId start);
  NodeId from_block(BlockId block);
  NodeId from_block_now(BlockId block);
  NodeId along(BlockId from, BlockId to);
  bool follow(BlockId& from, BlockId& to, BlockId join) const;
  int child_around(int region) const;

  Region& region(int r) { return tree_.regions[static_cast<size_t>(r)]; }
  const LoopShape& shape(int r) const { return shapes_[static_cast<size_t>(r - 1)]; }
  const NaturalLoop& loop(int r) const { return f_.loops[static_cast<size_t>(r - 1)]; }
  BlockId header(int r) const { return loop(r).header; }
  int region_of(BlockId b) const { return f_.blocks[b].loop + 1; }

  Function& f_;
  NodeFactory& factory_;
  const CSignature& signature_;
  const FlatParams& params_;
  std::vector<LoopShape> shapes_;
  LoopTree tree_;
  Scopes scopes_;
  int scope_ = 0;
  std::vector<NodeId> memo_;     // of each old node, in the present scope
  std::vector<NodeId> log_;      // old nodes with a memo, in order
  std::vector<NodeId> copy_of_;  // of old phis: the value, or the phi itself
  std::vector<NodeId> at_home_;  // of old phis and loads: the new node, in their own region

  BlockId gate_join_ = kNoBlock;
  const Phi* gate_phi_ = nullptr;  // null: the value is whether control gets there
  std::vector<NodeId> gate_memo_;
};

}  // namespace nrd::lift
