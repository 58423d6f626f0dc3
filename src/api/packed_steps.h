// SPDX-License-Identifier: MIT
// src/api/packed_steps.h: a product with the plain form of a packed matrix, step by step: product,
// scale, bias, activation, residual as operators of their own.
#pragma once

#include "api/packed.h"

namespace nrd {

// What a call of nereid_gemm_packed brings, in our version of the structs.
struct PackedCall {
  nereid_tensor a{}, c{};
  nereid_epilogue how{};
  std::optional<nereid_tensor> scale, bias, residual;
  bool has_epilogue() const { return scale || bias || how.activation || residual; }
};

// Copies b, checked, to the plain form.
Expected<void> make_plain(Context& context, nereid_tensor b, nereid_packed& packed);

// Each step is checked by its own operator.
Expected<void> run_steps(Context& context, const nereid_packed& packed, const PackedCall& call);

}  // namespace nrd
