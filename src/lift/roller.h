// SPDX-License-Identifier: MIT
// src/lift/roller.h: inside unrolled.h: one unrolled loop, and what is shown of it.
#pragma once

#include <vector>

#include "lift/affine.h"

namespace nrd::lift {

// The blocks of the picture in unrolled.cpp.
struct Shape {
  BlockId fork = kNoBlock, main = kNoBlock, join = kNoBlock, rest = kNoBlock, end = kNoBlock;
  BlockId entry = kNoBlock;                            // the predecessor of main outside of it
  BlockId from_main = kNoBlock, from_fork = kNoBlock;  // predecessors of join
  BlockId from_rest = kNoBlock, from_join = kNoBlock;  // predecessors of end
  BlockId before_rest = kNoBlock;                      // the predecessor of rest outside of it
  bool rest_is_loop = false;
};

// A value that is carried from copy to copy.
struct Carried {
  NodeId main = kNoNode;  // the phi of main
  NodeId rest = kNoNode;  // what it is in rest: a phi of that, or of join
  NodeId next = kNoNode;  // what rest makes of it
};

class Roller {
 public:
  explicit Roller(Function& function)
      : f_(function), factory_(function), affine_(function), plain_(function, true) {}
  bool run();

 private:
  const Block& block(BlockId b) const { return f_.blocks[b]; }

  // the blocks
  bool is_loop(BlockId b) const;
  static BlockId other(const std::vector<BlockId>& two, BlockId one);
  bool is_empty(BlockId b) const;
  BlockId follow(BlockId& from, BlockId to) const;
  size_t edge(BlockId b, BlockId from) const;
  NodeId argument(const Phi& phi, BlockId from) const;
  bool find_shape(BlockId b);
  bool find_rest();

  // counters and counts
  const Phi* phi_of(NodeId id, BlockId of) const;
  int64_t step_of(const Phi& phi, BlockId loop) const;
  // A branch of `b` as: goes on in b while counter + step != end.
  struct Exit {
    const Phi* counter = nullptr;
    int64_t step = 0;
    NodeId end = kNoNode;
  };
  Exit exit_of(BlockId b) const;
  NodeId masked(NodeId id, int64_t mask) const;
  bool is_low_word(NodeId wide, NodeId word) const;
  bool find_count();
  NodeId left_in_rest() const;
  bool forks_by_count(NodeId count) const;
  bool joins_by_count(NodeId left) const;

  // what is carried
  void find_counters();
  const Affine* counter_of_join(NodeId id) const;
  bool find_carried();
  Carried carried_as(const Phi& phi) const;
  bool end_agrees() const;

  // nothing else sees the insides
  bool is_inside(NodeId id) const;
  bool reaches_inside(NodeId id, std::vector<bool>& seen) const;
  bool is_private() const;

  // copies
  bool in_copy(NodeId id, int64_t j, Affine& value) const;
  int64_t steps_in(const Affine& of, int64_t j) const;
  bool same(NodeId rest, NodeId main, int64_t j, int depth);
  bool same_arguments(std::array<NodeId, 3> a, std::array<NodeId, 3> b, Node n, int64_t j,
                      int depth);
  bool depends_on_inside(NodeId id) const;
  bool find_copies();
  bool find_store(NodeId rest, int64_t j);
  bool keeps_order() const;
  bool is_apart(int64_t distance, NodeId a, NodeId b) const;

  // the edit
  bool roll(BlockId b);
  void rewrite_main();
  void replace_in_join(NodeId old, NodeId by);
  Function& f_;
  NodeFactory factory_;
  AffineForms affine_, plain_;
  Shape s_;
  int64_t copies_ = 0;
  NodeId counter_ = kNoNode, count_ = kNoNode;
  std::vector<std::pair<NodeId, Affine>> counters_;  // of join, in those of main
  std::vector<Carried> carried_;
  std::vector<NodeId> begins_, first_;  // of each carried value: before a copy, behind the first
  std::vector<std::pair<NodeId, int64_t>> used_, stores_;  // accesses of main, each in its copy
};

}  // namespace nrd::lift
