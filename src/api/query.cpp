// SPDX-License-Identifier: MIT
// src/api/query.cpp: what operators and backends there are.
#include <deque>

#include "api/context.h"
#include "base/lazy.h"
#include "base/locks.h"
#include "ops/contract.h"

namespace nrd {
namespace {

Expected<const Op*> op_at(int32_t index) {
  const auto ops = catalogue();
  if (index >= 0 && static_cast<size_t>(index) < ops.size())
    return &ops[static_cast<size_t>(index)];
  return make_error({ErrorCode::kInvalidArgument, "", "operator index", fmt::format("{}", index),
                     fmt::format("0 to {}", ops.size() - 1), "see nereid_op_count"});
}

int32_t attribute_count(const Op& op) {
  return static_cast<int32_t>(op.numbers.size() + op.choices.size());
}

Expected<void> describe_op(int32_t index, nereid_op_info* info) {
  Expected<const Op*> op = op_at(index);
  if (!op) return op.error();
  nereid_op_info known{};
  known.attribute_count = attribute_count(**op);
  known.name = (*op)->name.c_str();
  known.group = (*op)->group.c_str();
  known.signature = (*op)->variants.front().signature.c_str();
  known.summary = (*op)->summary.c_str();
  known.example = (*op)->shape.c_str();
  known.variant_count = static_cast<int32_t>((*op)->variants.size());
  known.in_place = (*op)->in_place == InPlace::kYes;
  return write_struct(known, info, "nereid_op_info");
}

// What outlives the call that asked for it. Under LockName::kNames.
struct Kept {
  std::unordered_map<const ChoiceAttribute*, std::string> values;
  std::deque<std::string> plugins;  // a plug-in stays, so may its name
};
constinit Lazy<Kept> g_kept;

// "half|interleaved" of each choice, made once and kept.
const char* values_text(const ChoiceAttribute& choice) {
  auto& texts = g_kept.get().values;
  const Locked lock(LockName::kNames);
  std::string& text = texts[&choice];
  if (text.empty())
    for (const std::string& value : choice.values) text += (text.empty() ? "" : "|") + value;
  return text.c_str();
}

// Numbers first, then choices, each in the catalogue's order.
Expected<void> describe_attribute(int32_t op_index, int32_t index, nereid_attribute_info* info) {
  Expected<const Op*> op = op_at(op_index);
  if (!op) return op.error();
  if (index < 0 || index >= attribute_count(**op))
    return make_error({ErrorCode::kInvalidArgument, (*op)->name, "attribute index",
                       fmt::format("{}", index), fmt::format("less than {}", attribute_count(**op)),
                       ""});
  nereid_attribute_info known{};
  const auto at = static_cast<size_t>(index);
  const size_t numbers = (*op)->numbers.size();
  if (at < numbers) {
    const NumberAttribute& number = (*op)->numbers[at];
    known.name = number.name.c_str();
    known.values = "";
    known.meaning = number.meaning.c_str();
    known.number = number.value;
    known.allowed = range_text(number.range).data();  // a literal
  } else {
    const ChoiceAttribute& choice = (*op)->choices[at - numbers];
    known.is_choice = 1;
    known.name = choice.name.c_str();
    known.values = values_text(choice);
    known.meaning = choice.meaning.c_str();
    known.allowed = "";
  }
  return write_struct(known, info, "nereid_attribute_info");
}

const Variant* variant_at(int32_t op_index, int32_t index) noexcept {
  const Variant* variant = nullptr;
  guarded([&]() -> Expected<void> {
    Expected<const Op*> op = op_at(op_index);
    if (!op) return op.error();
    if (index >= 0 && static_cast<size_t>(index) < (*op)->variants.size())
      variant = &(*op)->variants[static_cast<size_t>(index)];
    return {};
  });
  return variant;
}

Expected<void> describe_backend(Context& context, int32_t index, nereid_backend_info* info) {
  std::vector<Backend*> backends = context.registry().backends();
  if (index < 0 || static_cast<size_t>(index) >= backends.size())
    return make_error({ErrorCode::kInvalidArgument, "", "backend index", fmt::format("{}", index),
                       fmt::format("0 to {}", backends.size() - 1), "see nereid_backend_count"});
  Backend& backend = *backends[static_cast<size_t>(index)];
  thread_local std::string name, version, reason;
  Expected<void> loaded = backend.load();
  name = backend.name();
  version = loaded ? backend.version() : "";
  reason = loaded ? "" : loaded.error().message();
  const nereid_backend_info known{sizeof known,   static_cast<bool>(loaded),
                                  name.c_str(),   version.c_str(),
                                  reason.c_str(), backend.peer()};
  return write_struct(known, info, "nereid_backend_info");
}

// "* cpu autovec_avx512: chosen": the star is what this call would run.
std::string explain_line(const Explanation& line, std::string_view backend) {
  const bool runs = line.chosen && line.backend == backend;
  std::string verdict = runs ? "chosen" : line.chosen ? "would run if named" : line.reason;
  if (line.chosen && !line.reason.empty()) verdict += ": " + line.reason;
  const std::string numerics = line.accepted ? fmt::format(" ({})", line.numerics) : "";
  return fmt::format("{} {}{}{}{}: {}\n", runs ? "*" : " ", line.backend,
                     line.kernel.empty() ? "" : " ", line.kernel, numerics, verdict);
}

Expected<void> explain(Context& context, const nereid_call* given, const char** text) {
  if (!text) return null_error("text", "where to put the text");
  Call call;
  NRD_TRY(read_call(given, call));
  Expected<BoundCall> bound = bind_call(call);
  if (!bound) return bound.error();
  bound->desc.batch_invariant = context.batch_invariant();
  const Desc& desc = bound->desc;
  const std::string_view backend = context.backend_for(call);
  const std::string options = desc.options_text();
  thread_local std::string lines;
  lines = fmt::format("{} {} {}{}{}\n", desc.op->name, desc.shape_text(), desc.dtype_text(),
                      options.empty() ? "" : " ", options);
  if (const std::string assumed = assumptions_text(desc.bound()); !assumed.empty())
    lines += fmt::format("  assumes {}\n", assumed);
  NRD_TRY(context.registry().find_backend(backend));
  for (const Explanation& line :
       context.registry().explain(desc, call.head.backend ? call.head.backend : ""))
    lines += explain_line(line, backend);
  *text = lines.c_str();
  return {};
}

Expected<void> load_plugin(Context& context, const char* path, const char** name) {
  if (!path) return null_error("path", "a shared library's path");
  Expected<std::string> added = context.registry().add_plugin(path);
  if (!added) return added.error();
  outdate_plans();
  std::deque<std::string>& names = g_kept.get().plugins;
  const Locked lock(LockName::kNames);
  names.push_back(std::move(*added));
  if (name) *name = names.back().c_str();
  return {};
}

template <class Body>  // Expected<void>(Context&)
nereid_status with_context(nereid_context* handle, Body&& body) noexcept {
  return guarded([&]() -> Expected<void> {
    Expected<std::shared_ptr<Context>*> context = context_of(handle);
    if (!context) return context.error();
    return body(***context);
  });
}

}  // namespace
}  // namespace nrd

