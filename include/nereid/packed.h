// SPDX-License-Identifier: MIT
// nereid/packed.h: a weight prepared once, and products with it.
#pragma once

#include <memory>

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
    handle_ = std::shared_ptr<nereid_packed>(packed, nereid_packed_destroy);
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
  const nereid_packed* get() const { return handle_.get(); }

 private:
  std::shared_ptr<nereid_packed> handle_;
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
};

// c[..., m, n] = activation(a[..., m, k] b + bias) + residual. a and c: f32, f16 or bf16 (for an
// i8 b: i8 or u8 into i32, nothing behind it). f32 inside, each output one chain in k, rounded
// once. c must not overlap a. Errors: as gemm's, and KernelError for a b of another ISA level.
inline void gemm(const TensorView& a, const PackedMatrix& b, const TensorView& c,
                 const PackedGemmOptions& options = {}) {
  const nereid_tensor a_c = a.c(), c_c = c.c(), bias = options.bias.c(),
                      residual = options.residual.c();
  const nereid_epilogue epilogue{sizeof(nereid_epilogue),
                                 options.threads,
                                 options.bias ? &bias : nullptr,
                                 options.activation,
                                 options.residual ? &residual : nullptr,
                                 options.backend};
  check(nereid_gemm_packed(handle_of(options.context), &a_c, b.get(), &c_c, &epilogue));
}

}  // namespace nereid
