// SPDX-License-Identifier: MIT
// src/cuda/kernels/glue.cu: starts the kernels of glue.cuh.
#include "cuda/kernels/glue.cuh"
#include "cuda/launch/launch.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

GlueRows rows_of(const GlueOperand& o) {
  const auto bytes = static_cast<int64_t>(byte_size(o.dtype));
  const int64_t alignment = kGroup * bytes < kVectorBytes ? kGroup * bytes : kVectorBytes;
  const bool vectors = o.col == 1 && o.row * bytes % alignment == 0 &&
                       reinterpret_cast<uintptr_t>(o.data) % static_cast<size_t>(alignment) == 0;
  return {o, vectors};
}

// A block a row, with so many bytes a thread.
LaunchShape shape_of(int64_t blocks, size_t bytes, Stream stream) {
  LaunchShape shape;
  shape.grid = static_cast<unsigned>(blocks);
  shape.block = kGlueThreads;
  shape.shared_bytes = kGlueThreads * bytes;
  shape.stream = stream;
  return shape;
}

template <Reduction kOp>
cudaError_t start_reduction(const ReduceArgs& args, Stream stream) {
  const GlueReduce a{rows_of(args.x), rows_of(args.y), args.out, args.cols, args.partials};
  const auto parts = static_cast<uint32_t>(reduction_parts(args.cols));
  const cudaError_t code = launch(reduce_parts_kernel<kOp>,
                                  shape_of(args.rows * parts, sizeof(float), stream), a, parts);
  if (code != cudaSuccess || parts == 1) return code;
  return launch(reduce_partials_kernel<kOp>, shape_of(args.rows, sizeof(float), stream), a, parts);
}

cudaError_t reduce(const ReduceArgs& args, Stream stream) {
  switch (args.op) {
    case Reduction::kSum: return start_reduction<Reduction::kSum>(args, stream);
    case Reduction::kMax: return start_reduction<Reduction::kMax>(args, stream);
    case Reduction::kDot: return start_reduction<Reduction::kDot>(args, stream);
    default: return start_reduction<Reduction::kSumSquares>(args, stream);
  }
}

cudaError_t argmax(const ArgmaxArgs& args, Stream stream) {
  return launch(argmax_kernel, shape_of(args.rows, sizeof(float) + sizeof(int), stream),
                GlueArgmax{rows_of(args.x), args.index, args.cols});
}

cudaError_t quantize_i8(const QuantizeI8Args& args, Stream stream) {
  return launch(quantize_i8_kernel, shape_of(args.rows, sizeof(float), stream),
                GlueQuantize{rows_of(args.x), rows_of(args.q), args.scale, args.cols});
}

cudaError_t embedding(const EmbeddingArgs& args, Stream stream) {
  return launch(
      embedding_kernel, shape_of(args.rows, 0, stream),
      GlueEmbedding{rows_of(args.table), rows_of(args.out), args.ids, args.cols, args.vocab});
}

}  // namespace
}  // namespace nrd::cuda::NRD_CUDA_TARGET

namespace nrd::cuda {

NRD_CUDA_TABLE(GlueKernels, glue_kernels) = {
    .reduce = NRD_CUDA_TARGET::reduce,
    .argmax = NRD_CUDA_TARGET::argmax,
    .quantize_i8 = NRD_CUDA_TARGET::quantize_i8,
    .embedding = NRD_CUDA_TARGET::embedding,
};

}  // namespace nrd::cuda
