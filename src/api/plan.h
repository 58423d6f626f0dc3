// SPDX-License-Identifier: MIT
// src/api/plan.h: a call, checked and prepared once.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/keyed_cache.h"
#include "api/pointer_guard.h"
#include "dispatch/registry.h"

namespace nrd {

class Context;

// Immutable once made, but for what it has looked at; any number of threads may run it at once.
class Plan {
 public:
  // With `constants`, operands that the caller or the catalogue marks constant are handed to the
  // kernel now and stay as they are; without, every run brings all of them.
  static Expected<std::unique_ptr<Plan>> make(Context& context, const Call& call,
                                              std::string_view backend, bool with_constants);

  // What a run brings beside its data. A null workspace is taken from the context.
  struct How {
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    int threads = 0;         // on the CPU
    void* stream = nullptr;  // on a device
  };
  // `data` in the order of the call's operands.
  Expected<void> run(Context& context, std::span<void* const> data, const How& how) const;
  // Puts it into the order of desc.operands, where every check of memory has passed.
  Expected<void> check(std::span<void* const> data, void** pointers) const;
  // Runs with the data of a call that has the operands this plan was made for.
  Expected<void> run(Context& context, const nereid_call& call) const;

  const Desc& desc() const { return bound_.desc; }
  size_t operand_count() const { return bound_.order.size(); }
  const PreparedKernel& prepared() const { return *prepared_; }
  const KernelChoice& choice() const { return choice_; }
  std::string text() const;  // "rms_norm rows=4,cols=64 f32 eps=1e-05"

 private:
  Expected<void> take_constants(const Call& call);
  void note_sources();
  Expected<void> arrange(std::span<void* const> data, void** pointers) const;
  Expected<void> fill_constants(void** pointers) const;
  Expected<void> check_workspace(void* workspace, size_t bytes) const;
  // `pointers` as desc.operands.
  Expected<void> check_memory(void* const* pointers) const;
  Expected<void> run_checked(Context& context, void** pointers, const How& how) const;
  Expected<void> run_on_device(Context& context, void** pointers, const How& how) const;
  Expected<void> check_places(void* const* pointers) const;

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
  bool on_device_ = false;
  mutable std::atomic<bool> places_checked_{false};
  uint32_t pointer_count_ = 0;                  // desc.operands
  std::array<int8_t, kMaxOperands> sources_{};  // which of the call's operands each of them is
};

using PlanCache = KeyedCache<Plan>;

}  // namespace nrd
