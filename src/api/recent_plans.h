// SPDX-License-Identifier: MIT
// src/api/recent_plans.h: the plans that a thread ran lately, by the calls they answered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/call_words.h"
#include "api/plan.h"

namespace nrd {

// Found without a lock, a copy or an allocation: nobody but its thread looks here, and a call is
// compared where it lies. A plan is shared with its context's own table; one that only rests here
// goes when its place is taken, when this thread destroys the context, or with the thread.
class RecentPlans {
 public:
  // The plan of an equal call: same context, generation, names, backend, attributes, dtypes, sizes,
  // strides, devices and flags. Null if there is none. Valid until insert() or forget().
  [[gnu::always_inline]] const Plan* find(const FreshCall& fresh) {
    const Entry*& latest = latest_[names_number(*fresh.call) % latest_.size()];
    if (latest && is_equal(*latest, fresh)) return latest->plan.get();
    return find_in_set(fresh, latest);
  }
  // Calls that are unusual (tensors of an older caller, very long words) are not kept.
  void insert(const FreshCall& fresh, std::shared_ptr<const Plan> plan);
  void forget(uint64_t context_id);

 private:
  struct Entry {
    std::vector<uint64_t> words;  // what makes calls equal; empty: a free place
    std::shared_ptr<const Plan> plan;
  };
  // A layer has some twenty calls, a model a few shapes of each. Calls that differ in strides
  // alone meet in one set.
  static constexpr int kSetBits = 6;
  static constexpr size_t kWays = 4;
  using Set = std::array<Entry, kWays>;

  [[gnu::always_inline]] static bool is_equal(const Entry& entry, const FreshCall& fresh) {
    if (!entry.plan) return false;
    WordMatcher matcher(entry.words.data());
    return visit_call(fresh, matcher);
  }
  // Spelled names by the address of the operator's, which seldom changes.
  static uint64_t names_number(const nereid_call& call) {
    return call.names ? call.names->id : reinterpret_cast<uintptr_t>(call.op);
  }
  static size_t set_of(const nereid_call& call);
  const Plan* find_in_set(const FreshCall& fresh, const Entry*& latest);

  std::array<Set, size_t{1} << kSetBits> sets_;
  // The entry that calls with the same names used last: most operators are called with one shape,
  // and this needs no sizes to be found. Compared like any other, so it may be out of date.
  std::array<const Entry*, 128> latest_{};
};

}  // namespace nrd
