// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm.h: the products of e4m3 codes on Hopper's tensor cores.
//
//   c[m,n] = (a * a_scale)[m,k] (b * b_scale)[n,k]^T + bias[n]
//
// launch_fp8_gemm reads Fp8GemmArgs, takes the configuration that config/fp8_gemm.h chooses or the
// one that is given, makes the tensor maps and starts one kernel.
#pragma once

#include <driver_types.h>

#include <string>

#include "base/dtype.h"
#include "cuda/config/fp8_gemm.h"
#include "cuda/launch/tensor_map.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// What shares a scale: kVector has one a row of a and one a column of c (one for all: stride 0),
// kBlock one for each 128 of k of a row of a, and one for each 128 columns of c and 128 of k of b.
enum class Fp8Scales : int32_t { kVector, kBlock };

struct Fp8GemmArgs {
  int64_t m = 0, n = 0, k = 0;  // m and n may be 0; k is at least 1
  // Codes with k contiguous: 16-byte aligned, rows a multiple of 16 bytes apart. The bytes between
  // k and the next row are not read, so padding needs no zeros.
  const void* a = nullptr;
  int64_t a_row = 0;
  const void* b = nullptr;
  int64_t b_row = 0;
  // b was there before anything that may still run on the device: its first tiles are fetched
  // before the kernel in front on the stream has ended.
  bool b_constant = false;
  // f32, f16 or bf16; columns contiguous, rows c_row elements apart. Where the address or the rows
  // are no multiple of 16 bytes threads store instead of TMA: slower, the same bits.
  void* c = nullptr;
  int64_t c_row = 0;
  DType c_dtype = DType::kBF16;
  // Strides in floats. kVector: a_scale[row * a_scale_row], b_scale[column * b_scale_column].
  // kBlock: a_scale[row * a_scale_row + kb * a_scale_k],
  // b_scale[column / 128 * b_scale_column + kb * b_scale_k].
  Fp8Scales scales = Fp8Scales::kVector;
  const float* a_scale = nullptr;
  int64_t a_scale_row = 0, a_scale_k = 0;
  const float* b_scale = nullptr;
  int64_t b_scale_column = 0, b_scale_k = 0;
  // kVector: one scale for all of a and one for all of b, whatever m and n are. Their product,
  // where it is a normal number, is one factor for all sums; other scales are two.
  bool one_scale = false;
  const void* bias = nullptr;  // may be absent
  DType bias_dtype = DType::kF32;
  int64_t bias_step = 1;  // elements from column to column
  bool fast = false;      // sums stay in the tensor cores' own accumulators
  // No sum is cut into parts of k, and all are promoted: the bits do not depend on m and n.
  bool whole_k = false;
  int multiprocessors = 132;
  const Fp8GemmConfig* config = nullptr;  // instead of the chosen one
};

struct Fp8GemmLaunch;

// Of one target.
struct Fp8GemmKernels {
  Expected<TensorMap> (*encode)(const MatrixMapSpec& spec);
  cudaError_t (*launch)(const Fp8GemmLaunch& launch, Stream stream);
  // Memory in the order of a stream (launch/memory.h).
  Expected<void*> (*allocate)(size_t bytes, Stream stream);
  void (*release)(void* pointer, Stream stream);
};

Fp8GemmConfig fp8_gemm_config(const Fp8GemmArgs& args);
// 0 where no sum is cut. The workspace is 256-byte aligned and needs no content.
size_t fp8_gemm_workspace_bytes(const Fp8GemmArgs& args);
Expected<void> launch_fp8_gemm(const Fp8GemmKernels& kernels, const Fp8GemmArgs& args,
                               void* workspace, Stream stream);
// What the bits depend on: "fast", "promoted every 128, the last 44 tiles cut every 10 blocks of
// k".
std::string fp8_gemm_numerics(const Fp8GemmArgs& args);
// "wgmma, 128x256 tiles, 4 stages, cluster 2 shares rows"
std::string fp8_gemm_note(const Fp8GemmArgs& args);

}  // namespace nrd::cuda
