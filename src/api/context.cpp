// SPDX-License-Identifier: MIT
// src/api/context.cpp: making contexts from options, the default one, and scoped backends.
#include "api/context.h"

#include <atomic>
#include <optional>
#include <vector>

#include "api/thread_state.h"
#include "base/device.h"
#include "base/lazy.h"
#include "base/log.h"
#include "dispatch/strict.h"

namespace nrd {
namespace {

// A caller's parallel_for, which may be wrong: what it runs is counted.
class HookExecutor final : public Executor {
 public:
  HookExecutor(decltype(nereid_context_options::parallel_for) hook, void* user, int width)
      : hook_(hook), user_(user), width_(width) {}
  int width() const override { return width_; }
  void run(int64_t count, ParallelBody body, void* context) override {
    Counted counted{body, context, count, {}, {}};
    call_hook("parallel_for", [&] { hook_(user_, count, Counted::run, &counted); });
    const int64_t done = counted.done.load(std::memory_order_acquire);
    const uint64_t all = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    if (done != count || counted.seen.load(std::memory_order_relaxed) != all)
      note_executor_fault(count, done);
  }

 private:
  struct Counted {
    ParallelBody body;
    void* context;
    int64_t count;
    std::atomic<int64_t> done;
    std::atomic<uint64_t> seen;  // the first 64 indices, to tell one that came twice

    static void run(void* self, int64_t index) {
      auto& c = *static_cast<Counted*>(self);
      if (index < 0 || index >= c.count) return;  // counts as not run
      c.body(c.context, index);
      if (index < 64) c.seen.fetch_or(uint64_t{1} << index, std::memory_order_relaxed);
      c.done.fetch_add(1, std::memory_order_release);
    }
  };

