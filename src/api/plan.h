// SPDX-License-Identifier: MIT
// src/api/plan.h: a call, checked and prepared once, and the cache of such plans.
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/call.h"
#include "dispatch/registry.h"

namespace nrd {

class Context;

// Immutable once made; any number of threads may run it at once.
class Plan {
 public:
  // With `constants`, operands that the caller or the catalogue marks constant are handed to the
  // kernel now and stay as they are; without, every run brings all of them.
  static Expected<std::unique_ptr<Plan>> make(Context& context, const Call& call,
                                              std::string_view backend, bool with_constants);

  // `data` in the order of the call's operands. A null workspace is taken from the context.
  Expected<void> run(Context& context, std::span<void* const> data, void* workspace,
                     size_t workspace_bytes, int threads) const;

  const Desc& desc() const { return bound_.desc; }
  size_t operand_count() const { return bound_.order.size(); }
  const PreparedKernel& prepared() const { return *prepared_; }
  const KernelChoice& choice() const { return choice_; }
  std::string text() const;  // "rms_norm rows=4,cols=64 f32 eps=1e-05"

 private:
  Expected<void> take_constants(const Call& call);
  Expected<void> fill_pointers(std::span<void* const> data, void** pointers) const;

  BoundCall bound_;
  KernelChoice choice_;
  std::unique_ptr<PreparedKernel> prepared_;
  std::vector<void*> constants_;  // as desc.operands, null where not constant; or empty
  std::vector<IndexCheck> index_checks_;
};

// Plans by the bytes of their CallKey. Bounded: the plan that has rested longest goes first.
class PlanCache {
 public:
  explicit PlanCache(size_t capacity) : capacity_(capacity) {}
  std::shared_ptr<const Plan> find(std::string_view key) const;
  // The plan that is in the cache afterwards: another thread may have been faster.
  std::shared_ptr<const Plan> insert(std::string_view key, std::shared_ptr<const Plan> plan);
  size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;
    mutable std::atomic<uint64_t> last_used{0};
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  const size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::atomic<uint64_t> clock_{0};  // counts insertions
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

}  // namespace nrd
