// SPDX-License-Identifier: MIT
// src/peers/mkl.cpp: Intel MKL (the PyPI wheel, 2021 and later).
#include "peers/mkl.h"

#include <array>

#include "peers/peers.h"

namespace nrd {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"libmkl_rt.so.3", "libmkl_rt.so.2"};
constexpr std::array<std::string_view, 1> kNeeds = {"libiomp5.so"};

using Unary = void(int n, const float* x, float* out);
using Binary = void(int n, const float* x, const float* y, float* out);

// A function of MKL's vector mathematics, at its default (high) accuracy.
template <class Function>
class VectorMath final : public PeerKernel {
 public:
  static constexpr int kInputs = std::is_same_v<Function, Unary> ? 1 : 2;

  VectorMath(const MklLibrary& mkl, std::string op, std::string name, Function* function)
      : PeerKernel(std::move(op), std::move(name)), mkl_(mkl), function_(function) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    const std::vector<DType> dtypes(desc.operands.size(), DType::kF32);
    NRD_TRY(accept_dtypes(desc, dtypes));
    NRD_TRY(vector_size(desc, 0));
    for (int i = 0; i <= kInputs; i++) NRD_TRY(accept_contiguous(desc, i));
    return {};
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<int> n = vector_size(desc, 0);
    if (!n) return n.error();
    return prepared_call(
        {}, [&mkl = mkl_, function = function_, n = *n](const Args& args, void*, const Exec& exec) {
          mkl.cblas.threads.set(exec.threads);
          auto at = [&args](int i) { return static_cast<float*>(args.pointers[i]); };
          if constexpr (kInputs == 1)
            function(n, at(0), at(1));
          else
            function(n, at(0), at(1), at(2));
        });
  }

 private:
  const MklLibrary& mkl_;
  Function* function_;
};

Expected<void> resolve_packed(const Library& library, MklLibrary& mkl) {
  std::string missing;
  library.require("cblas_sgemm_pack_get_size", mkl.f32.size, missing);
  library.require("cblas_sgemm_pack", mkl.f32.pack, missing);
  library.require("cblas_sgemm_compute", mkl.f32.compute, missing);
  library.require("cblas_gemm_s8u8s32", mkl.int8.plain, missing);
  library.require("cblas_gemm_s8u8s32_pack_get_size", mkl.int8.size, missing);
  library.require("cblas_gemm_s8u8s32_pack", mkl.int8.pack, missing);
  library.require("cblas_gemm_s8u8s32_compute", mkl.int8.compute, missing);
  return library.complete(missing);
}

void resolve_half(const Library& library, const std::string& name, MklHalf& half,
                  std::string& missing) {
  library.require(name.c_str(), half.plain, missing);
  library.require((name + "_pack_get_size").c_str(), half.size, missing);
  library.require((name + "_pack").c_str(), half.pack, missing);
  library.require((name + "_compute").c_str(), half.compute, missing);
}

class MklBackend final : public PeerBackend {
 public:
  MklBackend() : PeerBackend("mkl") {}

  // DYNAMIC: the thread count is the one that was asked for. BLOCKTIME: idle threads spin for 1 ms
  // and not for the default 200, which would reach into the next backend's slice; within a slice
  // they stay awake between calls. MKL chooses its instructions by itself, AMX included.
  std::vector<EnvSetting> environment(const DeviceProfile&) const override {
    return {{"MKL_DYNAMIC", "FALSE"}, {"MKL_THREADING_LAYER", "INTEL"}, {"KMP_BLOCKTIME", "1"}};
  }

 protected:
  Expected<void> open() override {
    Expected<Library> found = Library::open(kNames, kNeeds);
    if (!found) return found.error();
    NRD_TRY(mkl_.resolve(*found));
    std::string missing;
    void (*set_threads)(int) = nullptr;
    void (*version)(char*, int) = nullptr;
    found->require("MKL_Set_Num_Threads", set_threads, missing);
    found->require("MKL_Get_Version_String", version, missing);
    NRD_TRY(found->complete(missing));

    char text[256] = {};
    version(text, sizeof text - 1);
    version_ = short_version(text);
    mkl_.cblas.threads.set_function(set_threads);
    mkl_.pack_threads = available_cores();
    warm_up();
    add_mkl_float_products(mkl_, kernels_);  // packed before plain
    add_cblas_products(mkl_.cblas, kernels_);
    add_mkl_int8_products(mkl_, kernels_);
    add_cblas_vectors(mkl_.cblas, kernels_);
    add_mkl_vectors(mkl_, *found, kernels_);
    return {};
  }

 private:
  // "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260601 for ...".
  static std::string short_version(const std::string& text) {
    const size_t word = text.find("Version ");
    if (word == std::string::npos) return text;
    const size_t begin = word + 8;
    return text.substr(begin, text.find_first_of(" -", begin) - begin);
  }

  // The first call opens MKL's further libraries and starts its threads: 30 ms that are no part
  // of preparing a kernel.
  void warm_up() const {
    constexpr int kSize = 256;
    const std::vector<float> zeros(kSize * kSize);
    std::vector<float> c(kSize * kSize);
    mkl_.cblas.threads.set(mkl_.pack_threads);
    mkl_.cblas.functions.sgemm(kCblasRowMajor, kCblasNoTrans, kCblasNoTrans, kSize, kSize, kSize, 1,
                               zeros.data(), kSize, zeros.data(), kSize, 0, c.data(), kSize);
  }

  MklLibrary mkl_;
};

}  // namespace

Expected<void> MklLibrary::resolve(const Library& library) {
  NRD_TRY(cblas.resolve(library));
  NRD_TRY(resolve_packed(library, *this));
  std::string missing;
  resolve_half(library, "cblas_gemm_bf16bf16f32", bf16, missing);
  NRD_TRY(library.complete(missing));
  std::string missing_f16;  // since 2022
  resolve_half(library, "cblas_gemm_f16f16f32", f16, missing_f16);
  if (!missing_f16.empty()) f16 = {};
  return {};
}

void add_mkl_vectors(const MklLibrary& mkl, const Library& library, PeerKernels& kernels) {
  struct Entry {
    const char* op;
    const char* function;
  };
  for (const Entry& e : {Entry{"exp", "vsExp"}, Entry{"tanh", "vsTanh"}})
    if (auto* f = library.find<Unary>(e.function))
      kernels.push_back(std::make_unique<VectorMath<Unary>>(mkl, e.op, e.function, f));
  for (const Entry& e :
       {Entry{"vec_add", "vsAdd"}, Entry{"vec_sub", "vsSub"}, Entry{"vec_mul", "vsMul"}})
    if (auto* f = library.find<Binary>(e.function))
      kernels.push_back(std::make_unique<VectorMath<Binary>>(mkl, e.op, e.function, f));
}

std::unique_ptr<Backend> make_mkl_backend() { return std::make_unique<MklBackend>(); }

}  // namespace nrd
