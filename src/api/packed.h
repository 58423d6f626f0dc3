// SPDX-License-Identifier: MIT
// src/api/packed.h: the right-hand matrix of a product, prepared once: the handle and its forms.
//
// Where the GEMM engine serves the dtype the matrix is held as its panels and as nothing else. A
// plain form, (k,n) contiguous in f32 or i8 as definitions read it, is there where the engine is
// not, and is made from the panels when another backend than `cpu` is named.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "api/context.h"
#include "base/lazy.h"
#include "gemm/batch.h"

namespace nrd {

// What a product with a packed matrix was prepared to: one for each shape of a and c and kind of
// epilogue.
struct PackedProduct {
  Desc desc;  // of gemm_prepacked
  gemm::Batch batch;
  std::shared_ptr<const void> b;             // panels
  int scale = -1, bias = -1, residual = -1;  // operands of the epilogue
};

// The engine's target for a context's ISA; null where there is no generated code.
const jit::Target* engine_target(const Machine& machine);

// A matrix as the engine reads it in products of one numerics class.
struct Panels {
  gemm::PackedLayout layout;  // without a family: none
  std::shared_ptr<const void> data;
};

}  // namespace nrd

struct nereid_packed {
  std::shared_ptr<nrd::Context> context;
  nrd::DType dtype = nrd::DType::kF32;  // as it was given
  std::array<int64_t, 2> sizes{};       // k, n
  std::string isa;
  nrd::Panels panels;  // for an a of the same dtype
  mutable nrd::Mutex mutex;
  mutable nrd::Panels other;  // for an a of another; made when first asked for; under mutex
  nrd::Block plain;           // where there are no panels
  mutable nrd::LazyMember<const nrd::Block> plain_of_panels;

  mutable nrd::PlanCache plans{64};  // of the plain form
  mutable nrd::KeyedCache<nrd::PackedProduct> products{64};

  bool has_panels() const { return panels.layout.family != nullptr; }
  nrd::DType plain_dtype() const { return is_float(dtype) ? nrd::DType::kF32 : dtype; }
  size_t bytes() const { return has_panels() ? panels.layout.bytes() : plain.bytes(); }
  nrd::Expected<nrd::Panels> panels_for(nrd::DType a) const;
  const nrd::Block& plain_form() const;
  // To [k][n] contiguous, of the dtype that was packed.
  void unpack(void* to) const;
};

namespace nrd {

// A handle without a form yet.
std::unique_ptr<nereid_packed> make_packed(std::shared_ptr<Context> context, DType dtype, int64_t k,
                                           int64_t n);
// The family of products of these dtypes in a context; the error says why there is none.
Expected<const gemm::Family*> product_family(const Machine& machine, DType a, DType b);

}  // namespace nrd
