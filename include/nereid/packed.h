// SPDX-License-Identifier: MIT
// nereid/packed.h: a weight prepared once, and products with it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nereid/call.h"

namespace nereid {

// The right-hand matrix of a product in the form that kernels read. Copies share it; any number
// of threads may use it. Belongs to the ISA level of the context that packed it.
class PackedMatrix {
 public:
  explicit PackedMatrix(const TensorView& b, const Context* context = nullptr) {
    const nereid_tensor tensor = b.c();
    nereid_packed* packed = nullptr;
    check(nereid_pack_b(handle_of(context), &tensor, &packed));
    handle_ = {packed, nereid_packed_destroy};
  }
  // A file of save(); read-only, its pages come when they are used. With `verify` they are read
  // once and compared with their checksum.
  static PackedMatrix map(const std::string& path, bool verify = false,
                          const Context* context = nullptr) {
    nereid_packed* packed = nullptr;
    check(nereid_packed_map(handle_of(context), path.c_str(), verify ? NEREID_VERIFY : 0, &packed));
    return PackedMatrix(packed);
  }
  void save(const std::string& path) const {
    check(nereid_packed_save(handle_.get(), path.c_str()));
  }
  int64_t k() const { return info().k; }
  int64_t n() const { return info().n; }
  size_t bytes() const { return info().bytes; }
  nereid_packed_info info() const {
    nereid_packed_info info{};
    info.struct_size = sizeof info;
    check(nereid_describe_packed(handle_.get(), &info));
    return info;
  }
  // Back to what it was, bit for bit (NaNs may change their payload), into a view of any strides.
  void unpack(const TensorView& b) const {
    const nereid_tensor tensor = b.c();
    check(nereid_unpack_b(handle_.get(), &tensor));
  }
  const nereid_packed* get() const { return handle_.get(); }

 private:
  explicit PackedMatrix(nereid_packed* packed) : handle_(packed, nereid_packed_destroy) {}
  detail::Shared<nereid_packed> handle_;
};

// Packs b, a (k,n) view with any strides: pack_b(weight.t()) for an [N,K] weight. f32, f16, bf16
// or i8. b may be freed afterwards. Errors: ShapeMismatchError, UnsupportedDtypeError.
inline PackedMatrix pack_b(const TensorView& b, const Context* context = nullptr) {
  return PackedMatrix(b, context);
}

// What follows a product before it is stored, in this order.
struct PackedGemmOptions {
  TensorView bias = {};              // [n]
  const char* activation = nullptr;  // an elementwise operator of one input: "gelu"
  TensorView residual = {};          // the shape of c; may be c itself
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  TensorView scale = {};  // one number, or [n]; comes first
};

// One product of gemm_grouped.
struct PackedProduct {
  TensorView a;
  PackedMatrix b;
  TensorView c;
  PackedGemmOptions options = {};
};

namespace detail {

// The parts of a product as the C ABI takes it. An item points into them, and into the views.
struct PackedParts {
  nereid_tensor a, c, bias, residual, scale;
  nereid_epilogue epilogue;

  nereid_group_item fill(const TensorView& a_view, const PackedMatrix& b, const TensorView& c_view,
                         const PackedGemmOptions& o) {
    a = a_view.c();
    c = c_view.c();
    bias = o.bias.c();
    residual = o.residual.c();
    scale = o.scale.c();
    epilogue = {
        sizeof(nereid_epilogue),          o.threads, o.bias ? &bias : nullptr,  o.activation,
        o.residual ? &residual : nullptr, o.backend, o.scale ? &scale : nullptr};
    return {&a, b.get(), &c, &epilogue};
  }
};

}  // namespace detail

// c[..., m, n] = activation(a[..., m, k] b * scale + bias) + residual. a and c: f32, f16 or bf16
// (for an i8 b: i8 or u8 into i32, nothing behind it). f32 inside, each output one chain in k,
// rounded once. c must not overlap a. Errors: as gemm's, and KernelError for a b of another ISA
// level.
inline void gemm(const TensorView& a, const PackedMatrix& b, const TensorView& c,
                 const PackedGemmOptions& options = {}) {
  detail::PackedParts parts;
  const nereid_group_item item = parts.fill(a, b, c, options);
  check(nereid_gemm_packed(handle_of(options.context), item.a, item.b, item.c, item.epilogue));
}

// Several products over one pool of threads, each with the bits it has alone: those of a mixture of
// experts. No c may overlap anything of another product. `threads` and `context` of the products'
// own options are not looked at.
inline void gemm_grouped(std::span<const PackedProduct> products, int threads = 0,
                         const Context* context = nullptr) {
  std::vector<detail::PackedParts> parts(products.size());  // which must not move
  std::vector<nereid_group_item> items;
  for (const PackedProduct& p : products)
    items.push_back(parts[items.size()].fill(p.a, p.b, p.c, p.options));
  check(nereid_gemm_grouped(handle_of(context), items.data(), static_cast<int32_t>(items.size()),
                            threads));
}

}  // namespace nereid
