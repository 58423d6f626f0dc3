// SPDX-License-Identifier: MIT
// src/api/packed_gemm.h: one product with a packed matrix: read, prepared, run.
#pragma once

#include "api/packed_steps.h"

namespace nrd {

class PackedGemm {
 public:
  PackedGemm(Context& context, const nereid_packed& packed) : context_(context), packed_(packed) {}

  Expected<void> read(const nereid_tensor* a, const nereid_tensor* c,
                      const nereid_epilogue* epilogue);
  // The product of the engine, checked and ready to run; null where it goes step by step.
  Expected<std::shared_ptr<const PackedProduct>> prepare() const;
  gemm::ProductArgs args(const PackedProduct& product) const;
  Expected<void> run() const;
  Expected<void> run_steps(int threads) const;

  struct Used {
    const char* name;
    TensorView view;
    bool is_written;
  };
  // Of the operands that are there; in place, because every call asks.
  struct Memory {
    std::array<Used, 5> all;
    size_t count = 0;
    const Used* begin() const { return all.data(); }
    const Used* end() const { return all.data() + count; }
  };
  Memory memory() const;

 private:
  Expected<void> read_epilogue();
  Expected<std::shared_ptr<const PackedProduct>> make() const;
  Expected<void> check_memory(const Desc& desc) const;

  Context& context_;
  const nereid_packed& packed_;
  PackedCall call_;
  OperandDesc a_, c_, scale_, bias_, residual_;
};

}  // namespace nrd
