// SPDX-License-Identifier: MIT
// src/api/run.cpp: nereid_run, prepared plans and shape inference: check, choose, call.
#include "api/context.h"
#include "api/thread_state.h"

struct nereid_plan {
  std::shared_ptr<nrd::Context> context;  // outlives the plan below it
  std::unique_ptr<nrd::Plan> plan;
  int threads = 0;
  std::string backend, kernel, isa, note, fallback, text;
};

namespace nrd {
namespace {

Expected<std::shared_ptr<const Plan>> find_or_make_plan(Context& context, const Call& call,
                                                        uint64_t generation) {
  const std::string_view backend = context.backend_for(call);
  CallKey key;
  write_key(call, backend, generation, key);
  if (key.fits())
    if (auto known = context.plans().find(key.bytes())) return known;
  Expected<std::unique_ptr<Plan>> made = Plan::make(context, call, backend, false);
  if (!made) return made.error();
  std::shared_ptr<const Plan> plan = std::move(*made);
  return key.fits() ? context.plans().insert(key.bytes(), std::move(plan)) : plan;
}

// The data of a call that was read, in its own order.
std::array<void*, kMaxCallOperands> data_of(const Call& call) {
  std::array<void*, kMaxCallOperands> data;
  for (int i = 0; i < call.count(); i++) {
    const auto at = static_cast<size_t>(i);
    data[at] = call.present[at] ? call.tensors[at].data : nullptr;
  }
  return data;
}

// The call with every check, its plan from the context's table. Not inlined: its Call is large.
[[gnu::noinline]] Expected<void> run_first_time(Context& context, const nereid_call* given,
                                                uint64_t generation, ThreadState* state,
                                                const FreshCall* fresh) {
  Call call;
  NRD_TRY(read_call(given, call));
  Expected<std::shared_ptr<const Plan>> plan = find_or_make_plan(context, call, generation);
  if (!plan) return plan.error();
  if (state && state->depth == 0) state->plans.insert(*fresh, *plan);
  const std::array<void*, kMaxCallOperands> data = data_of(call);
  return (*plan)->run(context, std::span(data.data(), static_cast<size_t>(call.count())),
                      {.threads = call.head.threads, .stream = call.head.stream});
}

class DepthGuard {
 public:
  explicit DepthGuard(ThreadState& state) : state_(state) { state_.depth++; }
  ~DepthGuard() { state_.depth--; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  ThreadState& state_;
};

[[gnu::always_inline]] inline Expected<void> run_again_or_first(Context& context,
                                                                const nereid_call* call) {
  ThreadState* state = thread_state();
  const uint64_t generation = plan_generation();  // before anything is chosen
  // An older caller's call is shorter than what is compared.
  if (!state || !call || call->struct_size != sizeof(nereid_call))
    return run_first_time(context, call, generation, nullptr, nullptr);
  FreshCall fresh{context.id(), generation, call, call->backend};
  if (!fresh.backend && !state->backends.empty()) fresh.backend = state->backends.back().c_str();
  const Plan* plan = state->plans.find(fresh);
  if (!plan) return run_first_time(context, call, generation, state, &fresh);
  const DepthGuard guard(*state);
  return plan->run(context, *call);
}

}  // namespace

Expected<void> run_call(Context& context, const nereid_call* call) {
  return run_again_or_first(context, call);
}

Expected<void> prepare_call(Context& context, const nereid_call& given, PreparedCall& prepared) {
  Call call;
  NRD_TRY(read_call(&given, call));
  Expected<std::shared_ptr<const Plan>> plan = find_or_make_plan(context, call, plan_generation());
  if (!plan) return plan.error();
  prepared.plan = std::move(*plan);
  const std::array<void*, kMaxCallOperands> data = data_of(call);
  return prepared.plan->check(std::span(data.data(), static_cast<size_t>(call.count())),
                              prepared.pointers.data());
}

namespace {

Expected<void> prepare_plan(nereid_context* handle, const nereid_call* given, nereid_plan** out) {
  if (!out) return null_error("plan", "where to put the handle");
  Expected<std::shared_ptr<Context>*> context = context_of(handle);
  if (!context) return context.error();
  Call call;
  NRD_TRY(read_call(given, call));
  const std::string_view backend = (**context)->backend_for(call);
  Expected<std::unique_ptr<Plan>> plan = Plan::make(***context, call, backend, true);
  if (!plan) return plan.error();
  auto handle_out = std::make_unique<nereid_plan>();
  handle_out->context = **context;
  handle_out->threads = (**context)->exec(call.head.threads).threads;
  handle_out->backend = (*plan)->choice().backend->name();
  handle_out->kernel = (*plan)->choice().kernel->name();
  handle_out->isa = (*plan)->choice().kernel->isa();
  handle_out->note = (*plan)->prepared().note();
  handle_out->fallback = (*plan)->prepared().fallback();
  handle_out->text = (*plan)->text();
  handle_out->plan = std::move(*plan);
  *out = handle_out.release();
  return {};
}

Expected<void> run_plan(const nereid_plan* plan_handle, void* const* data, int32_t count,
                        Plan::How how) {
  if (!plan_handle) return null_error("plan", "a plan of nereid_prepare");
  const nereid_plan& handle = *plan_handle;
  const Plan& plan = *handle.plan;
  const std::string& op = plan.desc().op->name;
  if (count < 0 || static_cast<size_t>(count) != plan.operand_count())
    return make_error({ErrorCode::kInvalidArgument, op, "count", fmt::format("{}", count),
                       fmt::format("{}, a pointer an operand", plan.operand_count()), ""});
  if (count > 0 && !data) return null_error("data", "a pointer an operand", op);
  if (how.threads < 0)
    return make_error({ErrorCode::kInvalidArgument, op, "threads", fmt::format("{}", how.threads),
                       "0 or more", ""});
  if (how.threads == 0) how.threads = handle.threads;
  return plan.run(*handle.context, std::span(data, static_cast<size_t>(count)), how);
}

// The outputs of one variant, filled into elements `stride` bytes apart.
Expected<void> infer(const nereid_call* given, nereid_shape* outputs, int32_t capacity,
                     int32_t* count) {
  if (!count) return null_error("count", "where to put the number of outputs");
  if (capacity > 0 && !outputs) return null_error("outputs", "room for the shapes");
  Call call;
  NRD_TRY(read_call(given, call));
  Expected<BoundCall> bound = bind_call(call);
  if (!bound) return bound.error();
  const Signature& s = bound->desc.signature();
  const auto inputs = static_cast<size_t>(s.inputs);
  *count = static_cast<int32_t>(s.operands.size() - inputs);
  const uint32_t stride = capacity > 0 ? outputs->struct_size : 0;
  for (size_t i = 0; i < s.operands.size() - inputs && static_cast<int64_t>(i) < capacity; i++) {
    const OperandDesc& operand = bound->desc.operands[inputs + i];
    nereid_shape shape{};
    shape.name = s.operands[inputs + i].name.c_str();
    shape.dtype = static_cast<int32_t>(operand.dtype);
    shape.rank = operand.sizes.size();
    shape.present = operand.present;
    std::copy(operand.sizes.begin(), operand.sizes.end(), shape.sizes);
    auto* at = reinterpret_cast<nereid_shape*>(reinterpret_cast<char*>(outputs) + i * stride);
    at->struct_size = stride;
    NRD_TRY(write_struct(shape, at, "nereid_shape"));
  }
  return {};
}

}  // namespace
}  // namespace nrd

extern "C" {

nereid_status nereid_run(nereid_context* context, const nereid_call* call) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!context) context = nrd::g_default_context.load(std::memory_order_acquire);
    if (context) return nrd::run_again_or_first(*context->context, call);
    auto made = nrd::context_of(nullptr);
    if (!made) return made.error();
    return nrd::run_call(***made, call);
  });
}

