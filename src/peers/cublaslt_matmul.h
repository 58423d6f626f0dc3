// SPDX-License-Identifier: MIT
// src/peers/cublaslt_matmul.h: one product of cuBLASLt, from a Desc to a call.
#pragma once

#include <vector>

#include "cuda/launch/memory.h"
#include "peers/cublaslt_api.h"
#include "peers/peer_kernel.h"

namespace nrd::cublaslt {

// Where the operands of a call stand in desc.operands; -1 where there is none.
struct Operands {
  int a = -1, b = -1, bias = -1, a_scale = -1, b_scale = -1, c = -1;
};

// A product as cuBLASLt sees it. It thinks in columns: our row-major c[m,n] is its n x m matrix, so
// our b is its first operand and our a its second.
class Matmul {
 public:
  // What it cannot do is refused, with the reason.
  static Expected<Matmul> read(const Desc& desc, const Api& api);

  // Enqueues the product on device pointers (as desc.operands).
  Status run(Handle handle, void* const* pointers, const Algorithm& algorithm, void* workspace,
             size_t workspace_bytes, cuda::Stream stream) const;
  // The library's own ranking for these pointers.
  Expected<std::vector<HeuristicResult>> candidates(Handle handle, void* const* pointers,
                                                    size_t workspace_bytes) const;
  const Operands& operands() const { return operands_; }

 private:
  Expected<void> describe(const Desc& desc);
  Expected<void> check(const char* call, Status status) const;
  void set_pointers(MatmulDesc& desc, void* const* pointers) const;
  template <class T>
  Status set(int attribute, const T& value) {
    return api_->desc_set(&desc_, attribute, &value, sizeof value);
  }

  const Api* api_ = nullptr;
  std::string op_;
  Operands operands_;
  MatmulDesc desc_{};
  MatrixLayout first_{}, second_{}, result_{};
};

// The fastest of the library's first few candidates, timed on memory of its own that is cold in the
// L2: its ranking alone is sometimes a tenth off. The error is a refusal where there is none.
Expected<HeuristicResult> find_fastest(const Matmul& matmul, const Desc& desc, Handle handle,
                                       size_t workspace_bytes, size_t l2_bytes);

}  // namespace nrd::cublaslt
