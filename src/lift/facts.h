// SPDX-License-Identifier: MIT
// src/lift/facts.h: what a condition says about integers, and what follows from it.
#pragma once

#include <span>

#include "lift/scev.h"

namespace nrd::lift {

enum class FactKind : uint8_t { kAtLeastZero, kZero, kNotZero };
struct Fact {
  FactKind kind = FactKind::kAtLeastZero;
  IntPoly poly;
};

// What holds where a condition is `truth`: comparisons of integers, joined by `and`.
void collect_facts(const Function& function, Scev& scev, NodeId condition, bool truth,
                   std::vector<Fact>& out);

class Facts {
 public:
  Facts(const Function& function, Scev& scev) : function_(function), scev_(scev) {}

  // Conditions that hold from now on, until `pop` takes back to a mark.
  size_t mark() const { return known_.size(); }
  void assume(NodeId condition);
  void assume(const Fact& fact);
  void pop(size_t mark) { known_.resize(mark); }

  // Counters run from 0 to the extent of their loop less one.
  void set_extent(NodeId iv, IntPoly extent);

  bool proves_nonnegative(const IntPoly& poly);
  bool proves_at_least_one(const IntPoly& count);
  // A comparison's value, where it is known.
  enum class Verdict : uint8_t { kUnknown, kTrue, kFalse };
  Verdict decide(NodeId condition);

  // The same count, where what is known decides between the arms of its minima and maxima.
  IntPoly narrowed(const IntPoly& count);

  // Does a count come to nothing where all of these hold?
  bool is_at_most_zero(const IntPoly& count, std::span<const Fact> given);

 private:
  bool nonnegative(const IntPoly& poly, int depth);
  bool nonnegative_whatever(const IntPoly& poly, NodeId atom, int depth);
  bool nonnegative_by_bounds(const LinearSplit& split, int64_t slope, NodeId atom, int depth);
  void assume_at_least_zero(const IntPoly& poly, int depth);
  bool combines(const IntPoly& poly, const IntPoly& given, int depth);
  const IntPoly* extent_of(NodeId iv) const;

  const Function& function_;
  Scev& scev_;
  std::vector<IntPoly> known_;  // each at least 0
  int steps_left_ = 0;
  std::vector<std::pair<NodeId, IntPoly>> extents_;
};

}  // namespace nrd::lift
