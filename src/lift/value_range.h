// SPDX-License-Identifier: MIT
// src/lift/value_range.h: between which numbers an integer of a Function lies where a block runs.
//
// What bits can hold, what operations make of it, and the conditions under which the block runs.
// Counters are taken not to wrap, as in scev.h.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

struct Interval {
  static constexpr int64_t kFar = int64_t{1} << 52;  // beyond, nothing is known
  int64_t low = -kFar, high = kFar;
  int64_t count() const { return high - low + 1; }
  bool is_known() const { return low > -kFar && high < kFar; }
  bool is_within(const Interval& all) const { return low >= all.low && high <= all.high; }
};

class ValueRanges {
 public:
  explicit ValueRanges(const Function& function) : f_(function) {}

  Interval of(NodeId id, BlockId block);  // of the number with its sign

  // What is added to the phi in each round, where `next` is that: small enough not to wrap; or 0.
  int64_t step_of(NodeId next, NodeId phi) const;

 private:
  struct Known {
    NodeId node;
    Interval range;
  };

  Interval range_of(NodeId id, int depth);
  Interval made(NodeId id, int depth);
  Interval of_phi(NodeId id, int depth);
  Interval of_pure(NodeId id, const Interval& all, int depth);
  Interval of_select(const Node& n, int depth);
  Interval of_division(const Node& n, const Interval& all, int depth);
  Interval of_remainder(NodeId id, int depth);
  Interval of_argument_on_edge(NodeId arg, BlockId from, BlockId to, int depth);
  Interval of_next(NodeId phi, NodeId next, BlockId from, const Interval& begin, int depth);
  void add_conditions_of(BlockId block, int depth);
  void add_edge(BlockId from, BlockId to, int depth);
  void add(NodeId condition, bool holds, int depth);

  const Function& f_;
  std::vector<Known> known_;
};

}  // namespace nrd::lift
