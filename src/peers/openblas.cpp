// SPDX-License-Identifier: MIT
// src/peers/openblas.cpp: OpenBLAS (Debian's libopenblas0, any 0.3).
#include <array>

#include "peers/cblas.h"
#include "peers/peers.h"

namespace nrd {
namespace {

class OpenblasBackend final : public PeerBackend {
 public:
  OpenblasBackend() : PeerBackend("openblas") {}

  // CORETYPE: 0.3.21 knows no CPU younger than itself and takes Prescott (SSE3) for it, so an
  // Intel CPU with AVX-512 is named by hand. Zen 4 it takes for a Cooperlake; the AVX2 kernels are
  // 4 % faster there from size 128 up, because a 512-bit multiply-add takes two cycles.
  // THREAD_TIMEOUT: idle threads spin for 2^20 cycles, a third of a millisecond, not for the
  // default 2^26, which would reach into the next backend's slice.
  std::vector<EnvSetting> environment(const DeviceProfile& profile) const override {
    std::vector<EnvSetting> settings = {{"OPENBLAS_THREAD_TIMEOUT", "20"}};
    if (profile.microarchitecture == "zen4")
      settings.push_back({"OPENBLAS_CORETYPE", "Haswell"});
    else if (profile.isa.has(Feature::kAvx512))
      settings.push_back({"OPENBLAS_CORETYPE", "SkylakeX"});
    return settings;
  }

 protected:
  Expected<void> open() override {
    constexpr std::array<std::string_view, 1> kNames = {"libopenblas.so.0"};
    Expected<Library> found = Library::open(kNames);
    if (!found) return found.error();
    NRD_TRY(cblas_.resolve(*found));

    std::string missing;
    void (*set_threads)(int) = nullptr;
    char* (*config)() = nullptr;  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... Haswell ..."
    char* (*core_name)() = nullptr;
    found->require("openblas_set_num_threads", set_threads, missing);
    found->require("openblas_get_config", config, missing);
    found->require("openblas_get_corename", core_name, missing);
    NRD_TRY(found->complete(missing));

    cblas_.threads.set_function(set_threads);
    cblas_.note = std::string(core_name()) + " kernels";
    // Its axpby is plain C: half the speed of copy and scale where the vectors fit a cache.
    cblas_.scales_with_axpby = false;
    const std::string text = config();
    version_ = text.substr(text.find(' ') + 1);
    version_ = version_.substr(0, version_.find(' '));
    add_cblas_products(cblas_, kernels_);
    add_cblas_vectors(cblas_, kernels_);
    if (auto* sbgemm = found->find<CblasHalfGemm>("cblas_sbgemm"))
      add_cblas_half_gemm(cblas_, "cblas_sbgemm", sbgemm, DType::kBF16, kernels_);
    return {};
  }

 private:
  CblasLibrary cblas_;
};

}  // namespace

std::unique_ptr<Backend> make_openblas_backend() { return std::make_unique<OpenblasBackend>(); }

}  // namespace nrd
