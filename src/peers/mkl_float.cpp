// SPDX-License-Identifier: MIT
// src/peers/mkl_float.cpp: MKL's packed products and its products of 16-bit floats.
#include <array>

#include "peers/mkl.h"

namespace nrd {
namespace {

constexpr int kA = 0, kB = 1, kC = 2;

// Packed weights: where they lie and that they live as long as the kernel.
using Packed = std::shared_ptr<void>;

Expected<Packed> packed_memory(const Desc& desc, size_t bytes) {
  AlignedMemory memory = aligned_memory(bytes);
  if (memory) return Packed(std::move(memory));
  return make_error({.code = ErrorCode::kEnvironment,
                     .op = desc.op->name,
                     .argument = "packed weights",
                     .got = "no memory for " + std::to_string(bytes) + " bytes",
                     .allowed = {},
                     .hint = {}});
}

Expected<void> accept_constant_b(const Desc& desc) {
  if (desc.operands[kB].constant) return {};
  return refuse(desc, "b", "an operand that may change", "a constant one");
}

class PackedSgemm final : public PeerKernel {
 public:
  explicit PackedSgemm(const MklLibrary& mkl)
      : PeerKernel("gemm_prepacked", "cblas_sgemm_compute"), mkl_(mkl) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    NRD_TRY(accept_dtypes(desc, std::array{DType::kF32, DType::kF32, DType::kF32}));
    NRD_TRY(accept_constant_b(desc));
    NRD_TRY(cblas_product(desc));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<CblasProduct> product = cblas_product(desc);
    if (!product) return product.error();
    const CblasProduct p = *product;
    mkl_.cblas.threads.set(mkl_.pack_threads);
    Expected<Packed> b = packed_memory(desc, mkl_.f32.size(kCblasBMatrix, p.m, p.n, p.k));
    if (!b) return b.error();
    mkl_.f32.pack(p.layout, kCblasBMatrix, p.trans_b, p.m, p.n, p.k, 1,
                  static_cast<const float*>(constants[kB]), p.ldb, static_cast<float*>(b->get()));
    return prepared_call("packed",
                         [&mkl = mkl_, p, b = *b](const Args& args, void*, const Exec& exec) {
                           mkl.cblas.threads.set(exec.threads);
                           mkl.f32.compute(p.layout, p.trans_a, kCblasPacked, p.m, p.n, p.k,
                                           static_cast<const float*>(args.pointers[kA]), p.lda,
                                           static_cast<const float*>(b.get()), p.ldb, 0,
                                           static_cast<float*>(args.pointers[kC]), p.ldc);
                         });
  }

 private:
  const MklLibrary& mkl_;
};

class PackedHalf final : public PeerKernel {
 public:
  PackedHalf(const MklLibrary& mkl, const MklHalf& functions, const char* name, DType dtype)
      : PeerKernel("gemm_prepacked", name), mkl_(mkl), functions_(functions), dtype_(dtype) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    const bool rounds = desc.operands[kC].dtype == dtype_;
    NRD_TRY(accept_dtypes(desc, std::array{dtype_, dtype_, rounds ? dtype_ : DType::kF32}));
    NRD_TRY(accept_constant_b(desc));
    NRD_TRY(cblas_product(desc));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<CblasProduct> product = cblas_product(desc);
    if (!product) return product.error();
    const CblasProduct p = *product;
    mkl_.cblas.threads.set(mkl_.pack_threads);
    Expected<Packed> b = packed_memory(desc, functions_.size(kCblasBMatrix, p.m, p.n, p.k));
    if (!b) return b.error();
    functions_.pack(p.layout, kCblasBMatrix, p.trans_b, p.m, p.n, p.k,
                    static_cast<const uint16_t*>(constants[kB]), p.ldb,
                    static_cast<uint16_t*>(b->get()));
    const HalfOutput output(desc, p);
    return prepared_call(
        output.note("packed"),
        [&mkl = mkl_, &f = functions_, p, b = *b, output](const Args& args, void* workspace,
                                                          const Exec& exec) {
          mkl.cblas.threads.set(exec.threads);
          f.compute(p.layout, p.trans_a, kCblasPacked, p.m, p.n, p.k, 1,
                    static_cast<const uint16_t*>(args.pointers[kA]), p.lda,
                    static_cast<const uint16_t*>(b.get()), p.ldb, 0,
                    output.target(args.pointers[kC], workspace), output.ld());
          output.finish(args.pointers[kC], workspace, exec);
        },
        output.workspace_bytes());
  }

 private:
  const MklLibrary& mkl_;
  const MklHalf& functions_;
  DType dtype_;
};

}  // namespace

void add_mkl_float_products(const MklLibrary& mkl, PeerKernels& kernels) {
  kernels.push_back(std::make_unique<PackedSgemm>(mkl));
  auto add = [&](const MklHalf& f, const char* plain, const char* packed, DType dtype) {
    add_cblas_half_gemm(mkl.cblas, plain, f.plain, dtype, kernels);
    kernels.push_back(std::make_unique<PackedHalf>(mkl, f, packed, dtype));
  };
  add(mkl.bf16, "cblas_gemm_bf16bf16f32", "cblas_gemm_bf16bf16f32_compute", DType::kBF16);
  if (mkl.f16.plain != nullptr)
    add(mkl.f16, "cblas_gemm_f16f16f32", "cblas_gemm_f16f16f32_compute", DType::kF16);
}

}  // namespace nrd
