// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_flat.cu: starts the kernels of fp8_flat.cuh.
#include "cuda/kernels/fp8_flat.cuh"
#include "cuda/kernels/fp8_launch.cuh"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

LaunchShape flat_shape(const Fp8FlatPlan& plan, Stream stream) {
  LaunchShape shape;
  shape.grid = static_cast<unsigned>(plan.blocks);
  shape.block = kFp8FlatThreads;
  shape.shared_bytes = kFp8ExchangeBytes;
  shape.stream = stream;
  return shape;
}

}  // namespace

cudaError_t fp8_quantize_on_chip(const Fp8QuantizeArgs& args, const Fp8FlatPlan& plan,
                                 Stream stream) {
  LaunchShape shape = flat_shape(plan, stream);
  shape.shared_bytes += static_cast<size_t>(plan.shared_batches) * kFp8BatchBytes;
  shape.cooperative = true;
  return for_types(args, [&]<class X, class Q>(X, Q) {
    return launch(quantize_on_chip_kernel<X, Q>, shape, args, plan);
  });
}

cudaError_t fp8_flat_tops(const Fp8QuantizeArgs& args, const Fp8FlatPlan& plan, Stream stream) {
  const LaunchShape shape = flat_shape(plan, stream);
  return for_types(
      args, [&]<class X, class Q>(X, Q) { return launch(flat_tops_kernel<X>, shape, args, plan); });
}

cudaError_t fp8_quantize_flat(const Fp8QuantizeArgs& args, const Fp8FlatPlan& plan, Stream stream) {
  const LaunchShape shape = flat_shape(plan, stream);
  return for_types(args, [&]<class X, class Q>(X, Q) {
    return launch(quantize_flat_kernel<X, Q>, shape, args, plan);
  });
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
