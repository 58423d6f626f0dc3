// SPDX-License-Identifier: MIT
// src/api/plan.h: a call, checked and prepared once, and the cache of such plans.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/call.h"
#include "api/pointer_guard.h"
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
  // The same with the data of a call that has the operands this plan was made for.
  Expected<void> run(Context& context, const nereid_call& call) const;

  const Desc& desc() const { return bound_.desc; }
  size_t operand_count() const { return bound_.order.size(); }
  const PreparedKernel& prepared() const { return *prepared_; }
  const KernelChoice& choice() const { return choice_; }
  std::string text() const;  // "rms_norm rows=4,cols=64 f32 eps=1e-05"

 private:
  Expected<void> take_constants(const Call& call);
  void note_sources();
  Expected<void> fill_constants(void** pointers) const;
  Expected<void> check_workspace(void* workspace, size_t bytes) const;
  // `pointers` as desc.operands.
  Expected<void> run_checked(Context& context, void** pointers, void* workspace,
                             size_t workspace_bytes, int threads) const;

  static constexpr int8_t kNoSource = -1;

  std::shared_ptr<const KernelRegistry> registry_;  // if it may go before the plan; see Context
  BoundCall bound_;
  KernelChoice choice_;
  std::unique_ptr<PreparedKernel> prepared_;
  std::vector<void*> constants_;  // as desc.operands, null where not constant; or empty
  std::vector<IndexCheck> index_checks_;
  // What every run needs, computed once.
  PointerGuard guard_;
  size_t workspace_bytes_ = 0;
  uint32_t pointer_count_ = 0;                  // desc.operands
  std::array<int8_t, kMaxOperands> sources_{};  // which of the call's operands each of them is
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
