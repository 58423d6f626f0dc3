// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/peer.h: cuBLASLt's product on the operands of ours.
#pragma once

#include <memory>

#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/memory.h"
#include "peers/cublaslt_matmul.h"

namespace nrd::bench {

// For products of one shape and mode. The fastest of the library's candidates is taken.
class Peer {
 public:
  // An error where there is no library or it refuses the mode (block scales, old versions).
  static Expected<std::unique_ptr<Peer>> make(const cuda::Fp8GemmArgs& args, size_t l2_bytes);
  Expected<void> run(const cuda::Fp8GemmArgs& args, cuda::Stream stream) const;

 private:
  cublaslt::Matmul matmul_;
  cublaslt::HeuristicResult chosen_{};
  cuda::DeviceMemory workspace_;
  size_t operands_ = 0;
};

}  // namespace nrd::bench
