// SPDX-License-Identifier: MIT
// nereid/context.h: threads, hooks and backends that calls share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nereid/dtype.h"
#include "nereid/error.h"
#include "nereid/ownership.h"

namespace nereid {

inline const char* version() { return nereid_version(); }

enum class LogLevel : int32_t { dispatch = 1, info = 2, warning = 3 };

// The body of a parallel_for hook. A std::function can hold it.
class Body {
 public:
  Body(nereid_body body, void* context) : body_(body), context_(context) {}
  void operator()(int64_t index) const { body_(context_, index); }

 private:
  nereid_body body_;
  void* context_;
};

// What is not set keeps its default. Hooks must not throw; several threads may call them at once.
struct ContextOptions {
  int threads = 0;           // a call's threads unless it says; 0: NEREID_THREADS or the cores
  int strict = 0;            // 1: a fallback is an error; -1: never; 0: NEREID_ON_FALLBACK
  std::string backend = {};  // empty: "cpu"
  std::string isa = {};      // the highest ISA level to use; refused where absent
  Function<void*(size_t bytes, size_t alignment)> allocate = {};
  Function<void(void* memory, size_t bytes)> release = {};
  Function<void(LogLevel, std::string_view line)> log = {};  // this context's dispatch lines
  // Calls body(i) for each i in [0, count) on threads of your own; returns when all are done.
  Function<void(int64_t count, Body body)> parallel_for = {};
  int executor_width = 0;        // threads that parallel_for has
  bool batch_invariant = false;  // a row's bits do not depend on how many rows there are
};

// Backends, threads, memory and prepared calls. Calls without a context use the process's default
// one. Thread safe; must outlive the calls, plans and packed matrices that use it.
class Context {
 public:
  explicit Context(ContextOptions options = {}) : hooks_(new ContextOptions(std::move(options))) {
    const ContextOptions& o = *hooks_.get();
    nereid_context_options c{};
    c.struct_size = sizeof c;
    c.threads = o.threads;
    c.strict = o.strict;
    c.executor_width = o.executor_width;
    c.batch_invariant = o.batch_invariant ? 1 : 0;
    c.backend = o.backend.empty() ? nullptr : o.backend.c_str();
    c.isa = o.isa.empty() ? nullptr : o.isa.c_str();
    c.user = hooks_.get();
    if (o.allocate) c.allocate = &allocate;
    if (o.release) c.release = &release;
    if (o.log) c.log = &log;
    if (o.parallel_for) c.parallel_for = &parallel_for;
    nereid_context* handle = nullptr;
    check(nereid_context_create(&c, &handle));
    handle_ = detail::Handle<nereid_context, nereid_context_destroy>(handle);
  }
  nereid_context* get() const { return handle_.get(); }

 private:
  static void forget(ContextOptions* options) { delete options; }
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
    hooks(user).parallel_for(count, Body(body, body_context));
  }

  detail::Handle<ContextOptions, forget> hooks_;  // before the handle: called to the end
  detail::Handle<nereid_context, nereid_context_destroy> handle_;
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
inline void set_log(Function<void(LogLevel, std::string_view line)> sink) {
  using Sink = Function<void(LogLevel, std::string_view)>;
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
