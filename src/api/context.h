// SPDX-License-Identifier: MIT
// src/api/context.h: what calls share: backends, threads, memory, hooks and prepared plans.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "api/device_workspaces.h"
#include "api/memory.h"
#include "api/plan.h"

namespace nrd {

// Numbers that tell contexts apart, also those that are gone.
uint64_t next_context_id();

// Plans of an earlier generation are prepared anew: what was chosen for them may no longer be what
// would be chosen now.
extern std::atomic<uint64_t> g_plan_generation;
inline uint64_t plan_generation() { return g_plan_generation.load(std::memory_order_acquire); }
void outdate_plans();

class Context {
 public:
  static Expected<std::shared_ptr<Context>> make(const nereid_context_options& options);

  KernelRegistry& registry() { return *registry_; }
  WorkspacePool& workspaces() { return workspaces_; }    // of one kernel
  WorkspacePool& temporaries() { return temporaries_; }  // of calls that run several kernels
  DeviceWorkspaces& device_workspaces() { return device_workspaces_; }
  const Allocator& allocator() const { return allocator_; }
  PlanCache& plans() { return plans_; }
  bool strict() const { return strict_; }
  bool batch_invariant() const { return batch_invariant_; }
  uint64_t id() const { return id_; }  // of no other context, ever
  // Null when the registry is the process's, which outlives every plan.
  std::shared_ptr<const KernelRegistry> own_registry() const { return own_registry_; }

  Exec exec(int threads) const { return {threads > 0 ? threads : threads_, executor_.get()}; }
  int threads() const { return threads_; }
  // The call's own, else the thread's (push_backend), else the context's, else the device's.
  std::string_view backend_for(const Call& call) const {
    return backend_for(call.head.backend, call.device.kind);
  }
  std::string_view backend_for(const char* named, DeviceKind device) const;
  std::string_view isa_word() const;
  bool logs_dispatch() const;
  void log_dispatch(const Plan& plan) const;
  void log_dispatch(const std::string& line) const;

 private:
  Context() = default;

  const uint64_t id_ = next_context_id();
  Allocator allocator_;
  int threads_ = 1;
  bool strict_ = false, batch_invariant_ = false;
  std::string backend_;
  void* log_user_ = nullptr;
  void (*log_hook_)(void*, int32_t, const char*) = nullptr;
  std::unique_ptr<Executor> executor_;            // null: the default pool
  std::shared_ptr<KernelRegistry> own_registry_;  // with an ISA cap of its own
  KernelRegistry* registry_ = nullptr;
  WorkspacePool workspaces_{allocator_};
  WorkspacePool temporaries_{allocator_};
  DeviceWorkspaces device_workspaces_;
  PlanCache plans_{1024};  // destroyed before the registry whose kernels it holds
};

// Finds or prepares the call's plan and runs it. A call that this thread made before costs one
// lookup in its own table.
Expected<void> run_call(Context& context, const nereid_call* call);

// A call whose plan was found or prepared, with its memory checked.
struct PreparedCall {
  std::shared_ptr<const Plan> plan;
  std::array<void*, kMaxOperands> pointers{};  // as desc.operands
};
Expected<void> prepare_call(Context& context, const nereid_call& call, PreparedCall& prepared);

// Null until the default context is asked for.
extern std::atomic<nereid_context*> g_default_context;
// The context behind a handle; null means the default one.
Expected<std::shared_ptr<Context>*> context_of(nereid_context* handle);
// A pushed backend of this thread, or empty.
std::string_view thread_backend();

}  // namespace nrd

struct nereid_context {
  std::shared_ptr<nrd::Context> context;
  bool is_default = false;
};
