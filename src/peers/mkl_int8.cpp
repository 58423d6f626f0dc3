// SPDX-License-Identifier: MIT
// src/peers/mkl_int8.cpp: MKL's product of 8-bit integers.
//
// MKL multiplies an unsigned by a signed matrix; row major, a is the unsigned one. For i8*i8 the
// sign bit of each a is flipped into the workspace (that is a + 128 as u8, timed with it) and MKL
// is told to add -128 to a. Without VNNI its sums of two products saturate at 16 bits.
#include <array>

#include "peers/mkl.h"

namespace nrd {
namespace {

constexpr int kA = 0, kB = 1, kC = 2;

// a as MKL wants it: as it lies when it is u8, else a copy without gaps and the same layout.
struct UnsignedA {
  bool flips = false;
  int runs = 0, length = 0;  // rows and columns, or the reverse where a is transposed
  int ld = 1;

  UnsignedA(const Desc& desc, const CblasProduct& p)
      : flips(desc.operands[kA].dtype == DType::kI8),
        runs(p.trans_a == kCblasNoTrans ? p.m : p.k),
        length(p.trans_a == kCblasNoTrans ? p.k : p.m),
        ld(p.lda) {}
  int leading() const { return flips ? std::max(1, length) : ld; }
  int8_t offset() const { return flips ? -128 : 0; }
  size_t workspace_bytes() const {
    return flips ? static_cast<size_t>(runs) * static_cast<size_t>(length) : 0;
  }
  const void* values(const void* a, void* workspace, const Exec& exec) const {
    if (!flips) return a;
    const auto* from = static_cast<const uint8_t*>(a);
    auto* to = static_cast<uint8_t*>(workspace);
    constexpr int64_t kBytesWorthAThread = 65536;
    const int64_t grain = std::max<int64_t>(1, kBytesWorthAThread / std::max(1, length));
    parallel_for(exec, runs, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < length; j++) to[i * length + j] = from[i * ld + j] ^ 0x80u;
    });
    return workspace;
  }
};

class Int8Gemm final : public PeerKernel {
 public:
  Int8Gemm(const MklLibrary& mkl, bool packed)
      : PeerKernel(packed ? "gemm_prepacked" : "gemm",
                   packed ? "cblas_gemm_s8u8s32_compute" : "cblas_gemm_s8u8s32"),
        mkl_(mkl),
        packed_(packed) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    const DType a = desc.operands[kA].dtype == DType::kI8 ? DType::kI8 : DType::kU8;
    NRD_TRY(accept_dtypes(desc, std::array{a, DType::kI8, DType::kI32}));
    if (packed_ && !desc.operands[kB].constant)
      return refuse(desc, "b", "an operand that may change", "a constant one");
    Expected<CblasProduct> p = cblas_product(desc);
    if (!p) return p.error();
    if (p->layout != kCblasRowMajor)
      return refuse(desc, "c", "a column major matrix", "a row major one",
                    "column major MKL wants a signed and b unsigned");
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<CblasProduct> product = cblas_product(desc);
    if (!product) return product.error();
    const CblasProduct p = *product;
    Expected<std::shared_ptr<void>> packed = pack(desc, p, constants[kB]);
    if (!packed) return packed.error();
    const UnsignedA a(desc, p);
    const std::string note = joined(packed_ ? "packed" : "", a.flips ? "a is made u8" : "");
    MklInt8Gemm* function = packed_ ? mkl_.int8.compute : mkl_.int8.plain;
    return prepared_call(
        note,
        [&mkl = mkl_, p, a, function, b = *packed](const Args& args, void* workspace,
                                                   const Exec& exec) {
          const void* values = a.values(args.pointers[kA], workspace, exec);
          const int32_t no_offset = 0;
          mkl.cblas.threads.set(exec.threads);
          function(p.layout, p.trans_a, b ? kCblasPacked : p.trans_b, kCblasFixOffset, p.m, p.n,
                   p.k, 1, values, a.leading(), a.offset(), b ? b.get() : args.pointers[kB], p.ldb,
                   0, 0, static_cast<int32_t*>(args.pointers[kC]), p.ldc, &no_offset);
        },
        a.workspace_bytes());
  }

 private:
  // Null when this kernel does not pack.
  Expected<std::shared_ptr<void>> pack(const Desc& desc, const CblasProduct& p,
                                       const void* b) const {
    if (!packed_) return std::shared_ptr<void>();
    mkl_.cblas.threads.set(mkl_.pack_threads);
    AlignedMemory memory = aligned_memory(mkl_.int8.size(kCblasBMatrix, p.m, p.n, p.k));
    if (!memory)
      return make_error({.code = ErrorCode::kEnvironment,
                         .op = desc.op->name,
                         .argument = "packed weights",
                         .got = "no memory",
                         .allowed = {},
                         .hint = {}});
    mkl_.int8.pack(p.layout, kCblasBMatrix, p.trans_b, p.m, p.n, p.k, b, p.ldb, memory.get());
    return std::shared_ptr<void>(std::move(memory));
  }

  const MklLibrary& mkl_;
  bool packed_;
};

}  // namespace

void add_mkl_int8_products(const MklLibrary& mkl, PeerKernels& kernels) {
  kernels.push_back(std::make_unique<Int8Gemm>(mkl, false));
  kernels.push_back(std::make_unique<Int8Gemm>(mkl, true));
}

}  // namespace nrd
