// SPDX-License-Identifier: MIT
// src/api/packed.h: the right-hand matrix of a product, prepared once: the handle and its forms.
//
// Where the GEMM engine serves the dtype the matrix is held as its panels and as nothing else. A
// plain form, (k,n) contiguous in f32 or i8 as definitions read it, is there where the engine is
// not, and is made from the panels when another backend than `cpu` is named. To a product it is an
// operand like any other (tensor_for): plans, caches and checks are those of every call.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "api/context.h"
#include "base/lazy.h"
#include "gemm/describe.h"

namespace nrd {

// The engine's target for a context's ISA; null where there is no generated code.
const jit::Target* engine_target(const Machine& machine);

// A matrix as the engine reads it in products of one numerics class.
struct Panels {
  gemm::PackedLayout layout;  // without a family: none
  std::shared_ptr<const void> data;
  const Form* form = nullptr;
};

}  // namespace nrd

struct nereid_packed {
  std::shared_ptr<nrd::Context> context;
  nrd::DType dtype = nrd::DType::kF32;  // as it was given
  std::array<int64_t, 2> sizes{};       // k, n
  std::string isa;
  nrd::Panels panels;  // for an a of the same dtype
  nrd::Block plain;    // where there are no panels

  bool has_panels() const { return panels.layout.family != nullptr; }
  nrd::DType plain_dtype() const { return is_float(dtype) ? nrd::DType::kF32 : dtype; }
  size_t bytes() const { return has_panels() ? panels.layout.bytes() : plain.bytes(); }
  // The panels, with the form of their layout.
  void hold(nrd::Panels made);
  // As an operand beside an a of that dtype: in its panels, which are made when they are first
  // asked for, or plain, where there are none or `is_plain` asks for it. Points into the handle.
  nrd::Expected<nereid_tensor> tensor_for(nrd::DType a, bool is_plain) const;
  const nrd::Block& plain_form() const;
  // To [k][n] contiguous, of the dtype that was packed.
  void unpack(void* to) const;

 private:
  nrd::Expected<const nrd::Panels*> panels_for(nrd::DType a) const;
  nrd::Expected<const nrd::Panels*> make_panels_for(nrd::DType a) const;

  static constexpr size_t kDTypes = 16;
  mutable std::array<std::atomic<const nrd::Panels*>, kDTypes> panels_by_dtype{};
  mutable nrd::Mutex mutex;
  mutable std::vector<std::unique_ptr<const nrd::Panels>> others;  // under mutex; only grows
  mutable nrd::LazyMember<const nrd::Block> plain_of_panels;
};

namespace nrd {

// A handle without a form yet.
std::unique_ptr<nereid_packed> make_packed(std::shared_ptr<Context> context, DType dtype, int64_t k,
                                           int64_t n);
// The family of products of these dtypes in a context; the error says why there is none.
Expected<const gemm::Family*> product_family(const Machine& machine, DType a, DType b);

}  // namespace nrd
