// SPDX-License-Identifier: MIT
// src/peers/cblas.cpp: products by way of BLAS.
#include "peers/cblas.h"

#include <algorithm>
#include <array>

#include "base/convert.h"

namespace nrd {
namespace {

constexpr int kA = 0, kB = 1, kC = 2;  // operands of gemm; gemv has x and y instead of b and c

const float* f32(const Args& args, int operand) {
  return static_cast<const float*>(args.pointers[operand]);
}

float* f32_out(const Args& args, int operand) {
  return static_cast<float*>(args.pointers[operand]);
}

int transposed(const MatrixLayout& operand, const MatrixLayout& c) {
  return operand.row_major == c.row_major ? kCblasNoTrans : kCblasTrans;
}

class Sgemm final : public PeerKernel {
 public:
  Sgemm(const CblasLibrary& library, std::string op, std::string note)
      : PeerKernel(std::move(op), "cblas_sgemm"), library_(library), note_(std::move(note)) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    NRD_TRY(accept_dtypes(desc, std::array{DType::kF32, DType::kF32, DType::kF32}));
    NRD_TRY(cblas_product(desc));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<CblasProduct> product = cblas_product(desc);
    if (!product) return product.error();
    return prepared_call(
        joined(library_.note, note_),
        [&library = library_, p = *product](const Args& args, void*, const Exec& exec) {
          library.threads.set(exec.threads);
          library.functions.sgemm(p.layout, p.trans_a, p.trans_b, p.m, p.n, p.k, 1, f32(args, kA),
                                  p.lda, f32(args, kB), p.ldb, 0, f32_out(args, kC), p.ldc);
        });
  }

 private:
  const CblasLibrary& library_;
  std::string note_;
};

class Sgemv final : public PeerKernel {
 public:
  explicit Sgemv(const CblasLibrary& library)
      : PeerKernel("gemv", "cblas_sgemv"), library_(library) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    NRD_TRY(accept_dtypes(desc, std::array{DType::kF32, DType::kF32, DType::kF32}));
    Expected<MatrixLayout> a = matrix_layout(desc, kA);
    if (!a) return a.error();
    if (a->cols == 0 && a->rows > 0)
      return refuse(desc, "n", "0", "at least 1", "BLAS leaves y as it is then");
    NRD_TRY(vector_stride(desc, kB));
    NRD_TRY(vector_stride(desc, kC));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    NRD_TRY(accepts(desc));
    const MatrixLayout a = *matrix_layout(desc, kA);
    const int layout = a.row_major ? kCblasRowMajor : kCblasColMajor;
    const int inc_x = *vector_stride(desc, kB), inc_y = *vector_stride(desc, kC);
    return prepared_call(library_.note, [&library = library_, a, layout, inc_x, inc_y](
                                            const Args& args, void*, const Exec& exec) {
      library.threads.set(exec.threads);
      library.functions.sgemv(layout, kCblasNoTrans, a.rows, a.cols, 1, f32(args, kA), a.ld,
                              f32(args, kB), inc_x, 0, f32_out(args, kC), inc_y);
    });
  }

 private:
  const CblasLibrary& library_;
};

class HalfGemm final : public PeerKernel {
 public:
  HalfGemm(const CblasLibrary& library, const char* name, CblasHalfGemm* function, DType dtype)
      : PeerKernel("gemm", name), library_(library), function_(function), dtype_(dtype) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    if (desc.operands[kC].dtype != dtype_)
      NRD_TRY(accept_dtypes(desc, std::array{dtype_, dtype_, DType::kF32}));
    else
      NRD_TRY(accept_dtypes(desc, std::array{dtype_, dtype_, dtype_}));
    NRD_TRY(cblas_product(desc));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<CblasProduct> product = cblas_product(desc);
    if (!product) return product.error();
    const HalfOutput output(desc, *product);
    return prepared_call(
        output.note(library_.note),
        [&library = library_, function = function_, p = *product, output](
            const Args& args, void* workspace, const Exec& exec) {
          library.threads.set(exec.threads);
          function(p.layout, p.trans_a, p.trans_b, p.m, p.n, p.k, 1,
                   static_cast<const uint16_t*>(args.pointers[kA]), p.lda,
                   static_cast<const uint16_t*>(args.pointers[kB]), p.ldb, 0,
                   output.target(args.pointers[kC], workspace), output.ld());
          output.finish(args.pointers[kC], workspace, exec);
        },
        output.workspace_bytes());
  }

 private:
  const CblasLibrary& library_;
  CblasHalfGemm* function_;
  DType dtype_;
};

}  // namespace

HalfOutput::HalfOutput(const Desc& desc, const CblasProduct& product)
    : dtype_(desc.operands[kC].dtype),
      ld_(product.ldc),
      runs_(product.layout == kCblasRowMajor ? product.m : product.n),
      length_(product.layout == kCblasRowMajor ? product.n : product.m) {}

std::string HalfOutput::note(const std::string& before) const {
  return rounds() ? joined(before, "its f32 result is rounded by us, timed with it") : before;
}

void HalfOutput::finish(void* c, const void* workspace, const Exec& exec) const {
  if (!rounds()) return;
  constexpr int64_t kElementsWorthAThread = 16384;
  const int64_t grain = std::max<int64_t>(1, kElementsWorthAThread / std::max(1, length_));
  const auto* from = static_cast<const float*>(workspace);
  parallel_for(exec, runs_, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      convert(from + i * length_, DType::kF32, static_cast<uint16_t*>(c) + i * ld_, dtype_,
              static_cast<size_t>(length_));
  });
}

Expected<void> CblasLibrary::resolve(const Library& library) {
  std::string missing;
  library.require("cblas_sgemm", functions.sgemm, missing);
  library.require("cblas_sgemv", functions.sgemv, missing);
  library.require("cblas_sdot", functions.sdot, missing);
  library.require("cblas_saxpy", functions.saxpy, missing);
  library.require("cblas_saxpby", functions.saxpby, missing);
  library.require("cblas_scopy", functions.scopy, missing);
  library.require("cblas_sscal", functions.sscal, missing);
  return library.complete(missing);
}

Expected<CblasProduct> cblas_product(const Desc& desc) {
  Expected<MatrixLayout> a = matrix_layout(desc, kA), b = matrix_layout(desc, kB),
                         c = matrix_layout(desc, kC);
  for (const auto* layout : {&a, &b, &c})
    if (!*layout) return layout->error();
  CblasProduct p;
  p.layout = c->row_major ? kCblasRowMajor : kCblasColMajor;
  p.m = c->rows;
  p.n = c->cols;
  p.k = a->cols;
  p.trans_a = transposed(*a, *c);
  p.trans_b = transposed(*b, *c);
  p.lda = a->ld;
  p.ldb = b->ld;
  p.ldc = c->ld;
  return p;
}

void add_cblas_products(const CblasLibrary& library, PeerKernels& kernels) {
  kernels.push_back(std::make_unique<Sgemm>(library, "gemm", ""));
  kernels.push_back(std::make_unique<Sgemm>(library, "gemm_prepacked", "not packed"));
  kernels.push_back(std::make_unique<Sgemv>(library));
}

void add_cblas_half_gemm(const CblasLibrary& library, const char* name, CblasHalfGemm* function,
                         DType dtype, PeerKernels& kernels) {
  kernels.push_back(std::make_unique<HalfGemm>(library, name, function, dtype));
}

}  // namespace nrd
