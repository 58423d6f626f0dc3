// SPDX-License-Identifier: MIT
// nereid/context.h: threads, hooks and backends that calls share.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nereid/dtype.h"
#include "nereid/error.h"

namespace nereid {

inline const char* version() { return nereid_version(); }

enum class LogLevel : int32_t { dispatch = 1, info = 2, warning = 3 };

// What is not set keeps its default. Hooks must not throw; several threads may call them at once.
struct ContextOptions {
  int threads = 0;           // a call's threads unless it says; 0: NEREID_THREADS or the cores
  int strict = 0;            // 1: a fallback is an error; -1: never; 0: NEREID_ON_FALLBACK
  std::string backend = {};  // empty: "cpu"
  std::string isa = {};      // the highest ISA level to use; refused where absent
  std::function<void*(size_t bytes, size_t alignment)> allocate = {};
  std::function<void(void* memory, size_t bytes)> release = {};
  std::function<void(LogLevel, std::string_view line)> log = {};  // this context's dispatch lines
  // Calls body(i) for each i in [0, count) on threads of your own; returns when all are done.
  std::function<void(int64_t count, const std::function<void(int64_t)>& body)> parallel_for = {};
  int executor_width = 0;  // threads that parallel_for has
};

// Backends, threads, memory and prepared calls. Calls without a context use the process's default
// one. Thread safe; must outlive the calls, plans and packed matrices that use it.
class Context {
 public:
  explicit Context(ContextOptions options = {})
      : options_(std::make_unique<ContextOptions>(std::move(options))) {
    nereid_context_options c{};
    c.struct_size = sizeof c;
    c.threads = options_->threads;
    c.strict = options_->strict;
    c.executor_width = options_->executor_width;
    c.backend = options_->backend.empty() ? nullptr : options_->backend.c_str();
    c.isa = options_->isa.empty() ? nullptr : options_->isa.c_str();
    c.user = options_.get();
    if (options_->allocate) c.allocate = &allocate;
    if (options_->release) c.release = &release;
    if (options_->log) c.log = &log;
    if (options_->parallel_for) c.parallel_for = &parallel_for;
    nereid_context* handle = nullptr;
    check(nereid_context_create(&c, &handle));
    handle_.reset(handle);
  }
  nereid_context* get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(nereid_context* context) const { nereid_context_destroy(context); }
  };
  static const ContextOptions& hooks(void* user) { return *static_cast<ContextOptions*>(user); }
  static void* allocate(void* user, size_t bytes, size_t alignment) {
    return hooks(user).allocate(bytes, alignment);
  }
  static void release(void* user, void* memory, size_t bytes) {
    hooks(user).release(memory, bytes);
  }
  static void log(void* user, int32_t level, const char* line) {
    hooks(user).log(static_cast<LogLevel>(level), line);
  }
  static void parallel_for(void* user, int64_t count, nereid_body body, void* body_context) {
    hooks(user).parallel_for(count, [=](int64_t index) { body(body_context, index); });
  }

  std::unique_ptr<ContextOptions> options_;  // before the handle: its hooks are called to the end
  std::unique_ptr<nereid_context, Destroy> handle_;
};

// The handle of a context, null for the default one.
inline nereid_context* handle_of(const Context* context) {
  return context ? context->get() : nullptr;
}

// Until the result is destroyed, calls of this thread that name no backend use this one.
class [[nodiscard]] BackendScope {
 public:
  explicit BackendScope(const std::string& name, const Context* context = nullptr) {
    check(nereid_push_backend(handle_of(context), name.c_str()));
  }
  ~BackendScope() { nereid_pop_backend(); }
  BackendScope(const BackendScope&) = delete;
  BackendScope& operator=(const BackendScope&) = delete;
};
inline BackendScope use_backend(const std::string& name, const Context* context = nullptr) {
  return BackendScope(name, context);
}

// Adds the backend of a shared library (nereid/plugin.h) and returns its name.
inline std::string load_plugin(const std::string& path, const Context* context = nullptr) {
  const char* name = nullptr;
  check(nereid_load_plugin(handle_of(context), path.c_str(), &name));
  return name;
}

// Prepares kernels and threads, so that a first call is as fast as a second. No ops: all of them.
inline void warm_up(const std::vector<std::string>& ops = {},
                    const std::vector<DType>& dtypes = {DType::f32},
                    const Context* context = nullptr) {
  std::vector<const char*> names;
  for (const std::string& op : ops) names.push_back(op.c_str());
  std::vector<nereid_dtype> types;
  for (DType dtype : dtypes) types.push_back(static_cast<nereid_dtype>(dtype));
  check(nereid_warm_up(handle_of(context), names.data(), static_cast<int32_t>(names.size()),
                       types.data(), static_cast<int32_t>(types.size())));
}

// Where lines go that belong to no context with a log hook; an empty function switches them off.
// Process-wide.
inline void set_log(std::function<void(LogLevel, std::string_view line)> sink) {
  using Sink = std::function<void(LogLevel, std::string_view)>;
  if (!sink) return nereid_set_log(nullptr, nullptr);
  static Sink& kept = *new Sink;  // another thread may be inside it while the process ends
  nereid_set_log(nullptr, nullptr);
  kept = std::move(sink);
  nereid_set_log(
      [](void* user, int32_t level, const char* line) {
        (*static_cast<Sink*>(user))(static_cast<LogLevel>(level), line);
      },
      &kept);
}

}  // namespace nereid
