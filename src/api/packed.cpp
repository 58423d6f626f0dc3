// SPDX-License-Identifier: MIT
// src/api/packed.cpp: packs and unpacks the right-hand matrix of a product.
#include "api/packed.h"

#include "base/convert.h"
#include "jit/code.h"

void nereid_packed::unpack(void* to) const {
  if (has_panels()) return unpack_b(panels.layout, panels.data.get(), to);
  nrd::convert(plain.data(), plain_dtype(), to, dtype, static_cast<size_t>(sizes[0] * sizes[1]));
}

const nrd::Block& nereid_packed::plain_form() const {
  if (!has_panels()) return plain;
  return plain_of_panels.get([&] {
    const auto count = static_cast<size_t>(sizes[0] * sizes[1]);
    nrd::Block narrow(context->allocator(), count * byte_size(dtype));
    unpack(narrow.data());
    if (dtype == plain_dtype()) return narrow;
    nrd::Block wide(context->allocator(), count * byte_size(plain_dtype()));
    nrd::convert(narrow.data(), dtype, wide.data(), plain_dtype(), count);
    return wide;
  });
}

void nereid_packed::hold(nrd::Panels made) {
  panels = std::move(made);
  panels.form = nrd::packed_form(panels.layout);
}

nrd::Expected<nereid_tensor> nereid_packed::tensor_for(nrd::DType a, bool is_plain) const {
  nereid_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.flags = NEREID_READ_ONLY;
  tensor.dtype = static_cast<int32_t>(dtype);
  tensor.rank = 2;
  tensor.sizes = sizes.data();
  if (has_panels() && !is_plain) {
    nrd::Expected<const nrd::Panels*> found = panels_for(a);
    if (found) {
      tensor.data = const_cast<void*>((*found)->data.get());
      tensor.form = reinterpret_cast<const nereid_form*>((*found)->form);
      return tensor;
    }
    if (found.error().code != nrd::ErrorCode::kUnsupported &&
        found.error().code != nrd::ErrorCode::kUnsupportedDtype)
      return found.error();
  }
  tensor.dtype = static_cast<int32_t>(plain_dtype());
  tensor.data = plain_form().data();
  return tensor;
}

// A product's dtypes decide on its family; most have the one the matrix was packed for.
nrd::Expected<const nrd::Panels*> nereid_packed::panels_for(nrd::DType a) const {
  const auto at = static_cast<size_t>(a);
  if (at >= kDTypes) return make_panels_for(a);
  if (const nrd::Panels* known = panels_by_dtype[at].load(std::memory_order_acquire)) return known;
  nrd::Expected<const nrd::Panels*> made = make_panels_for(a);
  if (made) panels_by_dtype[at].store(*made, std::memory_order_release);
  return made;
}

