// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_rows.cu: starts the kernels of fp8_rows.cuh.
#include "cuda/kernels/fp8_launch.cuh"
#include "cuda/kernels/fp8_rows.cuh"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

template <class X, class Q, int kVectors>
cudaError_t start(const Fp8QuantizeArgs& args, const Fp8RowsPlan& plan, Stream stream) {
  if (kVectors < plan.vectors) return cudaErrorInvalidValue;
  const int block = plan.threads < 128 ? 128 : plan.threads;
  const int rows_of_block = block / plan.threads;
  return for_batches(args, [&](const Fp8QuantizeArgs& part) {
    LaunchShape shape;
    shape.grid = {static_cast<unsigned>((part.rows + rows_of_block - 1) / rows_of_block),
                  static_cast<unsigned>(part.batch), 1};
    shape.block = static_cast<unsigned>(block);
    shape.shared_bytes = static_cast<size_t>(block) * sizeof(float);
    shape.stream = stream;
    return launch(quantize_rows_kernel<X, Q, kVectors>, shape, part, plan.threads);
  });
}

// Sizes between cost idle registers only; formats that are seldom asked for have fewer sizes.
template <class X, class Q>
cudaError_t start_vectors(const Fp8QuantizeArgs& args, const Fp8RowsPlan& plan, Stream stream) {
  if constexpr (sizeof(X) == 2 && kSame<Q, f8e4m3>) {
    if (plan.vectors <= 2) return start<X, Q, 2>(args, plan, stream);
    if (plan.vectors > 4 && plan.vectors <= 8) return start<X, Q, 8>(args, plan, stream);
    if (plan.vectors > 8 && plan.vectors <= 12) return start<X, Q, 12>(args, plan, stream);
  }
  if (plan.vectors <= 4) return start<X, Q, 4>(args, plan, stream);
  return start<X, Q, 16>(args, plan, stream);
}

}  // namespace

cudaError_t fp8_quantize_rows(const Fp8QuantizeArgs& args, const Fp8RowsPlan& plan, Stream stream) {
  return for_types(args,
                   [&]<class X, class Q>(X, Q) { return start_vectors<X, Q>(args, plan, stream); });
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
