// SPDX-License-Identifier: MIT
// src/api/packed.cpp: the right-hand matrix of a product, prepared once, and the product with it.
//
// A packed matrix is held as the definitions read it, (k,n) contiguous in f32 or i8, so that no
// product converts it again; its plans, one a shape of a and c, may prepare more from it.
#include <optional>

#include "api/context.h"

struct nereid_packed {
  std::shared_ptr<nrd::Context> context;
  nrd::DType dtype = nrd::DType::kF32;  // as it was given
  nrd::DType stored = nrd::DType::kF32;
  std::array<int64_t, 2> sizes{};  // k, n
  std::string isa;
  nrd::Block data;
  mutable nrd::PlanCache plans{64};
};

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
          nullptr};
}

Expected<void> check_dtype(DType dtype) {
  Expected<const Op*> op = find_op("gemm_prepacked");
  if (!op) return op.error();
  std::string allowed;
  for (const Signature& s : signatures(**op)) {
    const OperandSpec& b = s.operands[static_cast<size_t>(s.find_operand("b"))];
    if (allows(b.dtypes, dtype)) return {};
    if (allowed.find(allowed_words(b.dtypes)) == allowed.npos)
      allowed += (allowed.empty() ? "" : ", ") + allowed_words(b.dtypes);
  }
  return make_error({ErrorCode::kUnsupportedDtype, "pack_b", "b", std::string(word(dtype)), allowed,
                     "convert it with cast"});
}

Expected<void> pack(nereid_context* handle, const nereid_tensor* given, nereid_packed** out) {
  if (!out) return null_error("packed", "where to put the handle", "pack_b");
  Expected<std::shared_ptr<Context>*> context = context_of(handle);
  if (!context) return context.error();
  nereid_tensor b{};
  NRD_TRY(read_tensor(given, "pack_b", "b", b));
  Expected<OperandDesc> operand = read_operand(b, "pack_b", "b");
  if (!operand) return operand.error();
  if (b.rank != 2)
    return make_error({ErrorCode::kShapeMismatch, "pack_b", "b",
                       "shape " + to_string(operand->sizes), "[k, n]",
                       "pass an [N,K] weight as its transposed view"});
  NRD_TRY(check_dtype(operand->dtype));

  auto packed = std::make_unique<nereid_packed>();
  packed->context = **context;
  packed->dtype = operand->dtype;
  packed->stored = is_float(operand->dtype) ? DType::kF32 : operand->dtype;
  packed->sizes = {b.sizes[0], b.sizes[1]};
  packed->isa = (**context)->isa_word();
  Expected<int64_t> count = element_count(operand->sizes, byte_size(packed->stored));
  if (!count) return count.error();
  packed->data =
      Block((**context)->allocator(), static_cast<size_t>(*count) * byte_size(packed->stored));
  if (*count > 0) {
    const nereid_tensor to =
        tensor_of(packed->data.data(), packed->stored, 2, packed->sizes.data());
    b.flags = 0;
    const nereid_operand operands[] = {{"x", &b}, {"out", &to}};
    const nereid_call call = call_of("cast", operands, {});
    NRD_TRY(run_call(***context, &call));
  }
  *out = packed.release();
  return {};
}

// Whether an operator maps one value to one value, so that it can follow a product.
bool is_activation(const Op& op) {
  const Signature& s = signatures(op).front();
  return op.group == "activation" && s.operands.size() == 2 && s.inputs == 1 &&
         s.core.size() == 1 && s.axes[static_cast<size_t>(s.core[0])].separable;
}

Expected<void> check_activation(std::string_view name) {
  std::string allowed;
  for (const Op& op : catalogue()) {
    if (!is_activation(op)) continue;
    if (op.name == name) return {};
    allowed += (allowed.empty() ? "" : ", ") + op.name;
  }
  return make_error({ErrorCode::kUnknownName, "gemm_prepacked", "activation",
                     fmt::format("'{}'", name), allowed, ""});
}

// One product and what follows it. The product's own operands are checked by bind().
class PackedGemm {
 public:
  PackedGemm(Context& context, const nereid_packed& packed) : context_(context), packed_(packed) {}

  Expected<void> read(const nereid_tensor* a, const nereid_tensor* c,
                      const nereid_epilogue* epilogue) {
    NRD_TRY(take(a, "a", a_));
    NRD_TRY(take(c, "c", c_));
    if (epilogue) NRD_TRY(read_struct(epilogue, "nereid_epilogue", how_));
    if (context_.isa_word() != packed_.isa)
      return make_error({ErrorCode::kUnsupported, "gemm_prepacked", "packed",
                         "a matrix packed for " + packed_.isa,
                         "one packed for " + std::string(context_.isa_word()),
                         "pack it with the context that uses it"});
    return read_epilogue();
  }