  decltype(nereid_context_options::parallel_for) hook_;
  void* user_;
  int width_;
};

Error option_error(std::string_view option, std::string got, std::string allowed) {
  return make_error({ErrorCode::kInvalidArgument, "",
                     fmt::format("nereid_context_options.{}", option), std::move(got),
                     std::move(allowed), ""});
}

Expected<void> check(const nereid_context_options& options) {
  if (options.threads < 0)
    return option_error("threads", fmt::format("{}", options.threads), "0 or more");
  if (options.executor_width < 0)
    return option_error("executor_width", fmt::format("{}", options.executor_width), "0 or more");
  if (options.executor_width > 0 && !options.parallel_for)
    return option_error("parallel_for", "a null pointer", "a function, as executor_width is given");
  if (options.strict < -1 || options.strict > 1)
    return option_error("strict", fmt::format("{}", options.strict), "-1, 0, 1");
  if (options.batch_invariant < 0 || options.batch_invariant > 1)
    return option_error("batch_invariant", fmt::format("{}", options.batch_invariant), "0, 1");
  if (options.release && !options.allocate)
    return option_error("allocate", "a null pointer", "a function, as release is given");
  return {};
}

Expected<bool> is_strict(int32_t option) {
  if (option != 0) return option > 0;
  return strict_from_environment();
}

}  // namespace

uint64_t next_context_id() {
  static constinit std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

constinit std::atomic<uint64_t> g_plan_generation{0};

void outdate_plans() { g_plan_generation.fetch_add(1, std::memory_order_acq_rel); }

std::string_view thread_backend() {
  const ThreadState* state = thread_state();
  return !state || state->backends.empty() ? std::string_view() : state->backends.back();
}

Expected<std::shared_ptr<Context>> Context::make(const nereid_context_options& options) {
  NRD_TRY(check(options));
  std::shared_ptr<Context> context(new Context);
  Expected<bool> strict = is_strict(options.strict);
  if (!strict) return strict.error();
  context->strict_ = *strict;
  context->batch_invariant_ = options.batch_invariant == 1;
  context->allocator_ = {options.user, options.allocate, options.release};
  context->log_user_ = options.user;
  context->log_hook_ = options.log;
  context->threads_ = options.threads > 0 ? options.threads : default_threads();
  if (options.parallel_for) {
    const int width = options.executor_width > 0 ? options.executor_width : context->threads_;
    if (options.threads == 0) context->threads_ = width;
    context->executor_ = std::make_unique<HookExecutor>(options.parallel_for, options.user, width);
  }
  Expected<KernelRegistry*> shared = KernelRegistry::shared();
  if (!shared) return shared.error();
  context->registry_ = *shared;
  if (options.isa) {
    Expected<IsaSet> isa = cap_isa((*shared)->machine().isa, options.isa);
    if (!isa) return isa.error();
    context->own_registry_ =
        std::make_unique<KernelRegistry>(Machine{*isa, DeviceProfile::host(*isa)});
    context->registry_ = context->own_registry_.get();
  }
  if (options.backend) {
    Expected<Backend*> backend = context->registry_->find_backend(options.backend);
    if (!backend) return backend.error();
    NRD_TRY((*backend)->load());  // a build or a machine may lack it
    context->backend_ = options.backend;
  }
  return context;
}

std::string_view Context::backend_for(const char* named, DeviceKind device) const {
  if (named) return named;
  if (std::string_view scoped = thread_backend(); !scoped.empty()) return scoped;
  if (!backend_.empty()) return backend_;
  return word(device);
}

std::string_view Context::isa_word() const { return best_level(registry_->machine().isa).word; }

bool Context::logs_dispatch() const {
  if (log_hook_) return !Telling::in_progress();
  return log_enabled(LogLevel::kDispatch);
}

void Context::log_dispatch(const Plan& plan) const {
  if (!logs_dispatch()) return;
  std::string reason = plan.prepared().note();
  if (reason.empty()) reason = "the first that accepts";
  log_dispatch(fmt::format("{} -> {} {} ({})", plan.text(), plan.choice().backend->name(),
                           plan.choice().kernel->name(), reason));
}

void Context::log_dispatch(const std::string& line) const {
  if (!log_hook_) return log(LogLevel::kDispatch, line);
  if (Telling::in_progress()) return;
  const Telling telling;
  call_hook("log",
            [&] { log_hook_(log_user_, static_cast<int32_t>(LogLevel::kDispatch), line.c_str()); });
}

constinit std::atomic<nereid_context*> g_default_context{nullptr};

Expected<std::shared_ptr<Context>*> context_of(nereid_context* handle) {
  if (!handle) handle = g_default_context.load(std::memory_order_acquire);
  if (handle) return &handle->context;
  nereid_context* shared = nereid_default_context();
  if (shared) return &shared->context;
  const nereid_error& e = *nereid_last_error();
  return make_error({static_cast<ErrorCode>(e.status), e.op, e.argument, e.got, e.allowed, e.hint});
}

}  // namespace nrd

namespace {

// Never destroyed: other threads may still call while the process ends.
struct DefaultContext {
  std::unique_ptr<nereid_context> handle;
  std::optional<nrd::Error> error;
};

constinit nrd::Lazy<const DefaultContext> g_default;

const DefaultContext& default_instance() {
  const DefaultContext& instance = g_default.get([] {
    DefaultContext built;
    auto made = nrd::Context::make({});
    if (made)
      built.handle.reset(new nereid_context{std::move(*made), true});
    else
      built.error = made.error();
    return built;
  });
  nrd::g_default_context.store(instance.handle.get(), std::memory_order_release);
  return instance;
}

}  // namespace

extern "C" {

nereid_context* nereid_default_context(void) {
  nereid_context* handle = nullptr;
  nrd::guarded([&]() -> nrd::Expected<void> {
    const DefaultContext& instance = default_instance();
    handle = instance.handle.get();
    if (instance.error) return *instance.error;
    return {};
  });
  return handle;
}

nereid_status nereid_context_create(const nereid_context_options* options,
                                    nereid_context** context) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!context) return nrd::null_error("context", "where to put the handle");
    nereid_context_options known{};
    if (options) NRD_TRY(nrd::read_struct(options, "nereid_context_options", known));
    auto made = nrd::Context::make(known);
    if (!made) return made.error();
    *context = new nereid_context{std::move(*made), false};
    return {};
  });
}

void nereid_context_destroy(nereid_context* context) {
  if (!context || context->is_default) return;
  nrd::ThreadState* state = nrd::t_thread_state;
  if (state && state->depth == 0) state->plans.forget(context->context->id());
  delete context;
}

nereid_status nereid_push_backend(nereid_context* context, const char* name) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!name) return nrd::null_error("backend", "a backend's name");
    auto found = nrd::context_of(context);
    if (!found) return found.error();
    auto backend = (**found)->registry().find_backend(name);
    if (!backend) return backend.error();
    NRD_TRY((*backend)->load());
    nrd::ThreadState* state = nrd::thread_state();
    if (!state)
      return nrd::make_error({nrd::ErrorCode::kEnvironment, "", "backend", "a thread that ends",
                              "a running thread", ""});
    state->backends.push_back(name);
    return {};
  });
}

void nereid_pop_backend(void) {
  nrd::ThreadState* state = nrd::t_thread_state;
  if (state && !state->backends.empty()) state->backends.pop_back();
}

void nereid_set_log(void (*log)(void* user, int32_t level, const char* line), void* user) {
  nrd::guarded([&]() -> nrd::Expected<void> {
    if (!log)
      nrd::set_log_sink({});
    else
      nrd::set_log_sink([log, user](nrd::LogLevel level, std::string_view line) {
        log(user, static_cast<int32_t>(level), std::string(line).c_str());
      });
    return {};
  });
}

}  // extern "C"
