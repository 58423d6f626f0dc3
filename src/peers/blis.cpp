// SPDX-License-Identifier: MIT
// src/peers/blis.cpp: BLIS (Debian's libblis4, 0.9).
#include <array>

#include "peers/cblas.h"
#include "peers/peers.h"

namespace nrd {
namespace {

using SetThreads = void(int64_t);  // dim_t is 64 bits wide, whatever the BLAS integers are
SetThreads* g_set_threads = nullptr;

class BlisBackend final : public PeerBackend {
 public:
  BlisBackend() : PeerBackend("blis") {}

  // ARCH_TYPE 0 is skx: on an Intel CPU that it does not know 0.9 takes haswell. On AMD it takes
  // zen3 or an older zen by itself. Its threads live for one call, so none is left spinning.
  std::vector<EnvSetting> environment(const DeviceProfile& profile) const override {
    const bool amd = profile.microarchitecture.starts_with("zen");
    if (profile.isa.has(Feature::kAvx512) && !amd) return {{"BLIS_ARCH_TYPE", "0"}};
    return {};
  }

 protected:
  Expected<void> open() override {
    constexpr std::array<std::string_view, 2> kNames = {"libblis.so.4", "libblis.so.5"};
    Expected<Library> found = Library::open(kNames);
    if (!found) return found.error();
    NRD_TRY(cblas_.resolve(*found));

    std::string missing;
    char* (*version)() = nullptr;
    int (*arch_id)() = nullptr;
    char* (*arch_name)(int) = nullptr;
    found->require("bli_thread_set_num_threads", g_set_threads, missing);
    found->require("bli_info_get_version_str", version, missing);
    found->require("bli_arch_query_id", arch_id, missing);
    found->require("bli_arch_string", arch_name, missing);
    NRD_TRY(found->complete(missing));

    cblas_.threads.set_function([](int threads) { g_set_threads(threads); });
    cblas_.note = std::string(arch_name(arch_id())) + " kernels";
    version_ = version();
    add_cblas_products(cblas_, kernels_);
    add_cblas_vectors(cblas_, kernels_);
    return {};
  }

 private:
  CblasLibrary cblas_;
};

}  // namespace

std::unique_ptr<Backend> make_blis_backend() { return std::make_unique<BlisBackend>(); }

}  // namespace nrd