  Expected<void> run() {
    const bool follows = bias_ || how_.activation || residual_;
    const bool in_place = c_.dtype == NEREID_F32 && !residual_;
    int64_t count = 1;
    for (int i = 0; i < c_.rank && follows && !in_place; i++) count *= c_.sizes[i];
    WorkspacePool::Lease lease(
        context_.temporaries(),
        follows && !in_place ? static_cast<size_t>(count) * sizeof(float) : 0);
    nereid_tensor between = in_place ? c_ : tensor_of(lease.data(), DType::kF32, c_.rank, c_.sizes);
    NRD_TRY(product(follows ? between : c_));
    if (bias_) NRD_TRY(step("vec_add", between, &*bias_, how_.activation || residual_));
    if (how_.activation) NRD_TRY(step(how_.activation, between, nullptr, residual_.has_value()));
    if (residual_) NRD_TRY(step("vec_add", between, &*residual_, false));
    return {};
  }

 private:
  Expected<void> take(const nereid_tensor* given, const char* name, nereid_tensor& to) {
    NRD_TRY(read_tensor(given, "gemm_prepacked", name, to));
    NRD_TRY(read_operand(to, "gemm_prepacked", name));  // its sizes
    to.flags &= ~static_cast<uint32_t>(NEREID_CONSTANT);
    return {};
  }

  Expected<void> read_epilogue() {
    const bool follows = how_.bias || how_.activation || how_.residual;
    if (follows && packed_.stored != DType::kF32)
      return make_error({ErrorCode::kUnsupported, "gemm_prepacked", "epilogue",
                         "one behind an integer product", "none",
                         "use gemm_dequant for scales and floats"});
    if (how_.bias) {
      NRD_TRY(take(how_.bias, "bias", bias_.emplace()));
      if (bias_->rank != 1 || bias_->sizes[0] != packed_.sizes[1])
        return shape_error("bias", *bias_, fmt::format("[{}]", packed_.sizes[1]));
    }
    if (how_.activation) NRD_TRY(check_activation(how_.activation));
    if (how_.residual) {
      NRD_TRY(take(how_.residual, "residual", residual_.emplace()));
      if (!(dims(*residual_) == dims(c_)))
        return shape_error("residual", *residual_, "the shape of c, " + to_string(dims(c_)));
    }
    return {};
  }

  static Dims dims(const nereid_tensor& t) {
    return Dims(std::span(t.sizes, static_cast<size_t>(t.rank)));
  }
  static Error shape_error(const char* name, const nereid_tensor& t, std::string allowed) {
    return make_error({ErrorCode::kShapeMismatch, "gemm_prepacked", name,
                       "shape " + to_string(dims(t)), std::move(allowed), ""});
  }

  Expected<void> product(const nereid_tensor& target) {
    nereid_tensor b = tensor_of(packed_.data.data(), packed_.stored, 2, packed_.sizes.data());
    if (packed_.data.bytes() > 0) b.flags = NEREID_CONSTANT;
    const nereid_operand operands[] = {{"a", &a_}, {"b", &b}, {"c", &target}};
    // Nothing to pack: gemm_prepacked would ask for a constant's data.
    const char* op = packed_.data.bytes() > 0 ? "gemm_prepacked" : "gemm";
    const nereid_call call = call_of(op, operands, how_);
    if (packed_.data.bytes() == 0) return run_call(context_, &call);
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
    void* const data[] = {a_.data, b.data, target.data};
    return plan->run(context_, data, nullptr, 0, how_.threads);
  }

  // between = op(between, other), or into c when it is the last.
  Expected<void> step(const char* op, const nereid_tensor& between, const nereid_tensor* other,
                      bool more) {
    const nereid_operand operands[] = {
        {"x", &between}, {"out", more ? &between : &c_}, {"y", other}};
    const nereid_call call = call_of(op, std::span(operands, other ? 3 : 2), how_);
    return run_call(context_, &call);
  }

  Context& context_;
  const nereid_packed& packed_;
  nereid_tensor a_{}, c_{};
  nereid_epilogue how_{};
  std::optional<nereid_tensor> bias_, residual_;
};

}  // namespace
}  // namespace nrd

extern "C" {

nereid_status nereid_pack_b(nereid_context* context, const nereid_tensor* b,
                            nereid_packed** packed) {
  return nrd::guarded([&] { return nrd::pack(context, b, packed); });
}

void nereid_packed_destroy(nereid_packed* packed) { delete packed; }

nereid_status nereid_describe_packed(const nereid_packed* packed, nereid_packed_info* info) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!packed) return nrd::null_error("packed", "a matrix of nereid_pack_b");
    const nereid_packed_info known{sizeof known,         static_cast<int32_t>(packed->dtype),
                                   packed->sizes[0],     packed->sizes[1],
                                   packed->data.bytes(), packed->isa.c_str()};
    return nrd::write_struct(known, info, "nereid_packed_info");
  });
}

nereid_status nereid_gemm_packed(nereid_context* context, const nereid_tensor* a,
                                 const nereid_packed* b, const nereid_tensor* c,
                                 const nereid_epilogue* epilogue) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!b) return nrd::null_error("b", "a matrix of nereid_pack_b", "gemm_prepacked");
    auto found = nrd::context_of(context);
    if (!found) return found.error();
    nrd::PackedGemm gemm(***found, *b);
    NRD_TRY(gemm.read(a, c, epilogue));
    return gemm.run();
  });
}

}  // extern "C"
