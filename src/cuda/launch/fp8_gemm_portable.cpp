// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_portable.cpp: which of the portable kernels, and how many parts of k.
#include "cuda/launch/fp8_gemm_portable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/align.h"

namespace nrd::cuda {
namespace {

constexpr int64_t kBlock = 128;  // of k: what a part is made of

// As many parts as give `wanted` blocks of the grid work, each with at least `least` blocks of k;
// no part is empty.
int parts_of_k(int64_t k, int64_t units, int64_t wanted, int64_t least) {
  const int64_t blocks = ceil_div(k, kBlock);
  const int64_t most = std::max<int64_t>(1, std::min<int64_t>(blocks / least, 32));
  const int64_t parts = std::clamp<int64_t>(wanted / std::max<int64_t>(1, units), 1, most);
  const int64_t each = std::max<int64_t>(1, ceil_div(blocks, parts));
  return static_cast<int>(std::max<int64_t>(1, ceil_div(blocks, each)));
}

}  // namespace

PortableGemmPlan portable_gemm_plan(const Fp8GemmArgs& args) {
  using Kernel = PortableGemmPlan::Kernel;
  if (args.whole_k) return {Kernel::kTile128, 1};
  const int64_t sms = std::max(1, args.multiprocessors);
  // Two blocks of the streaming kernel live on a multiprocessor, and its eight warps want two
  // blocks of k each.
  if (args.m <= 16) return {Kernel::kStream, parts_of_k(args.k, ceil_div(args.n, 32), 2 * sms, 16)};
  const int64_t across = ceil_div(args.n, 128);
  const int64_t large = ceil_div(args.m, 128) * across;
  if (large >= sms) return {Kernel::kTile128, 1};
  const int64_t small = ceil_div(args.m, 64) * across;
  return {Kernel::kTile64, parts_of_k(args.k, small, sms, 4)};
}

size_t portable_gemm_workspace_bytes(const Fp8GemmArgs& args) {
  const PortableGemmPlan plan = portable_gemm_plan(args);
  if (plan.parts == 1) return 0;
  return static_cast<size_t>(plan.parts * args.m * args.n) * sizeof(float);
}

cudaError_t launch_portable_gemm(const PortableGemmKernels& kernels, const Fp8GemmArgs& args,
                                 void* workspace, Stream stream) {
  return kernels.launch(args, portable_gemm_plan(args), static_cast<float*>(workspace), stream);
}

std::string portable_gemm_numerics(const Fp8GemmArgs& args) {
  const PortableGemmPlan plan = portable_gemm_plan(args);
  const bool stream = plan.kernel == PortableGemmPlan::Kernel::kStream;
  std::string text =
      args.fast && !stream && args.scales != Fp8Scales::kBlock ? "fast" : "promoted every 128";
  if (stream) text += ", 8 sums interleaved in k";
  if (plan.parts > 1) text += fmt::format(", k in {} parts", plan.parts);
  return text;
}

std::string portable_gemm_note(const Fp8GemmArgs& args) {
  const PortableGemmPlan plan = portable_gemm_plan(args);
  std::string text;
  switch (plan.kernel) {
    case PortableGemmPlan::Kernel::kStream: text = "mma.sync, 16x32 streams of b"; break;
    case PortableGemmPlan::Kernel::kTile64: text = "mma.sync, 64x128 tiles, 4 stages"; break;
    case PortableGemmPlan::Kernel::kTile128: text = "mma.sync, 128x128 tiles, 3 stages"; break;
  }
  if (plan.parts > 1) text += fmt::format(", k in {} parts", plan.parts);
  return text;
}

}  // namespace nrd::cuda