namespace nrd {

const jit::Target* engine_target(const Machine& machine) {
  const std::vector<const jit::Target*> targets = jit::targets(machine.isa);
  return targets.empty() || !jit::executable_memory_works() ? nullptr : targets.front();
}

Expected<const gemm::Family*> product_family(const Machine& machine, DType a, DType b) {
  const jit::Target* target = engine_target(machine);
  if (!target)
    return make_error(
        {ErrorCode::kUnsupported, "gemm_prepacked", "generated code", "none", "", ""});
  Expected<const gemm::Family*> family =
      gemm::find_family(*target, machine.isa, gemm::product_numerics(a, b, machine.profile));
  if (family) NRD_TRY(gemm::check_dtypes(**family, a, b));
  return family;
}

std::unique_ptr<nereid_packed> make_packed(std::shared_ptr<Context> context, DType dtype, int64_t k,
                                           int64_t n) {
  auto packed = std::make_unique<nereid_packed>();
  packed->isa = context->isa_word();
  packed->context = std::move(context);
  packed->dtype = dtype;
  packed->sizes = {k, n};
  return packed;
}

namespace {

constexpr const char* kPack = "pack_b";

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
  return make_error({ErrorCode::kUnsupportedDtype, kPack, "b", std::string(word(dtype)), allowed,
                     "convert it with cast"});
}

// A (k,n) view that is packed or written to: rank, sizes, pointer.
Expected<OperandDesc> read_matrix(const nereid_tensor* given, const char* op, nereid_tensor& b) {
  NRD_TRY(read_tensor(given, op, "b", b));
  NRD_TRY(check_on_cpu(b, op, "b"));
  Expected<OperandDesc> operand = read_operand(b, op, "b");
  if (!operand) return operand.error();
  if (b.rank != 2)
    return make_error({ErrorCode::kShapeMismatch, op, "b", "shape " + to_string(operand->sizes),
                       "[k, n]", "pass an [N,K] weight as its transposed view"});
  Expected<int64_t> count = element_count(operand->sizes, byte_size(operand->dtype));
  if (!count) return count.error();
  if (b.data == nullptr && *count > 0)
    return make_error({ErrorCode::kInvalidArgument, op, "b", "a null pointer",
                       fmt::format("{} elements of {}", *count, word(operand->dtype)), ""});
  return operand;
}

// Copies b, checked, to the plain form.
Expected<void> make_plain(Context& context, nereid_tensor b, nereid_packed& packed) {
  const auto count = static_cast<size_t>(packed.sizes[0] * packed.sizes[1]);
  packed.plain = Block(context.allocator(), count * byte_size(packed.plain_dtype()));
  if (count == 0) return {};
  nereid_tensor to{};
  to.struct_size = sizeof to;
  to.data = packed.plain.data();
  to.dtype = static_cast<int32_t>(packed.plain_dtype());
  to.rank = 2;
  to.sizes = packed.sizes.data();
  b.flags = 0;
  const nereid_operand operands[] = {{"x", &b}, {"out", &to}};
  nereid_call call{};
  call.struct_size = sizeof call;
  call.op = "cast";
  call.operands = operands;
  call.operand_count = 2;
  return run_call(context, &call);
}

// Huge pages, unless the caller brings an allocator or they would stay empty.
Expected<std::shared_ptr<const void>> pack_panels(const Context& context, const jit::Target& target,
                                                  const gemm::PackedLayout& layout,
                                                  const gemm::Matrix& b) {
  constexpr size_t kHugePage = size_t{2} << 20;
  if (layout.bytes() >= kHugePage && !context.allocator().allocate_hook) {
    Expected<gemm::PackedMatrix> made =
        gemm::PackedMatrix::make(target, layout, b, context.exec(0));
    if (!made) return made.error();
    auto matrix = std::make_shared<gemm::PackedMatrix>(std::move(*made));
    return std::shared_ptr<const void>(matrix, matrix->data());
  }
  auto block = std::make_shared<Block>(context.allocator(), std::max<size_t>(layout.bytes(), 1));
  NRD_TRY(gemm::pack_b(target, layout, b, block->data(), context.exec(0)));
  return std::shared_ptr<const void>(block, block->data());
}

Expected<Panels> make_panels(const Context& context, const Machine& machine, DType a,
                             const gemm::Matrix& b, int64_t k, int64_t n) {
  Expected<const gemm::Family*> family = product_family(machine, a, b.dtype);
  if (!family) return family.error();
  Expected<gemm::PackedLayout> layout = gemm::make_packed_layout(**family, b.dtype, k, n);
  if (!layout) return layout.error();
  Expected<std::shared_ptr<const void>> data =
      pack_panels(context, *engine_target(machine), *layout, b);
  if (!data) return data.error();
  return Panels{*layout, std::move(*data), packed_form(*layout)};
}

Expected<void> pack(nereid_context* handle, const nereid_tensor* given, nereid_packed** out) {
  if (!out) return null_error("packed", "where to put the handle", kPack);
  Expected<std::shared_ptr<Context>*> found = context_of(handle);
  if (!found) return found.error();
  Context& context = ***found;
  nereid_tensor b{};
  Expected<OperandDesc> operand = read_matrix(given, kPack, b);
  if (!operand) return operand.error();
  NRD_TRY(check_dtype(operand->dtype));
  auto packed = make_packed(**found, operand->dtype, b.sizes[0], b.sizes[1]);
  const Machine& machine = context.registry().machine();
  if (product_family(machine, operand->dtype, operand->dtype)) {
    const gemm::Matrix matrix = {b.data, operand->dtype, operand->strides[0], operand->strides[1]};
    Expected<Panels> panels =
        make_panels(context, machine, operand->dtype, matrix, b.sizes[0], b.sizes[1]);
    if (!panels) return panels.error();
    packed->hold(std::move(*panels));
  } else {
    NRD_TRY(make_plain(context, b, *packed));
  }
  *out = packed.release();
  return {};
}

// The matrix as it was, of the dtype it had.
Expected<void> unpack(const nereid_packed* packed, const nereid_tensor* given) {
  constexpr const char* kUnpack = "unpack_b";
  if (!packed) return null_error("packed", "a matrix of nereid_pack_b", kUnpack);
  nereid_tensor b{};
  Expected<OperandDesc> operand = read_matrix(given, kUnpack, b);
  if (!operand) return operand.error();
  const auto [k, n] = packed->sizes;
  if (b.sizes[0] != k || b.sizes[1] != n)
    return make_error({ErrorCode::kShapeMismatch, kUnpack, "b",
                       "shape " + to_string(operand->sizes), fmt::format("[{}, {}]", k, n), ""});
  if (operand->dtype != packed->dtype)
    return make_error({ErrorCode::kUnsupportedDtype, kUnpack, "b",
                       std::string(word(operand->dtype)), std::string(word(packed->dtype)), ""});
  NRD_TRY(check_output(kUnpack, "b", b, *operand));
  const size_t size = byte_size(packed->dtype);
  const Block rows(packed->context->allocator(), static_cast<size_t>(k * n) * size);
  packed->unpack(rows.data());
  for (int64_t i = 0; i < k * n; i++) {
    const int64_t to = i / n * operand->strides[0] + i % n * operand->strides[1];
    std::memcpy(static_cast<char*>(b.data) + to * static_cast<int64_t>(size),
                static_cast<const char*>(rows.data()) + static_cast<size_t>(i) * size, size);
  }
  return {};
}

}  // namespace
}  // namespace nrd

