// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_place.cu: one thread a value of c. Bound: reading and writing c; a
// strided one costs a sector of 32 bytes a value.
#include "cuda/device/output_type.cuh"
#include "cuda/launch/fp8_gemm_place.h"
#include "cuda/launch/launch.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace NRD_CUDA_TARGET {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) fp8_gemm_place(const PlaceArgs args) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= args.m * args.n) return;
  const int64_t row = at / args.n, column = at - row * args.n;
  float value = 0.0f;
  if (args.from != nullptr)
    value = load_as(args.from, args.dtype, at);
  else if (args.bias != nullptr)
    value = load_as(args.bias, args.bias_dtype, column * args.bias_step);
  store_as(args.c, args.dtype, row * args.row_stride + column * args.column_stride, value);
}

cudaError_t place(const PlaceArgs& args, Stream stream) {
  const int64_t values = args.m * args.n;
  if (values == 0) return cudaSuccess;
  const LaunchShape shape{.grid = {static_cast<unsigned>((values + kThreads - 1) / kThreads), 1, 1},
                          .block = {kThreads, 1, 1},
                          .stream = stream};
  return launch(fp8_gemm_place, shape, args);
}

}  // namespace
}  // namespace NRD_CUDA_TARGET

NRD_CUDA_TABLE(PlaceKernels, place_kernels) = {
    .place = NRD_CUDA_TARGET::place,
};

}  // namespace nrd::cuda