extern "C" {

int32_t nereid_op_count(void) {
  int32_t count = 0;
  nrd::guarded([&]() -> nrd::Expected<void> {
    count = static_cast<int32_t>(nrd::catalogue().size());
    return {};
  });
  return count;
}

nereid_status nereid_describe_op(int32_t index, nereid_op_info* info) {
  return nrd::guarded([&] { return nrd::describe_op(index, info); });
}

nereid_status nereid_find_op(const char* name, int32_t* index) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!name || !index) return nrd::null_error(name ? "index" : "name", "a pointer");
    nrd::Expected<const nrd::Op*> op = nrd::find_op(name);
    if (!op) return op.error();
    *index = static_cast<int32_t>(*op - nrd::catalogue().data());
    return {};
  });
}

const char* nereid_variant_signature(int32_t op, int32_t variant) {
  const nrd::Variant* found = nrd::variant_at(op, variant);
  return found ? found->signature.c_str() : nullptr;
}

const char* nereid_variant_condition(int32_t op, int32_t variant) {
  const nrd::Variant* found = nrd::variant_at(op, variant);
  return found ? found->when.c_str() : nullptr;
}

nereid_status nereid_describe_attribute(int32_t op, int32_t index, nereid_attribute_info* info) {
  return nrd::guarded([&] { return nrd::describe_attribute(op, index, info); });
}

int32_t nereid_backend_count(nereid_context* context) {
  int32_t count = 0;
  nrd::with_context(context, [&](nrd::Context& c) -> nrd::Expected<void> {
    count = static_cast<int32_t>(c.registry().backends().size());
    return {};
  });
  return count;
}

nereid_status nereid_describe_backend(nereid_context* context, int32_t index,
                                      nereid_backend_info* info) {
  return nrd::with_context(context,
                           [&](nrd::Context& c) { return nrd::describe_backend(c, index, info); });
}

nereid_status nereid_explain(nereid_context* context, const nereid_call* call, const char** text) {
  return nrd::with_context(context, [&](nrd::Context& c) { return nrd::explain(c, call, text); });
}

nereid_status nereid_load_plugin(nereid_context* context, const char* path, const char** name) {
  return nrd::with_context(context,
                           [&](nrd::Context& c) { return nrd::load_plugin(c, path, name); });
}

}  // extern "C"
