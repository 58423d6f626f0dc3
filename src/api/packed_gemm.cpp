// SPDX-License-Identifier: MIT
// src/api/packed_gemm.cpp: products with a packed matrix; the epilogue goes onto the accumulators.
#include "api/packed_gemm.h"

#include "compiler/catalogue_traces.h"
#include "gemm/describe.h"

namespace nrd {
namespace {

constexpr const char* kPrepacked = "gemm_prepacked";

// Whether an operator maps one value to one value, so that it can follow a product.
bool is_activation(const Op& op) {
  const Signature& s = signatures(op).front();
  return op.group == "activation" && s.operands.size() == 2 && s.inputs == 1 &&
         s.core.size() == 1 && s.axes[static_cast<size_t>(s.core[0])].separable;
}

Expected<void> check_activation(std::string_view name) {
  for (const Op& op : catalogue())
    if (op.name == name && is_activation(op)) return {};
  std::string allowed;
  for (const Op& op : catalogue())
    if (is_activation(op)) allowed += (allowed.empty() ? "" : ", ") + op.name;
  return make_error(
      {ErrorCode::kUnknownName, kPrepacked, "activation", fmt::format("'{}'", name), allowed, ""});
}

Expected<OperandDesc> take(const nereid_tensor* given, const char* name, nereid_tensor& to) {
  NRD_TRY(read_tensor(given, kPrepacked, name, to));
  NRD_TRY(check_on_cpu(to, kPrepacked, name));
  to.flags &= ~static_cast<uint32_t>(NEREID_CONSTANT);
  return read_operand(to, kPrepacked, name);
}

Error shape_error(const char* name, const OperandDesc& operand, std::string allowed) {
  return make_error({ErrorCode::kShapeMismatch, kPrepacked, name,
                     "shape " + to_string(operand.sizes), std::move(allowed), ""});
}

Expected<void> check_float(const char* name, const OperandDesc& operand) {
  if (allows(DTypeClass::kFloat, operand.dtype)) return {};
  return make_error({ErrorCode::kUnsupportedDtype, kPrepacked, name,
                     std::string(word(operand.dtype)), allowed_words(DTypeClass::kFloat), ""});
}

TensorView view_of(const OperandDesc& operand, void* data) {
  return {data, operand.dtype, operand.sizes, operand.strides, {}};
}

}  // namespace

Expected<void> PackedGemm::read(const nereid_tensor* a, const nereid_tensor* c,
                                const nereid_epilogue* epilogue) {
  Expected<OperandDesc> a_read = take(a, "a", call_.a), c_read = take(c, "c", call_.c);
  if (!a_read) return a_read.error();
  if (!c_read) return c_read.error();
  a_ = *a_read, c_ = *c_read;
  NRD_TRY(check_output(kPrepacked, "c", call_.c, c_));
  if (epilogue) NRD_TRY(read_struct(epilogue, "nereid_epilogue", call_.how));
  if (context_.isa_word() != packed_.isa)
    return make_error({ErrorCode::kUnsupported, kPrepacked, "packed",
                       "a matrix packed for " + packed_.isa,
                       "one packed for " + std::string(context_.isa_word()),
                       "pack it with the context that uses it"});
  return read_epilogue();
}

Expected<void> PackedGemm::read_epilogue() {
  static constexpr int64_t kSame[] = {0};
  const nereid_epilogue& how = call_.how;
  const int64_t n = packed_.sizes[1];
  const auto read = [&](const nereid_tensor* given, const char* name,
                        std::optional<nereid_tensor>& to, OperandDesc& operand) -> Expected<void> {
    if (!given) return {};
    Expected<OperandDesc> found = take(given, name, to.emplace());
    if (!found) return found.error();
    operand = *found;
    return check_float(name, operand);
  };
  NRD_TRY(read(how.scale, "scale", call_.scale, scale_));
  NRD_TRY(read(how.bias, "bias", call_.bias, bias_));
  NRD_TRY(read(how.residual, "residual", call_.residual, residual_));
  if (call_.has_epilogue() && !is_float(packed_.dtype))
    return make_error({ErrorCode::kUnsupported, kPrepacked, "epilogue",
                       "one behind an integer product", "none",
                       "use gemm_dequant for scales and floats"});
  if (call_.scale && !scale_.sizes.empty() && !(scale_.sizes == Dims{n}))
    return shape_error("scale", scale_, fmt::format("[] or [{}]", n));
  if (call_.scale && scale_.sizes.empty()) {  // as long as a row
    call_.scale->rank = 1;
    call_.scale->sizes = &packed_.sizes[1];
    call_.scale->strides = kSame;
  }
  if (call_.bias && !(bias_.sizes == Dims{n}))
    return shape_error("bias", bias_, fmt::format("[{}]", n));
  if (how.activation) NRD_TRY(check_activation(how.activation));
  if (call_.residual && !(residual_.sizes == c_.sizes))
    return shape_error("residual", residual_, "the shape of c, " + to_string(c_.sizes));
  return {};
}

// Only `cpu` is the engine; a matrix without panels has none.
Expected<std::shared_ptr<const PackedProduct>> PackedGemm::prepare() const {
  const nereid_operand operands[] = {{"a", &call_.a},
                                     {"c", &call_.c},
                                     {"scale", call_.scale ? &*call_.scale : nullptr},
                                     {"bias", call_.bias ? &*call_.bias : nullptr},
                                     {"residual", call_.residual ? &*call_.residual : nullptr}};
  const nereid_attribute activation = {"activation", call_.how.activation, 0};
  const nereid_call call = {sizeof call,
                            call_.how.threads,
                            kPrepacked,
                            operands,
                            &activation,
                            5,
                            call_.how.activation ? 1 : 0,
                            call_.how.backend,
                            nullptr,
                            nullptr};
  Call read;
  NRD_TRY(read_call(&call, read));
  const std::string_view backend = context_.backend_for(read);
  std::shared_ptr<const PackedProduct> product;
  if (backend != "cpu" || !packed_.has_panels()) return product;
  CallKey key;
  write_key(read, backend, plan_generation(), key);
  const bool keeps = &context_ == packed_.context.get() && key.fits();
  if (keeps) product = packed_.products.find(key.bytes());
  if (!product) {
    Expected<std::shared_ptr<const PackedProduct>> made = make();
    if (!made || !*made) return made;
    product = keeps ? packed_.products.insert(key.bytes(), *made) : *made;
  }
  NRD_TRY(check_memory(product->desc));
  return product;
}

// The shapes of a, b and c are bind()'s business. What cannot be emitted goes step by step.
Expected<std::shared_ptr<const PackedProduct>> PackedGemm::make() const {
  const Dims sizes(packed_.sizes);
  const OperandDesc b = {true, packed_.dtype, sizes, contiguous_strides(sizes), false};
  Expected<const Op*> op = find_op(kPrepacked);
  if (!op) return op.error();
  Expected<Desc> desc = bind(**op, {}, {{"a", a_}, {"b", b}, {"c", c_}});
  if (!desc) return desc.error();
  const OpTrace* trace = nullptr;
  std::shared_ptr<const PackedProduct> none;
  if (call_.how.activation && !(trace = catalogue_trace(call_.how.activation))) return none;
  Expected<Panels> panels = packed_.panels_for(a_.dtype);
  if (!panels) return panels.error();
  gemm::BatchDesc batch = describe_product(*desc, panels->layout.family->numerics).batch;
  int scale = -1, bias = -1, residual = -1;
  const auto add = [&](gemm::StepKind kind, gemm::OperandShape shape, const OperandDesc& operand) {
    return add_step(batch, kind, shape, operand, desc->leading);
  };
  using gemm::OperandShape, gemm::StepKind;
  const auto scale_shape = scale_.sizes.empty() ? OperandShape::kNumber : OperandShape::kColumns;
  if (call_.scale) scale = add(StepKind::kMultiply, scale_shape, scale_);
  if (call_.bias) bias = add(StepKind::kAdd, OperandShape::kColumns, bias_);
  if (trace) batch.product.epilogue.apply(*trace);
  if (call_.residual) residual = add(StepKind::kAdd, OperandShape::kMatrix, residual_);
  batch.product.is_packed = true;
  const Machine& machine = context_.registry().machine();
  Expected<gemm::Batch> made = gemm::Batch::make(batch, *engine_target(machine), machine.profile);
  if (!made && made.error().code == ErrorCode::kUnsupported) return none;
  if (!made) return made.error();
  auto product = std::make_shared<const PackedProduct>(
      PackedProduct{std::move(*desc), std::move(*made), panels->data, scale, bias, residual});
  if (context_.logs_dispatch())
    context_.log_dispatch(fmt::format("{} {} {} -> cpu gemm_{} (b packed)", kPrepacked,
                                      product->desc.shape_text(), product->desc.dtype_text(),
                                      panels->layout.family->isa));
  return product;
}

Expected<void> PackedGemm::check_memory(const Desc& desc) const {
  void* const pointers[] = {call_.a.data, const_cast<void*>(packed_.panels.data.get()),
                            call_.c.data};
  NRD_TRY(check_pointers(desc, pointers));
  const TensorView c = view_of(c_, call_.c.data);
  for (const Used& used : memory()) {
    const TensorView& view = used.view;
    const std::string_view name = used.name;
    if (name == "c" || name == "a" || view.count() == 0) continue;
    const auto refuse = [&](ErrorCode code, std::string got, std::string allowed) {
      return make_error({code, kPrepacked, used.name, std::move(got), std::move(allowed), ""});
    };
    if (view.data == nullptr)
      return refuse(ErrorCode::kInvalidArgument, "a null pointer",
                    fmt::format("{} elements of {}", view.count(), word(view.dtype)));
    const size_t bytes = byte_size(view.dtype);
    if (reinterpret_cast<uintptr_t>(view.data) % bytes != 0)
      return refuse(ErrorCode::kInvalidArgument,
                    fmt::format("address {} for {}", view.data, word(view.dtype)),
                    fmt::format("a multiple of {} bytes", bytes));
    const bool may_be_c = name == "residual";
    if (overlap(view, c) && !(may_be_c && same_elements(view, c)))
      return refuse(ErrorCode::kOverlap, "memory that overlaps 'c'",
                    may_be_c ? "disjoint memory, or exactly the elements of c" : "disjoint memory");
  }
  return {};
}

gemm::ProductArgs PackedGemm::args(const PackedProduct& product) const {
  gemm::ProductArgs args{call_.a.data, product.b.get(), call_.c.data, {}};
  const auto set = [&](int number, const std::optional<nereid_tensor>& tensor) {
    if (number >= 0) args.operands[static_cast<size_t>(number)].data = tensor->data;
  };
  set(product.scale, call_.scale);
  set(product.bias, call_.bias);
  set(product.residual, call_.residual);
  return args;
}

Expected<void> PackedGemm::run() const {
  Expected<std::shared_ptr<const PackedProduct>> product = prepare();
  if (!product) return product.error();
  if (!*product) return run_steps(call_.how.threads);
  const gemm::Batch& batch = (*product)->batch;
  const WorkspacePool::Lease lease(context_.workspaces(), batch.workspace_bytes());
  batch.run(args(**product), lease.data(), context_.exec(call_.how.threads));
  return {};
}

Expected<void> PackedGemm::run_steps(int threads) const {
  PackedCall call = call_;
  call.how.threads = threads;
  return nrd::run_steps(context_, packed_, call);
}

PackedGemm::Memory PackedGemm::memory() const {
  Memory memory;
  const auto add = [&](const char* name, const OperandDesc& operand, void* data, bool is_written) {
    memory.all[memory.count++] = {name, view_of(operand, data), is_written};
  };
  add("c", c_, call_.c.data, true);
  add("a", a_, call_.a.data, false);
  if (call_.scale) add("scale", scale_, call_.scale->data, false);
  if (call_.bias) add("bias", bias_, call_.bias->data, false);
  if (call_.residual) add("residual", residual_, call_.residual->data, false);
  return memory;
}

}  // namespace nrd

extern "C" nereid_status nereid_gemm_packed(nereid_context* context, const nereid_tensor* a,
                                            const nereid_packed* b, const nereid_tensor* c,
                                            const nereid_epilogue* epilogue) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!b) return nrd::null_error("b", "a matrix of nereid_pack_b", nrd::kPrepacked);
    auto found = nrd::context_of(context);
    if (!found) return found.error();
    nrd::PackedGemm gemm(***found, *b);
    NRD_TRY(gemm.read(a, c, epilogue));
    return gemm.run();
  });
}
