// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_portable.h: the products of launch/fp8_gemm.h on devices without wgmma.
//
// The same arguments and the same questions. Rows of codes may start anywhere: where they are not
// aligned they are read byte by byte, with the same result. Kernel and parts of k are a function of
// the shape and of the number of multiprocessors; with `whole_k` the bits do not depend on m and n.
#pragma once

#include <driver_types.h>

#include <string>

#include "cuda/launch/fp8_gemm.h"

namespace nrd::cuda {

// How: which kernel, and into how many parts k is cut.
struct PortableGemmPlan {
  enum class Kernel : int {
    kStream,   // up to 16 rows: columns of b stream through the registers of all warps
    kTile64,   // 64x128 values of c a block
    kTile128,  // 128x128
  };
  Kernel kernel = Kernel::kTile128;
  int parts = 1;
};
PortableGemmPlan portable_gemm_plan(const Fp8GemmArgs& args);

struct PortableGemmKernels {
  // `sums`: parts x m x n floats where there are several parts.
  cudaError_t (*launch)(const Fp8GemmArgs& args, const PortableGemmPlan& plan, float* sums,
                        Stream stream);
};

size_t portable_gemm_workspace_bytes(const Fp8GemmArgs& args);
cudaError_t launch_portable_gemm(const PortableGemmKernels& kernels, const Fp8GemmArgs& args,
                                 void* workspace, Stream stream);
std::string portable_gemm_numerics(const Fp8GemmArgs& args);
std::string portable_gemm_note(const Fp8GemmArgs& args);

}  // namespace nrd::cuda
