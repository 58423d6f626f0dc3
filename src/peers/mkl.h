// SPDX-License-Identifier: MIT
// src/peers/mkl.h: the part of MKL that other BLAS libraries do not have.
#pragma once

#include <cstdint>

#include "peers/cblas.h"

namespace nrd {

// Further enumerators of mkl_cblas.h.
inline constexpr int kCblasPacked = 151;
inline constexpr int kCblasBMatrix = 162;
inline constexpr int kCblasFixOffset = 173;

using MklPackSize = size_t(int identifier, int m, int n, int k);

struct MklPackedF32 {
  MklPackSize* size = nullptr;
  void (*pack)(int layout, int identifier, int trans, int m, int n, int k, float alpha,
               const float* src, int ld, float* dest) = nullptr;
  void (*compute)(int layout, int trans_a, int trans_b, int m, int n, int k, const float* a,
                  int lda, const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
};

// cblas_gemm_bf16bf16f32 and cblas_gemm_f16f16f32.
struct MklHalf {
  CblasHalfGemm* plain = nullptr;
  MklPackSize* size = nullptr;
  void (*pack)(int layout, int identifier, int trans, int m, int n, int k, const uint16_t* src,
               int ld, uint16_t* dest) = nullptr;
  CblasHalfGemm* compute = nullptr;
};

// cblas_gemm_s8u8s32. Row major: a is unsigned and b signed.
using MklInt8Gemm = void(int layout, int trans_a, int trans_b, int offset_c, int m, int n, int k,
                         float alpha, const void* a, int lda, int8_t a_offset, const void* b,
                         int ldb, int8_t b_offset, float beta, int32_t* c, int ldc,
                         const int32_t* c_offset);
struct MklInt8 {
  MklInt8Gemm* plain = nullptr;
  MklPackSize* size = nullptr;
  void (*pack)(int layout, int identifier, int trans, int m, int n, int k, const void* src, int ld,
               void* dest) = nullptr;
  MklInt8Gemm* compute = nullptr;
};

struct MklLibrary {
  CblasLibrary cblas;
  MklPackedF32 f32;
  MklHalf bf16, f16;
  MklInt8 int8;
  int pack_threads = 1;  // MKL advises to pack with as many threads as will compute

  Expected<void> resolve(const Library& library);
};

// gemm_prepacked of f32, bf16 and f16; gemm of bf16 and f16.
void add_mkl_float_products(const MklLibrary& mkl, PeerKernels& kernels);
// gemm and gemm_prepacked of u8*i8 and i8*i8.
void add_mkl_int8_products(const MklLibrary& mkl, PeerKernels& kernels);
// vec_add, vec_sub, vec_mul, exp and tanh of the vector mathematics part.
void add_mkl_vectors(const MklLibrary& mkl, const Library& library, PeerKernels& kernels);

}  // namespace nrd
