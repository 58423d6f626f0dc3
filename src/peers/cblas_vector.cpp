// SPDX-License-Identifier: MIT
// src/peers/cblas_vector.cpp: vectors by way of BLAS-1.
//
// BLAS works in place: y += a*x, x *= a. An output of its own costs a copy, which is timed with
// it, except where axpby with a second factor of 0 does the same in one pass.
#include <array>

#include "peers/cblas.h"

namespace nrd {
namespace {

// The vectors of an operator, all of one size.
struct Vectors {
  int n = 0;
  std::array<int, 3> inc{};
};

Expected<Vectors> vectors(const Desc& desc, int count) {
  Expected<int> n = vector_size(desc, 0);
  if (!n) return n.error();
  Vectors v;
  v.n = *n;
  for (int i = 0; i < count; i++) {
    Expected<int> inc = vector_stride(desc, i);
    if (!inc) return inc.error();
    v.inc[static_cast<size_t>(i)] = *inc;
  }
  return v;
}

const float* in(const Args& args, int operand) {
  return static_cast<const float*>(args.pointers[operand]);
}

float* out(const Args& args, int operand) { return static_cast<float*>(args.pointers[operand]); }

// `strided` operands of the first ones have a stride; every operand is f32.
class VectorKernel : public PeerKernel {
 public:
  VectorKernel(const CblasLibrary& library, std::string op, std::string name, int strided)
      : PeerKernel(std::move(op), std::move(name)), library_(library), strided_(strided) {}

  Expected<void> accepts(const Desc& desc) const final {
    NRD_TRY(accept_plain(desc));
    const std::vector<DType> dtypes(desc.operands.size(), DType::kF32);
    NRD_TRY(accept_dtypes(desc, dtypes));
    NRD_TRY(vectors(desc, strided_));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const final {
    Expected<Vectors> v = vectors(desc, strided_);
    if (!v) return v.error();
    return make(desc, *v);
  }

 protected:
  virtual std::unique_ptr<PreparedKernel> make(const Desc& desc, const Vectors& v) const = 0;
  const CblasLibrary& library_;

 private:
  int strided_;
};

class Sdot final : public VectorKernel {
 public:
  explicit Sdot(const CblasLibrary& library) : VectorKernel(library, "vec_dot", "cblas_sdot", 2) {}
  std::unique_ptr<PreparedKernel> make(const Desc&, const Vectors& v) const override {
    return prepared_call(
        library_.note, [&library = library_, v](const Args& args, void*, const Exec& exec) {
          library.threads.set(exec.threads);
          *out(args, 2) = library.functions.sdot(v.n, in(args, 0), v.inc[0], in(args, 1), v.inc[1]);
        });
  }
};

class SumSquares final : public VectorKernel {
 public:
  explicit SumSquares(const CblasLibrary& library)
      : VectorKernel(library, "vec_sum_squares", "cblas_sdot", 1) {}
  std::unique_ptr<PreparedKernel> make(const Desc&, const Vectors& v) const override {
    return prepared_call(
        library_.note, [&library = library_, v](const Args& args, void*, const Exec& exec) {
          library.threads.set(exec.threads);
          *out(args, 1) = library.functions.sdot(v.n, in(args, 0), v.inc[0], in(args, 0), v.inc[0]);
        });
  }
};

class Scale final : public VectorKernel {
 public:
  explicit Scale(const CblasLibrary& library)
      : VectorKernel(library, "vec_scale",
                     library.scales_with_axpby ? "cblas_saxpby" : "cblas_scopy+cblas_sscal", 2) {}
  std::unique_ptr<PreparedKernel> make(const Desc& desc, const Vectors& v) const override {
    const auto scale = static_cast<float>(desc.number("scale"));
    return prepared_call(
        library_.note, [&library = library_, v, scale](const Args& args, void*, const Exec& exec) {
          library.threads.set(exec.threads);
          const CblasFunctions& f = library.functions;
          const bool in_place = args.pointers[0] == args.pointers[1];
          if (!in_place && library.scales_with_axpby)
            return f.saxpby(v.n, scale, in(args, 0), v.inc[0], 0, out(args, 1), v.inc[1]);
          if (!in_place) f.scopy(v.n, in(args, 0), v.inc[0], out(args, 1), v.inc[1]);
          f.sscal(v.n, scale, out(args, 1), v.inc[1]);
        });
  }
};

class Axpy final : public VectorKernel {
 public:
  explicit Axpy(const CblasLibrary& library)
      : VectorKernel(library, "vec_axpy", "cblas_scopy+cblas_saxpy", 3) {}
  std::unique_ptr<PreparedKernel> make(const Desc& desc, const Vectors& v) const override {
    const auto a = static_cast<float>(desc.number("a"));
    return prepared_call(joined(library_.note, "y is copied to out first"),
                         [&library = library_, v, a](const Args& args, void*, const Exec& exec) {
                           library.threads.set(exec.threads);
                           const CblasFunctions& f = library.functions;
                           const float *x = in(args, 0), *y = in(args, 1);
                           float* result = out(args, 2);
                           // out = x: the factor goes to what lies there already.
                           if (x == result)
                             return f.saxpby(v.n, 1, y, v.inc[1], a, result, v.inc[2]);
                           if (y != result) f.scopy(v.n, y, v.inc[1], result, v.inc[2]);
                           f.saxpy(v.n, a, x, v.inc[0], result, v.inc[2]);
                         });
  }
};

}  // namespace

void add_cblas_vectors(const CblasLibrary& library, PeerKernels& kernels) {
  kernels.push_back(std::make_unique<Sdot>(library));
  kernels.push_back(std::make_unique<SumSquares>(library));
  kernels.push_back(std::make_unique<Scale>(library));
  kernels.push_back(std::make_unique<Axpy>(library));
}

}  // namespace nrd
