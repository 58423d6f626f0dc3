// SPDX-License-Identifier: MIT
// src/api/recent_plans.cpp: where plans rest, and which goes for a new one.
#include "api/recent_plans.h"

#include <algorithm>
#include <utility>

namespace nrd {
namespace {

// A number that differs where sizes do; the first and the last say enough of most tensors.
uint64_t size_number(const nereid_tensor* tensor) {
  if (!tensor || tensor->struct_size != sizeof(nereid_tensor) || !tensor->sizes) return 0;
  const auto rank = static_cast<uint32_t>(tensor->rank);
  if (rank - 1 >= kMaxRank) return 0;
  const auto first = static_cast<uint64_t>(tensor->sizes[0]),
             last = static_cast<uint64_t>(tensor->sizes[rank - 1]);
  return first * 0xbf58476d1ce4e5b9u + last * 0x94d049bb133111ebu +
         static_cast<uint32_t>(tensor->dtype);
}

}  // namespace

// Any function of the call will do, since all of it is compared afterwards; here the names and the
// sizes of the first and the last operand.
size_t RecentPlans::set_of(const nereid_call& call) {
  uint64_t number = names_number(call);
  if (call.operands && call.operand_count > 0 && call.operand_count <= kMaxCallOperands)
    number += size_number(call.operands[0].tensor) +
              3 * size_number(call.operands[call.operand_count - 1].tensor);
  return number * 0x9e3779b97f4a7c15u >> (64 - kSetBits);
}

const Plan* RecentPlans::find_in_set(const FreshCall& fresh, const Entry*& latest_entry) {
  for (const Entry& entry : sets_[set_of(*fresh.call)])
    if (is_equal(entry, fresh)) {
      latest_entry = &entry;
      return entry.plan.get();
    }
  return nullptr;
}

void RecentPlans::insert(const FreshCall& fresh, std::shared_ptr<const Plan> plan) {
  Entry entry{{}, std::move(plan)};
  WordRecorder recorder(entry.words);
  if (!visit_call(fresh, recorder)) return;
  Set& set = sets_[set_of(*fresh.call)];
  std::rotate(set.begin(), set.end() - 1, set.end());
  set.front() = std::move(entry);  // in the place of the one that came first
}

void RecentPlans::forget(uint64_t context_id) {
  for (Set& set : sets_)
    for (Entry& entry : set)
      if (entry.plan && entry.words.front() == context_id) entry = Entry();
}

}  // namespace nrd
