// SPDX-License-Identifier: MIT
// src/lift/lift.cpp: the lifter from end to end: build (machine code -> SSA), analyse (SSA ->
// OpTrace), verify, classify. Traces are remembered as long as the code stays what it was.
#include "lift/lift.h"

#include <link.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/lazy.h"
#include "base/locks.h"
#include "lift/discover.h"
#include "lift/function.h"
#include "lift/image.h"
#include "lift/image_module.h"
#include "lift/native.h"
#include "ops/round_to.h"
#include "trace/classify.h"
#include "trace/text.h"
#include "trace/verify.h"

namespace nrd::lift {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// The library's own rounding is hidden, so that no symbol table names it.
constinit std::atomic<bool> g_named{false};

const Image& image_with_names() {
  if (!g_named.load(std::memory_order_acquire)) {
    register_name(reinterpret_cast<const void*>(&nrd_round_to_f32), "nrd_round_to_f32");
    g_named.store(true, std::memory_order_release);  // twice does no harm
  }
  return process_image();
}

// FNV-1a over the bytes a trace was lifted from; nothing where they are no longer code.
std::optional<uint64_t> code_hash(const Image& image, const std::vector<CodeRange>& ranges) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const CodeRange& range : ranges) {
    if (image.code_bytes(range.address) < range.bytes) return std::nullopt;
    const uint8_t* bytes = image.code(range.address);
    for (uint64_t i = 0; i < range.bytes; i++) hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  }
  return hash;
}

// How many modules were unloaded so far. Another one may then lie at the same addresses, with the
// same code and other constants.
uint64_t unloaded_modules() {
  uint64_t count = 0;
  walk_modules(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<uint64_t*>(result) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

// Under LockName::kLifted.
class TraceCache {
 public:
  std::optional<OpTrace> find(const void* function, const std::string& signature,
                              const Image& image) {
    std::optional<Entry> entry = copy_of(function, signature);
    if (!entry || entry->unloaded != unloaded_modules()) return std::nullopt;
    if (code_hash(image, entry->code) != entry->hash) return std::nullopt;
    return std::move(entry->trace);
  }

  // `unloaded`: as it was before the function was read.
  void add(const void* function, std::string signature, const Image& image,
           std::vector<CodeRange> code, uint64_t unloaded, const OpTrace& trace) {
    const std::optional<uint64_t> hash = code_hash(image, code);
    if (!hash) return;
    const Locked lock(LockName::kLifted);
    Entry* entry = find_entry(function, signature);
    if (entry == nullptr) entry = &entries_.emplace_back();
    *entry = {function, std::move(signature), std::move(code), *hash, unloaded, trace};
  }

 private:
  struct Entry {
    const void* function = nullptr;
    std::string signature;
    std::vector<CodeRange> code;
    uint64_t hash = 0, unloaded = 0;
    OpTrace trace;
  };

  Entry* find_entry(const void* function, const std::string& signature) {
    for (Entry& entry : entries_)
      if (entry.function == function && entry.signature == signature) return &entry;
    return nullptr;
  }

  std::optional<Entry> copy_of(const void* function, const std::string& signature) {
    const Locked lock(LockName::kLifted);
    const Entry* entry = find_entry(function, signature);
    return entry != nullptr ? std::optional<Entry>(*entry) : std::nullopt;
  }

  std::vector<Entry> entries_;
};

constinit Lazy<TraceCache> g_cache;

TraceCache& cache() { return g_cache.get(); }

Expected<OpTrace> lift_now(const LiftRequest& request, const Image& image, FrontEnd& front_end,
                           std::vector<CodeRange>& code, LiftStats& stats) {
  Expected<Function> function = build_function(request, image, front_end, &stats);
  if (!function) return function.error();
  code = function->code;
  const Clock::time_point start = Clock::now();
  Expected<OpTrace> trace = analyse(std::move(*function), request);
  if (!trace) return trace.error();
  if (const Expected<void> sound = verify_trace(*trace); !sound) {
    Error error = sound.error();
    error.code = ErrorCode::kInternal;
    error.op = request.name;
    return make_error(std::move(error));
  }
  trace->name = request.name;
  trace->op_class = classify(*trace);
  stats.analyse_us = microseconds_since(start);
  return trace;
}

Error no_front_end(const LiftRequest& request) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = request.name,
                     .argument = "no machine code can be read here",
                     .hint = missing_front_end()});
}

}  // namespace

#if defined(__x86_64__)
std::string_view native_machine() { return "x86-64"; }
std::unique_ptr<FrontEnd> native_front_end() { return make_x86_front_end(); }
std::string missing_front_end() { return missing_x86_front_end(); }
#else
std::string_view native_machine() { return "aarch64"; }
std::unique_ptr<FrontEnd> native_front_end() { return make_a64_front_end(); }
std::string missing_front_end() { return native_front_end() ? "" : "built without Capstone"; }
#endif

Expected<OpTrace> lift_function(const LiftRequest& request, LiftStats* stats) {
  const Clock::time_point start = Clock::now();
  LiftStats ignored;
  LiftStats& used = stats != nullptr ? *stats : ignored;
  used = {};
  if (request.function == nullptr)
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = request.name,
                       .argument = "function",
                       .got = "a null pointer"});
  const Image& image = image_with_names();
  std::string signature = signature_text(request.signature);
  if (std::optional<OpTrace> known = cache().find(request.function, signature, image)) {
    known->name = request.name;
    used.total_us = microseconds_since(start);
    return std::move(*known);
  }
  const std::unique_ptr<FrontEnd> front_end = native_front_end();
  if (front_end == nullptr) return no_front_end(request);
  std::vector<CodeRange> code;
  const uint64_t unloaded = unloaded_modules();
  Expected<OpTrace> trace = lift_now(request, image, *front_end, code, used);
  used.total_us = microseconds_since(start);
  if (trace)
    cache().add(request.function, std::move(signature), image, std::move(code), unloaded, *trace);
  return trace;
}

Expected<Function> whole_function(const LiftRequest& request) {
  const std::unique_ptr<FrontEnd> front_end = native_front_end();
  if (front_end == nullptr) return no_front_end(request);
  return build_function(request, image_with_names(), *front_end, nullptr, Keep::kTraps);
}

std::string dump_lift(const LiftRequest& request) {
  const std::unique_ptr<FrontEnd> front_end = native_front_end();
  if (front_end == nullptr) return no_front_end(request).message() + "\n";
  const Image& image = image_with_names();
  std::string text = request.name + ": " + signature_text(request.signature) + "\n";
  text += code_text(request, image, *front_end);
  Expected<Function> function = build_function(request, image, *front_end, nullptr);
  if (!function) return text + function.error().message() + "\n";
  text += function_text(*function);
  Expected<OpTrace> trace = analyse(std::move(*function), request);
  return text + (trace ? trace_text(*trace) : trace.error().message() + "\n");
}

}  // namespace nrd::lift
