// SPDX-License-Identifier: MIT
// src/api/packed_steps.cpp: see packed_steps.h.
#include "api/packed_steps.h"

namespace nrd {
namespace {

nereid_tensor tensor_of(void* data, DType dtype, int rank, const int64_t* sizes) {
  return {sizeof(nereid_tensor),
          0,
          data,
          static_cast<int32_t>(dtype),
          rank,
          sizes,
          nullptr,
          NEREID_CPU,
          0};
}

nereid_call call_of(const char* op, std::span<const nereid_operand> operands,
                    const nereid_epilogue& how) {
  return {sizeof(nereid_call),
          how.threads,
          op,
          operands.data(),
          nullptr,
          static_cast<int32_t>(operands.size()),
          0,
          how.backend,
          nullptr,
          nullptr};
}

class Steps {
 public:
  Steps(Context& context, const nereid_packed& packed, const PackedCall& call)
      : context_(context), packed_(packed), call_(call) {}

  Expected<void> run() {
    const nereid_tensor& c = call_.c;
    const bool follows = call_.has_epilogue();
    const bool in_place = c.dtype == NEREID_F32 && !call_.residual;
    int64_t count = 1;
    for (int i = 0; i < c.rank && follows && !in_place; i++) count *= c.sizes[i];
    WorkspacePool::Lease lease(
        context_.temporaries(),
        follows && !in_place ? static_cast<size_t>(count) * sizeof(float) : 0);
    const nereid_tensor between =
        in_place ? c : tensor_of(lease.data(), DType::kF32, c.rank, c.sizes);
    NRD_TRY(product(follows ? between : c));
    const bool activates = call_.how.activation != nullptr, adds = call_.residual.has_value();
    if (call_.scale)
      NRD_TRY(step("vec_mul", between, &*call_.scale, call_.bias || activates || adds));
    if (call_.bias) NRD_TRY(step("vec_add", between, &*call_.bias, activates || adds));
    if (activates) NRD_TRY(step(call_.how.activation, between, nullptr, adds));
    if (adds) NRD_TRY(step("vec_add", between, &*call_.residual, false));
    return {};
  }

 private:
  Expected<void> product(const nereid_tensor& target) {
    const Block& plain = packed_.plain_form();
    nereid_tensor b = tensor_of(plain.data(), packed_.plain_dtype(), 2, packed_.sizes.data());
    if (plain.bytes() > 0) b.flags = NEREID_CONSTANT;
    const nereid_operand operands[] = {{"a", &call_.a}, {"b", &b}, {"c", &target}};
    // Nothing to pack: gemm_prepacked would ask for a constant's data.
    const nereid_call call =
        call_of(plain.bytes() > 0 ? "gemm_prepacked" : "gemm", operands, call_.how);
    if (plain.bytes() == 0) return run_call(context_, &call);
    Call read;
    NRD_TRY(read_call(&call, read));
    const std::string_view backend = context_.backend_for(read);
    CallKey key;
    write_key(read, backend, plan_generation(), key);
    // Another context may have other kernels, or refuse fallbacks: its plans are not kept here.
    const bool keeps = &context_ == packed_.context.get() && key.fits();
    std::shared_ptr<const Plan> plan = keeps ? packed_.plans.find(key.bytes()) : nullptr;
    if (!plan) {
      Expected<std::unique_ptr<Plan>> made = Plan::make(context_, read, backend, true);
      if (!made) return made.error();
      plan = std::move(*made);
      if (keeps) plan = packed_.plans.insert(key.bytes(), std::move(plan));
    }
    void* const data[] = {call_.a.data, b.data, target.data};
    return plan->run(context_, data, {.threads = call_.how.threads});
  }

  // between = op(between, other), or into c when it is the last.
  Expected<void> step(const char* op, const nereid_tensor& between, const nereid_tensor* other,
                      bool more) {
    const nereid_operand operands[] = {
        {"x", &between}, {"out", more ? &between : &call_.c}, {"y", other}};
    const nereid_call call = call_of(op, std::span(operands, other ? 3 : 2), call_.how);
    return run_call(context_, &call);
  }

  Context& context_;
  const nereid_packed& packed_;
  const PackedCall& call_;
};

}  // namespace

Expected<void> make_plain(Context& context, nereid_tensor b, nereid_packed& packed) {
  const auto count = static_cast<size_t>(packed.sizes[0] * packed.sizes[1]);
  packed.plain = Block(context.allocator(), count * byte_size(packed.plain_dtype()));
  if (count == 0) return {};
  const nereid_tensor to =
      tensor_of(packed.plain.data(), packed.plain_dtype(), 2, packed.sizes.data());
  b.flags = 0;
  const nereid_operand operands[] = {{"x", &b}, {"out", &to}};
  const nereid_call call = call_of("cast", operands, {});
  return run_call(context, &call);
}

Expected<void> run_steps(Context& context, const nereid_packed& packed, const PackedCall& call) {
  return Steps(context, packed, call).run();
}

}  // namespace nrd
