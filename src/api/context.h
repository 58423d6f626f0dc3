// SPDX-License-Identifier: MIT
// src/api/context.h: what calls share: backends, threads, memory, hooks and prepared plans.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "api/memory.h"
#include "api/plan.h"

namespace nrd {

// Held shared while a kernel is looked for, alone while a plug-in is added: contexts share the
// process's registry.
std::shared_mutex& registry_mutex();

class Context {
 public:
  static Expected<std::shared_ptr<Context>> make(const nereid_context_options& options);

  KernelRegistry& registry() { return *registry_; }
  WorkspacePool& workspaces() { return workspaces_; }    // of one kernel
  WorkspacePool& temporaries() { return temporaries_; }  // of calls that run several kernels
  const Allocator& allocator() const { return allocator_; }
  PlanCache& plans() { return plans_; }
  bool strict() const { return strict_; }

  Exec exec(int threads) const { return {threads > 0 ? threads : threads_, executor_.get()}; }
  int threads() const { return threads_; }
  // The call's own, else the thread's (push_backend), else the context's, else the device's.
  std::string_view backend_for(const Call& call) const;
  std::string_view isa_word() const;
  void log_dispatch(const Plan& plan) const;

 private:
  Context() = default;

  Allocator allocator_;
  int threads_ = 1;
  bool strict_ = false;
  std::string backend_;
  void* log_user_ = nullptr;
  void (*log_hook_)(void*, int32_t, const char*) = nullptr;
  std::unique_ptr<Executor> executor_;            // null: the default pool
  std::unique_ptr<KernelRegistry> own_registry_;  // with an ISA cap of its own
  KernelRegistry* registry_ = nullptr;
  WorkspacePool workspaces_{allocator_};
  WorkspacePool temporaries_{allocator_};
  PlanCache plans_{1024};  // destroyed before the registry whose kernels it holds
};

// Finds or prepares the call's plan and runs it.
Expected<void> run_call(Context& context, const nereid_call* call);

// The context behind a handle; null means the default one.
Expected<std::shared_ptr<Context>*> context_of(nereid_context* handle);
// A pushed backend of this thread, or empty.
std::string_view thread_backend();

}  // namespace nrd

struct nereid_context {
  std::shared_ptr<nrd::Context> context;
  bool is_default = false;
};