nereid_status nereid_prepare(nereid_context* context, const nereid_call* call, nereid_plan** plan) {
  return nrd::guarded([&] { return nrd::prepare_plan(context, call, plan); });
}

nereid_status nereid_plan_run(const nereid_plan* plan, void* const* data, int32_t count,
                              void* workspace, size_t workspace_bytes, int32_t threads) {
  return nrd::guarded([&] {
    return nrd::run_plan(plan, data, count, {workspace, workspace_bytes, threads, nullptr});
  });
}

nereid_status nereid_plan_run_on(const nereid_plan* plan, void* const* data, int32_t count,
                                 void* workspace, size_t workspace_bytes, void* stream) {
  return nrd::guarded([&] {
    return nrd::run_plan(plan, data, count, {workspace, workspace_bytes, 0, stream});
  });
}

size_t nereid_plan_workspace(const nereid_plan* plan) {
  return plan ? plan->plan->prepared().workspace_bytes() : 0;
}

void nereid_plan_destroy(nereid_plan* plan) { delete plan; }

nereid_status nereid_describe_plan(const nereid_plan* plan, nereid_plan_info* info) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!plan) return nrd::null_error("plan", "a plan of nereid_prepare");
    const nereid_plan_info known{sizeof known,           plan->threads,     plan->backend.c_str(),
                                 plan->kernel.c_str(),   plan->isa.c_str(), plan->note.c_str(),
                                 plan->fallback.c_str(), plan->text.c_str()};
    return nrd::write_struct(known, info, "nereid_plan_info");
  });
}

nereid_status nereid_infer(nereid_context*, const nereid_call* call, nereid_shape* outputs,
                           int32_t capacity, int32_t* count) {
  return nrd::guarded([&] { return nrd::infer(call, outputs, capacity, count); });
}

}  // extern "C"
