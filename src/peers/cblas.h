// SPDX-License-Identifier: MIT
// src/peers/cblas.h: the C interface of BLAS, shared by OpenBLAS, BLIS and MKL.
#pragma once

#include <cstdint>
#include <string>

#include "peers/library.h"
#include "peers/peer_kernel.h"

namespace nrd {

// The enumerators of cblas.h.
inline constexpr int kCblasRowMajor = 101;
inline constexpr int kCblasColMajor = 102;
inline constexpr int kCblasNoTrans = 111;
inline constexpr int kCblasTrans = 112;

// What the three libraries have in common; sizes are 32-bit ints (LP64).
struct CblasFunctions {
  void (*sgemm)(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
                const float* a, int lda, const float* b, int ldb, float beta, float* c,
                int ldc) = nullptr;
  void (*sgemv)(int layout, int trans, int m, int n, float alpha, const float* a, int lda,
                const float* x, int inc_x, float beta, float* y, int inc_y) = nullptr;
  float (*sdot)(int n, const float* x, int inc_x, const float* y, int inc_y) = nullptr;
  void (*saxpy)(int n, float alpha, const float* x, int inc_x, float* y, int inc_y) = nullptr;
  void (*saxpby)(int n, float alpha, const float* x, int inc_x, float beta, float* y,
                 int inc_y) = nullptr;
  void (*scopy)(int n, const float* x, int inc_x, float* y, int inc_y) = nullptr;
  void (*sscal)(int n, float alpha, float* x, int inc_x) = nullptr;
};

// A product of 16-bit floats into f32: cblas_sbgemm, cblas_gemm_bf16bf16f32.
using CblasHalfGemm = void(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
                           const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta,
                           float* c, int ldc);

// A loaded library; lives as long as its kernels.
struct CblasLibrary {
  CblasFunctions functions;
  ThreadCount threads;
  std::string note;               // of every kernel: "SkylakeX kernels"
  bool scales_with_axpby = true;  // out = scale*x + 0*out in one pass is its best

  Expected<void> resolve(const Library& library);
};

// f32: gemm, gemm_prepacked (by the same function: BLAS packs nothing), gemv.
void add_cblas_products(const CblasLibrary& library, PeerKernels& kernels);
// f32: vec_dot, vec_sum_squares, vec_scale, vec_axpy.
void add_cblas_vectors(const CblasLibrary& library, PeerKernels& kernels);
// gemm of 16-bit floats. An output of the same dtype as the inputs is rounded from an f32 one in
// the workspace.
void add_cblas_half_gemm(const CblasLibrary& library, const char* name, CblasHalfGemm* function,
                         DType dtype, PeerKernels& kernels);

// A product in BLAS terms. The layout is that of c; a and b are transposed where theirs differs.
struct CblasProduct {
  int layout = kCblasRowMajor;
  int m = 0, n = 0, k = 0;
  int trans_a = kCblasNoTrans, trans_b = kCblasNoTrans;
  int lda = 1, ldb = 1, ldc = 1;
};
// Of the operands a, b and c of gemm and gemm_prepacked.
Expected<CblasProduct> cblas_product(const Desc& desc);

// Where a product that only gives f32 goes when c has 16 bits: through the workspace.
class HalfOutput {
 public:
  HalfOutput(const Desc& desc, const CblasProduct& product);
  bool rounds() const { return dtype_ != DType::kF32; }
  std::string note(const std::string& before) const;
  size_t workspace_bytes() const {
    return rounds() ? sizeof(float) * static_cast<size_t>(runs_) * static_cast<size_t>(length_) : 0;
  }
  // What the product is told to write to, and its leading dimension.
  float* target(void* c, void* workspace) const {
    return static_cast<float*>(rounds() ? workspace : c);
  }
  int ld() const { return rounds() ? (length_ > 0 ? length_ : 1) : ld_; }
  void finish(void* c, const void* workspace, const Exec& exec) const;

 private:
  DType dtype_;
  int ld_;
  int runs_, length_;  // rows and columns, or the reverse where c is column major
};

}  // namespace nrd
