// SPDX-License-Identifier: MIT
// src/peers/onednn.cpp: oneDNN 3 (the PyPI wheel onednn-cpu-gomp).
#include "peers/onednn.h"

#include <fmt/format.h>

#include <array>

#include "machine/cpuid.h"
#include "peers/onednn_primitive.h"
#include "peers/peers.h"

namespace nrd {
namespace {

// Version 2 (Debian 12's libdnnl2) has another interface; it is opened only to say so.
constexpr std::array<std::string_view, 2> kNames = {"libdnnl.so.3", "libdnnl.so.2"};
constexpr int kMajor = 3;

bool has_amx(IsaSet isa) { return isa.has(Feature::kAmxTile); }

// A build that hands CPU work to SYCL or TBB has no thread count that we could set, and SYCL costs
// 8 us a call.
Expected<void> check_version(const DnnlVersion& v, const std::string& path) {
  if (v.major != kMajor)
    return unusable(
        path, fmt::format("oneDNN {}.{}; only version {} is supported", v.major, v.minor, kMajor));
  if (v.cpu_runtime != kDnnlRuntimeOmp && v.cpu_runtime != kDnnlRuntimeSeq)
    return unusable(path, "a oneDNN that runs on SYCL or TBB and not on OpenMP");
  return {};
}

class OnednnBackend final : public PeerBackend {
 public:
  OnednnBackend() : PeerBackend("onednn") {}

  // SPINCOUNT and BLOCKTIME (GNU's and LLVM's OpenMP): idle threads spin for up to 1 ms,
  // long enough to stay awake between calls, too short to reach into the next backend's slice.
  std::vector<EnvSetting> environment(const DeviceProfile& profile) const override {
    std::vector<EnvSetting> settings = {{"GOMP_SPINCOUNT", "20000"}, {"KMP_BLOCKTIME", "1"}};
    if (amx_is_hidden(has_amx(profile.isa)))
      settings.push_back({"ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16"});
    return settings;
  }

 protected:
  Expected<void> open() override {
    Expected<Library> found = Library::open(kNames);
    if (!found) return found.error();
    auto* version = found->find<const DnnlVersion*()>("dnnl_version");
    if (version == nullptr) return unusable(found->path(), "a library without dnnl_version");
    const DnnlVersion& v = *version();
    NRD_TRY(check_version(v, found->path()));
    NRD_TRY(dnn_.resolve(*found));
    dnn_.minor = v.minor;
    dnn_.version_text = version_ = fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
    if (v.cpu_runtime == kDnnlRuntimeSeq) dnn_.omp_set_num_threads = nullptr;
    if (amx_is_hidden(has_amx(detect_isa()))) {
      dnn_.set_max_cpu_isa(kDnnlIsaAvx512Fp16);  // where the environment did not say so
      dnn_.note = "capped at AVX-512: CPUID hides AMX";
    }
    NRD_TRY(dnn_.start());
    warm_up();
    add_onednn_products(dnn_, kernels_);
    add_onednn_rows(dnn_, kernels_);
    return {};
  }

 private:
  // A transposition on all cores, so that OpenMP's threads run before the first kernel is prepared.
  void warm_up() const {
    constexpr int64_t kSize = 256;
    OperandDesc rows, columns;
    rows.sizes = columns.sizes = {kSize, kSize};
    rows.strides = {kSize, 1};
    columns.strides = {1, kSize};
    std::vector<float> data(kSize * kSize);
    dnn_.set_threads(available_cores());
    std::shared_ptr<void> transposed;
    dnnl_reorder(dnn_, dnnl_layout(dnn_, rows, 2).get(), data.data(),
                 dnnl_layout(dnn_, columns, 2).get(), transposed);
  }

  OneDnn dnn_;
};

}  // namespace

bool amx_is_hidden(bool has_amx) {
#if defined(__x86_64__)
  return has_amx && (cpuid(0x1D).eax == 0 || cpuid(0x1E).ebx == 0);
#else
  return has_amx && false;
#endif
}

int dnnl_dtype(DType dtype) {
  switch (dtype) {
    case DType::kF16: return 1;
    case DType::kBF16: return 2;
    case DType::kF32: return 3;
    case DType::kI32: return 4;
    case DType::kI8: return 5;
    case DType::kU8: return 6;
    default: return 0;
  }
}

OneDnn::~OneDnn() {
  if (attributes != nullptr) primitive_attr_destroy(attributes);
  if (stream != nullptr) stream_destroy(stream);
  if (engine != nullptr) engine_destroy(engine);
}

Expected<void> OneDnn::resolve(const Library& library) {
  std::string missing;
#define NRD_DNNL_REQUIRE(name, result, parameters) library.require("dnnl_" #name, name, missing);
  NRD_DNNL_FUNCTIONS(NRD_DNNL_REQUIRE)
#undef NRD_DNNL_REQUIRE
  using NormV2 =
      std::remove_pointer_t<decltype(layer_normalization_forward_primitive_desc_create_v2)>;
  layer_normalization_forward_primitive_desc_create_v2 =
      library.find<NormV2>("dnnl_layer_normalization_forward_primitive_desc_create_v2");
  // Of the OpenMP library that it is linked with.
  omp_set_num_threads = library.find<void(int)>("omp_set_num_threads");
  return library.complete(missing);
}

Expected<void> OneDnn::start() {
  int status = engine_create(&engine, kDnnlCpu, 0);
  if (status == kDnnlSuccess) status = stream_create(&stream, engine, 1);  // default flags
  if (status == kDnnlSuccess) status = primitive_attr_create(&attributes);
  if (status == kDnnlSuccess)
    status = primitive_attr_set_scratchpad_mode(attributes, kDnnlScratchpadUser);
  if (status == kDnnlSuccess) return {};
  return unusable("oneDNN " + version_text, fmt::format("status {} of its CPU engine", status));
}

void OneDnn::set_threads(int threads) const {
  thread_local int current = 0;
  if (current == threads || omp_set_num_threads == nullptr) return;
  omp_set_num_threads(threads);
  current = threads;
}

std::unique_ptr<Backend> make_onednn_backend() { return std::make_unique<OnednnBackend>(); }

}  // namespace nrd
