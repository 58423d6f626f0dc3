// SPDX-License-Identifier: MIT
// src/peers/cublaslt_api.h: the part of cuBLASLt 12 and 13 that is used, declared here
// so that a build needs none of its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/operation.h"
#include "peers/library.h"

namespace nrd::cublaslt {

using Handle = void*;
using Status = int;  // 0 is success

constexpr int kCompute32F = 68;  // f32 sums; of f32 inputs without tf32
constexpr int kReal32F = 0, kReal16F = 2, kReal16BF = 14, kRealE4M3 = 28, kRealE5M2 = 29;
constexpr int kOpN = 0, kOpT = 1;
constexpr int kEpilogueBias = 4;
constexpr int kScaleOuterVector = 3;  // CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, since 12.9
constexpr size_t kOuterVectorVersion = 120900;

enum DescAttribute : int {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kAScalePointer = 17,
  kBScalePointer = 18,
  kFastAccumulation = 25,
  kAScaleMode = 31,
  kBScaleMode = 32,
};
enum PreferenceAttribute : int { kMaxWorkspaceBytes = 1 };

// cublasLtMatmulDescOpaque_t and cublasLtMatrixLayoutOpaque_t: space that the caller brings.
struct MatmulDesc {
  uint64_t data[32];
};
struct MatrixLayout {
  uint64_t data[8];
};
struct Preference {
  uint64_t data[8];
};
struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

struct Api {
  Status (*create)(Handle*) = nullptr;
  size_t (*version)() = nullptr;
  const char* (*status_text)(Status) = nullptr;
  Status (*desc_init)(MatmulDesc*, size_t, int compute, int scale) = nullptr;
  Status (*desc_set)(MatmulDesc*, int attribute, const void*, size_t) = nullptr;
  Status (*layout_init)(MatrixLayout*, size_t, int type, uint64_t rows, uint64_t cols,
                        int64_t ld) = nullptr;
  Status (*preference_init)(Preference*, size_t) = nullptr;
  Status (*preference_set)(Preference*, int attribute, const void*, size_t) = nullptr;
  Status (*heuristic)(Handle, const MatmulDesc*, const MatrixLayout* a, const MatrixLayout* b,
                      const MatrixLayout* c, const MatrixLayout* d, const Preference*,
                      int requested, HeuristicResult*, int* returned) = nullptr;
  Status (*matmul)(Handle, const MatmulDesc*, const void* alpha, const void* a, const MatrixLayout*,
                   const void* b, const MatrixLayout*, const void* beta, const void* c,
                   const MatrixLayout*, void* d, const MatrixLayout*, const Algorithm*,
                   void* workspace, size_t, cuda::Stream) = nullptr;

  Expected<void> resolve(const Library& library);
};

}  // namespace nrd::cublaslt
