// SPDX-License-Identifier: MIT
// src/api/plan.cpp: choose a kernel, prepare it, run it.
#include "api/plan.h"

#include <algorithm>

#include "api/context.h"
#include "base/device.h"
#include "dispatch/strict.h"

namespace nrd {
namespace {

Error with_op(Error error, const Desc& desc) {
  if (error.op.empty()) error.op = desc.op->name;
  return error;
}

[[gnu::noinline]] Error stream_on_cpu(const Desc& desc) {
  return make_error({ErrorCode::kInvalidArgument, desc.op->name, "stream", "a stream",
                     "null, as the operands are on cpu", ""});
}

// A user's function is machine code of the CPU; no backend has another form of it.
Expected<void> check_device(const Desc& desc) {
  if (desc.device.kind == DeviceKind::kCpu || desc.op->group != "user") return {};
  return make_error({ErrorCode::kUnsupported, desc.op->name, "device of the operands",
                     to_string(desc.device), "cpu", "operators of your own run on the CPU"});
}

}  // namespace

Expected<std::unique_ptr<Plan>> Plan::make(Context& context, const Call& call,
                                           std::string_view backend, bool with_constants) {
  Expected<BoundCall> bound = bind_call(call);
  if (!bound) return bound.error();
  auto plan = std::make_unique<Plan>();
  plan->registry_ = context.own_registry();
  plan->bound_ = std::move(*bound);
  Desc& desc = plan->bound_.desc;
  desc.batch_invariant = context.batch_invariant();
  if (with_constants)
    NRD_TRY(plan->take_constants(call));
  else
    for (OperandDesc& operand : desc.operands) operand.constant = false;

  NRD_TRY(check_device(desc));
  Expected<KernelChoice> choice = context.registry().select(backend, desc);
  if (!choice) return with_op(choice.error(), desc);
  plan->choice_ = *choice;
  const std::vector<void*> none(desc.operands.size(), nullptr);
  Expected<std::unique_ptr<PreparedKernel>> prepared =
      choice->kernel->prepare(desc, with_constants ? plan->constants_ : none);
  if (!prepared) return with_op(prepared.error(), desc);
  plan->prepared_ = std::move(*prepared);
  if (context.strict()) NRD_TRY(refuse_fallback(desc, *choice, *plan->prepared_));
  plan->index_checks_ = index_checks(desc);
  plan->guard_ = PointerGuard(desc);
  plan->workspace_bytes_ = plan->prepared_->workspace_bytes();
  plan->on_device_ = desc.device.kind != DeviceKind::kCpu;
  plan->note_sources();
  context.log_dispatch(*plan);
  return plan;
}

Expected<void> Plan::take_constants(const Call& call) {
  Desc& desc = bound_.desc;
  constants_.assign(desc.operands.size(), nullptr);
  for (int i = 0; i < call.count(); i++) {
    const int at = bound_.order[static_cast<size_t>(i)];
    if (at < 0 || !desc.operands[static_cast<size_t>(at)].constant) continue;
    const nereid_tensor& tensor = call.tensors[static_cast<size_t>(i)];
    if (at >= desc.signature().inputs)
      return make_error({ErrorCode::kInvalidArgument, desc.op->name, std::string(call.name(i)),
                         "a constant output", "constant inputs", ""});
    if (tensor.data == nullptr)
      return make_error({ErrorCode::kInvalidArgument, desc.op->name, std::string(call.name(i)),
                         "a null pointer", "the data of a constant operand",
                         "it is prepared together with the plan"});
    constants_[static_cast<size_t>(at)] = tensor.data;
  }
  return {};
}

void Plan::note_sources() {
  pointer_count_ = static_cast<uint32_t>(desc().operands.size());
  sources_.fill(kNoSource);
  for (size_t i = 0; i < bound_.order.size(); i++)
    if (bound_.order[i] >= 0)
      sources_[static_cast<size_t>(bound_.order[i])] = static_cast<int8_t>(i);
}

Expected<void> Plan::fill_constants(void** pointers) const {
  for (size_t at = 0; at < constants_.size(); at++) {
    if (constants_[at] == nullptr || constants_[at] == pointers[at]) continue;
    if (pointers[at] != nullptr)
      return make_error({ErrorCode::kInvalidArgument, desc().op->name,
                         desc().signature().operands[at].name, "another pointer than was prepared",
                         "null, or the same pointer", "a constant operand belongs to the plan"});
    pointers[at] = constants_[at];
  }
  return {};
}

Expected<void> Plan::check_workspace(void* workspace, size_t bytes) const {
  if (bytes < workspace_bytes_)
    return make_error(
        {ErrorCode::kInvalidArgument, desc().op->name, "workspace", fmt::format("{} bytes", bytes),
         fmt::format("at least {} bytes", workspace_bytes_), "see nereid_plan_workspace"});
  const size_t alignment = workspace_alignment(desc().device.kind);
  if (reinterpret_cast<uintptr_t>(workspace) % alignment != 0)
    return make_error({ErrorCode::kInvalidArgument, desc().op->name, "workspace",
                       fmt::format("address {}", workspace),
                       fmt::format("a multiple of {} bytes", alignment), ""});
  return {};
}

// Whether the memory lies where the caller says. A look at the driver's tables costs as much as a
// launch, and who is right once stays so: the first run of a plan is checked.
Expected<void> Plan::check_places(void* const* pointers) const {
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  for (size_t i = 0; i < pointer_count_; i++) {
    const OperandDesc& operand = desc().operands[i];
    const bool empty = std::any_of(operand.sizes.begin(), operand.sizes.end(),
                                   [](int64_t size) { return size == 0; });
    if (!operand.present || empty) continue;
    Expected<void> place = (*runtime)->check_memory(desc().device.index, pointers[i]);
    if (place) continue;
    Error error = place.error();
    if (error.argument.empty()) error.argument = desc().signature().operands[i].name;
    return error;
  }
  places_checked_.store(true, std::memory_order_relaxed);
  return {};
}

// Enqueued; what the kernel finds wrong with the content of operands comes back in them (NaN).
[[gnu::noinline]] Expected<void> Plan::run_on_device(Context& context, void** pointers,
                                                     const How& how) const {
  if (!places_checked_.load(std::memory_order_relaxed)) NRD_TRY(check_places(pointers));
  Exec exec = context.exec(how.threads);
  exec.stream = how.stream;
  DeviceWorkspaces::Lease lease(context.device_workspaces());
  if (!how.workspace) NRD_TRY(lease.take(desc().device.index, how.stream, workspace_bytes_));
  return prepared_->run({pointers}, how.workspace ? how.workspace : lease.data(), exec);
}

[[gnu::always_inline]] inline Expected<void> Plan::check_memory(void* const* pointers) const {
  if (!guard_.passes(pointers)) NRD_TRY(check_pointers(desc(), {pointers, pointer_count_}));
  if (!index_checks_.empty() && !indices_pass(index_checks_, pointers))
    NRD_TRY(check_indices(desc(), index_checks_, pointers));
  return {};
}

[[gnu::always_inline]] inline Expected<void> Plan::run_checked(Context& context, void** pointers,
                                                               const How& how) const {
  NRD_TRY(check_memory(pointers));
  if (how.workspace) NRD_TRY(check_workspace(how.workspace, how.workspace_bytes));
  if (on_device_) {
    Expected<void> enqueued = run_on_device(context, pointers, how);
    if (!enqueued) return with_op(enqueued.error(), desc());
    return {};
  }
  if (how.stream) [[unlikely]]
    return stream_on_cpu(desc());
  const WorkspacePool::Lease lease(context.workspaces(), how.workspace ? 0 : workspace_bytes_);
  Expected<void> done = prepared_->run({pointers}, how.workspace ? how.workspace : lease.data(),
                                       context.exec(how.threads));
  if (!done) return with_op(done.error(), desc());
  return {};
}

Expected<void> Plan::arrange(std::span<void* const> data, void** pointers) const {
  for (size_t i = 0; i < pointer_count_; i++)
    pointers[i] = sources_[i] == kNoSource ? nullptr : data[static_cast<size_t>(sources_[i])];
  if (!constants_.empty()) NRD_TRY(fill_constants(pointers));
  return {};
}

Expected<void> Plan::check(std::span<void* const> data, void** pointers) const {
  NRD_TRY(arrange(data, pointers));
  return check_memory(pointers);
}

Expected<void> Plan::run(Context& context, std::span<void* const> data, const How& how) const {
  std::array<void*, kMaxOperands> pointers;
  NRD_TRY(arrange(data, pointers.data()));
  return run_checked(context, pointers.data(), how);
}

Expected<void> Plan::run(Context& context, const nereid_call& call) const {
  std::array<void*, kMaxOperands> pointers;
  for (size_t i = 0; i < pointer_count_; i++)
    pointers[i] = sources_[i] == kNoSource ? nullptr : call.operands[sources_[i]].tensor->data;
  return run_checked(context, pointers.data(), {nullptr, 0, call.threads, call.stream});
}

std::string Plan::text() const {
  const std::string options = desc().options_text();
  return fmt::format("{} {} {}{}{}", desc().op->name, desc().shape_text(), desc().dtype_text(),
                     options.empty() ? "" : " ", options);
}

}  // namespace nrd
