// SPDX-License-Identifier: MIT
// src/api/warm_up.cpp: prepares kernels for the catalogue's example cases, and starts the threads.
#include <charconv>

#include "api/context.h"

namespace nrd {
namespace {

// "rows=128,cols=4096" of a catalogue entry.
std::map<std::string, int64_t, std::less<>> example_sizes(std::string_view text) {
  std::map<std::string, int64_t, std::less<>> sizes;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == part.npos) continue;
    int64_t size = 0;
    std::from_chars(part.data() + equals + 1, part.data() + part.size(), size);
    sizes[std::string(part.substr(0, equals))] = size;
  }
  return sizes;
}

Expected<void> warm_up_case(Context& context, const Op& op, DType dtype) {
  Expected<Desc> desc = bind_case(op, {.sizes = example_sizes(op.shape),
                                       .dtypes = std::string(word(dtype)),
                                       .attributes = {},
                                       .optional = {}});
  if (!desc) return desc.error();
  for (OperandDesc& operand : desc->operands) operand.constant = false;
  const std::string_view scoped = thread_backend(), name = scoped.empty() ? "cpu" : scoped;
  Expected<Backend*> backend = context.registry().find_backend(name);
  if (!backend) return backend.error();
  if (!(*backend)->runs_on(DeviceKind::kCpu)) desc->device = {DeviceKind::kCuda, 0};
  Expected<KernelChoice> choice = context.registry().select(name, *desc);
  if (!choice) return choice.error();
  const std::vector<void*> none(desc->operands.size(), nullptr);
  Expected<std::unique_ptr<PreparedKernel>> prepared = choice->kernel->prepare(*desc, none);
  if (!prepared) return prepared.error();
  return {};
}

Expected<void> warm_up(Context& context, std::span<const char* const> names,
                       std::span<const nereid_dtype> dtypes) {
  std::vector<const Op*> ops;
  for (const char* name : names) {
    if (!name) return null_error("ops", "operators' names", "nereid_warm_up");
    Expected<const Op*> op = find_op(name);
    if (!op) return op.error();
    ops.push_back(*op);
  }
  if (names.empty())
    for (const Op& op : catalogue()) ops.push_back(&op);
  static constexpr nereid_dtype kDefault[] = {NEREID_F32};
  for (const Op* op : ops) {
    for (nereid_dtype dtype : dtypes.empty() ? std::span<const nereid_dtype>(kDefault) : dtypes) {
      Expected<void> done = warm_up_case(context, *op, static_cast<DType>(dtype));
      if (!done && !names.empty()) return done;
    }
  }
  // The pool starts with its first parallel work.
  const Exec exec = context.exec(0);
  parallel_for(exec, exec.threads, 1, [](int64_t, int64_t) {});
  return {};
}

Expected<void> check_list(std::string_view name, const void* list, int32_t count) {
  if (count >= 0 && (count == 0 || list)) return {};
  return make_error({ErrorCode::kInvalidArgument, "nereid_warm_up", std::string(name),
                     count < 0 ? fmt::format("{} elements", count) : "a null pointer",
                     "a list, or NULL and 0", ""});
}

}  // namespace
}  // namespace nrd

extern "C" nereid_status nereid_warm_up(nereid_context* context, const char* const* ops,
                                        int32_t op_count, const nereid_dtype* dtypes,
                                        int32_t dtype_count) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    NRD_TRY(nrd::check_list("ops", ops, op_count));
    NRD_TRY(nrd::check_list("dtypes", dtypes, dtype_count));
    auto found = nrd::context_of(context);
    if (!found) return found.error();
    return nrd::warm_up(***found, std::span(ops, static_cast<size_t>(op_count)),
                        std::span(dtypes, static_cast<size_t>(dtype_count)));
  });
}