// One set of panels a family: several dtypes of a may share it.
nrd::Expected<const nrd::Panels*> nereid_packed::make_panels_for(nrd::DType a) const {
  const nrd::Machine& machine = context->registry().machine();
  nrd::Expected<const nrd::gemm::Family*> family = nrd::product_family(machine, a, dtype);
  if (!family) return family.error();
  if (*family == panels.layout.family) return &panels;
  const auto find = [&]() -> const nrd::Panels* {
    for (const auto& known : others)
      if (known->layout.family == *family) return known.get();
    return nullptr;
  };
  {
    const std::lock_guard lock(mutex);
    if (const nrd::Panels* known = find()) return known;
  }
  const auto [k, n] = sizes;
  const nrd::Block rows(context->allocator(), static_cast<size_t>(k * n) * byte_size(dtype));
  unpack(rows.data());
  nrd::Expected<nrd::Panels> made =
      nrd::make_panels(*context, machine, a, {rows.data(), dtype, n, 1}, k, n);
  if (!made) return made.error();
  auto kept = std::make_unique<const nrd::Panels>(std::move(*made));
  const std::lock_guard lock(mutex);
  if (const nrd::Panels* known = find()) return known;  // another thread was faster
  return others.emplace_back(std::move(kept)).get();
}

extern "C" {

nereid_status nereid_pack_b(nereid_context* context, const nereid_tensor* b,
                            nereid_packed** packed) {
  return nrd::guarded([&] { return nrd::pack(context, b, packed); });
}

nereid_status nereid_unpack_b(const nereid_packed* packed, const nereid_tensor* b) {
  return nrd::guarded([&] { return nrd::unpack(packed, b); });
}

nereid_status nereid_packed_tensor(const nereid_packed* packed, int32_t a_dtype,
                                   nereid_tensor* tensor) {
  constexpr const char* kOp = "packed_tensor";
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!packed) return nrd::null_error("packed", "a matrix of nereid_pack_b", kOp);
    const auto dtype = static_cast<nrd::DType>(a_dtype);
    if (nrd::byte_size(dtype) == 0)
      return nrd::make_error({nrd::ErrorCode::kUnsupportedDtype, kOp, "a_dtype",
                              fmt::format("dtype number {}", a_dtype), "the dtype of a", ""});
    nrd::Expected<nereid_tensor> made = packed->tensor_for(dtype, false);
    if (!made) return made.error();
    return nrd::write_struct(*made, tensor, "nereid_tensor");
  });
}

void nereid_packed_destroy(nereid_packed* packed) { delete packed; }

nereid_status nereid_describe_packed(const nereid_packed* packed, nereid_packed_info* info) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!packed) return nrd::null_error("packed", "a matrix of nereid_pack_b");
    const nereid_packed_info known{sizeof known,     static_cast<int32_t>(packed->dtype),
                                   packed->sizes[0], packed->sizes[1],
                                   packed->bytes(),  packed->isa.c_str()};
    return nrd::write_struct(known, info, "nereid_packed_info");
  });
}

}  // extern "C"
