// SPDX-License-Identifier: MIT
// src/cuda/kernels/elements_binary.cu: the elementwise operators of two inputs.
#include "cuda/kernels/elements.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t binary_elements(const ElementArgs& args, Stream stream) {
  switch (args.op) {
#define NRD_CUDA_CASE(name, functor) \
  case ElementOp::k##functor: return start_elements<functor, 2>(args, stream);
    NRD_CUDA_BINARY_OPS(NRD_CUDA_CASE)
#undef NRD_CUDA_CASE
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
