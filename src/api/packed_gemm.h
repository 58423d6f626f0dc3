// SPDX-License-Identifier: MIT
// src/api/packed_gemm.h: a call of nereid_gemm_packed as the call that it is: an operator named by
// its epilogue (ops/epilogue.h), with the packed matrix as its b.
#pragma once

#include <array>

#include "api/packed.h"

namespace nrd {

class PackedCall {
 public:
  // Operands are checked where every call's are; here is decided which operator it is.
  Expected<void> fill(Context& context, const nereid_packed& b, const nereid_tensor* a,
                      const nereid_tensor* c, const nereid_epilogue* epilogue);
  const nereid_call& call() const { return call_; }  // points into this and the caller's tensors

 private:
  Expected<void> add_epilogue(const nereid_packed& b, const nereid_epilogue& how);

  nereid_tensor b_{};
  std::array<nereid_operand, 6> operands_{};
  nereid_call call_{};
};

}  // namespace nrd
