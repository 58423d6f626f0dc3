// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_portable.cu: the kernels of 8-bit products for devices without wgmma,
// and the sum of parts of k.
#include "cuda/kernels/fp8_portable_stream.cuh"
#include "cuda/kernels/fp8_portable_tile.cuh"
#include "cuda/launch/fp8_gemm_portable.h"
#include "cuda/launch/launch.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace NRD_CUDA_TARGET {
namespace {

constexpr int kSumThreads = 256;

// A thread a value of c; parts are added in the order of k. Bound: reading the parts.
__global__ void __launch_bounds__(kSumThreads)
    fp8_gemm_portable_sum(const Fp8GemmArgs args, const float* sums, int parts) {
  const int64_t values = args.m * args.n;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kSumThreads + threadIdx.x;
  if (at >= values) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; part++) sum += sums[part * values + at];
  const int64_t row = at / args.n;
  store_result(args, static_cast<int>(row), static_cast<int>(at - row * args.n), sum);
}

unsigned blocks(int64_t size, int64_t each) {
  return static_cast<unsigned>((size + each - 1) / each);
}

template <int kTileM>
cudaError_t launch_tiles(const Fp8GemmArgs& args, int parts, float* sums, Stream stream) {
  const LaunchShape shape{
      .grid = {blocks(args.m, kTileM) * blocks(args.n, kTileN), static_cast<unsigned>(parts), 1},
      .block = {kTileThreads, 1, 1},
      .shared_bytes = TileShape<kTileM>::kSharedBytes,
      .stream = stream};
  // Sums of f16 products are those of f32 and need no promotion, but this code does not know which
  // of the two forms the device will run.
  const bool promoted = !args.fast || args.scales == Fp8Scales::kBlock;
  return promoted ? launch(fp8_gemm_portable_tile<kTileM, true>, shape, args, sums)
                  : launch(fp8_gemm_portable_tile<kTileM, false>, shape, args, sums);
}

cudaError_t launch_stream(const Fp8GemmArgs& args, int parts, float* sums, Stream stream) {
  const LaunchShape shape{.grid = {blocks(args.n, kStreamColumns), static_cast<unsigned>(parts), 1},
                          .block = {kStreamThreads, 1, 1},
                          .shared_bytes = kStreamSharedBytes,
                          .stream = stream};
  return launch(fp8_gemm_portable_stream, shape, args, sums);
}

cudaError_t launch_product(const Fp8GemmArgs& args, const PortableGemmPlan& plan, float* sums,
                           Stream stream) {
  float* parts = plan.parts > 1 ? sums : nullptr;
  switch (plan.kernel) {
    case PortableGemmPlan::Kernel::kStream: return launch_stream(args, plan.parts, parts, stream);
    case PortableGemmPlan::Kernel::kTile64:
      return launch_tiles<64>(args, plan.parts, parts, stream);
    case PortableGemmPlan::Kernel::kTile128:
      return launch_tiles<128>(args, plan.parts, parts, stream);
  }
  return cudaErrorInvalidValue;
}

cudaError_t launch_all(const Fp8GemmArgs& args, const PortableGemmPlan& plan, float* sums,
                       Stream stream) {
  if (args.m == 0 || args.n == 0) return cudaSuccess;
  const cudaError_t code = launch_product(args, plan, sums, stream);
  if (code != cudaSuccess || plan.parts == 1) return code;
  const LaunchShape shape{.grid = {blocks(args.m * args.n, kSumThreads), 1, 1},
                          .block = {kSumThreads, 1, 1},
                          .stream = stream};
  return launch(fp8_gemm_portable_sum, shape, args, static_cast<const float*>(sums), plan.parts);
}

}  // namespace
}  // namespace NRD_CUDA_TARGET

NRD_CUDA_TABLE(PortableGemmKernels, portable_gemm_kernels) = {
    .launch = NRD_CUDA_TARGET::launch_all,
};

}  // namespace nrd::cuda
