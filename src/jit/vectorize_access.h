// SPDX-License-Identifier: MIT
// src/jit/vectorize_access.h: the accesses of one would-be vector loop. Private to vectorize.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jit/vectorize.h"

namespace nrd::jit {

class AccessPlanner {
 public:
  AccessPlanner(const Analysis& analysis, uint16_t loop, int lanes);

  std::string run();  // empty, or why the loop cannot be a vector loop
  bool has_jumps() const { return has_jumps_; }
  std::vector<std::pair<ValueId, AccessPlan>> take() { return std::move(plans_); }

 private:
  void collect(const std::vector<ValueId>& body);
  std::string plan(ValueId id);
  bool is_block(const Poly& index, int64_t& block) const;
  void pair_up();
  std::string check_order() const;
  bool are_apart(const AccessPlan& a, const AccessPlan& b) const;
  bool stays_in_its_column(const AccessPlan& a) const;

  const Analysis& a_;
  const OpTrace& trace_;
  uint16_t loop_;
  int lanes_;
  bool has_jumps_ = false;
  std::vector<ValueId> ids_;
  std::vector<std::pair<ValueId, AccessPlan>> plans_;
};

}  // namespace nrd::jit
