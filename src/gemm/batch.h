// SPDX-License-Identifier: MIT
// src/gemm/batch.h: one product for each instance of leading axes, prepared and run.
#pragma once

#include "base/tensor.h"
#include "gemm/matrix_packer.h"
#include "gemm/product.h"
#include "ops/group.h"

namespace nrd::gemm {

// a, b, c, then the operands of the epilogue.
constexpr size_t kFirstOperand = 3, kBatchMatrices = kFirstOperand + kEpilogueOperands;

struct BatchDesc {
  ProductDesc product;
  // Bytes from row to row and column to column of the epilogue's operands.
  std::array<OperandMemory, kEpilogueOperands> operands;
  Dims sizes;  // of the leading axes
  // Bytes along them, 0: shared by the instances. Block scales are shared by all.
  std::array<Dims, kBatchMatrices> steps;
};

// Immutable; several threads may run it at once, each with its own workspace. Axes that lie like
// further rows of one product become such; a b that instances share is packed once for them. The
// bits are those of one product each.
class Batch {
 public:
  static Expected<Batch> make(const BatchDesc& desc, const jit::Target& target,
                              const DeviceProfile& profile);
  size_t workspace_bytes() const { return packed_bytes_ + space_.bytes(); }
  size_t one_thread_bytes() const { return packed_bytes_ + product_.workspace_bytes(1); }
  // Of the operands of the epilogue only `data` is looked at. The workspace is aligned to 64 bytes.
  void run(const ProductArgs& args, void* workspace, const Exec& exec) const;
  const Product& product() const { return product_; }
  int64_t products() const { return outer_ * inner_; }
  bool packs() const { return packer_.has_value(); }  // b, for its instances

 private:
  friend class BatchJobs;
  Batch(BatchDesc desc, Product product, int slots)
      : desc_(std::move(desc)), product_(std::move(product)), space_(slots) {}
  // Of one instance.
  ProductArgs instance_args(const ProductArgs& args, int64_t instance, const void* b) const;
  // Bytes from the first instance's matrices to those of another.
  std::array<int64_t, kBatchMatrices> place(int64_t instance) const;

  BatchDesc desc_;  // after folding; axes along which b varies come first
  Product product_;
  JobSpace space_;
  int64_t outer_ = 1, inner_ = 1;       // instances of b, and of a and c for each
  std::optional<MatrixPacker> packer_;  // where b is packed for its instances
  size_t packed_bytes_ = 0;
};

}  // namespace nrd::gemm
