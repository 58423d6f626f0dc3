// SPDX-License-Identifier: MIT
// src/peers/cublaslt.cpp: cuBLASLt, the product library of NVIDIA's toolkit.
#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>

#include "cuda/launch/streams.h"
#include "peers/cublaslt_matmul.h"
#include "peers/peers.h"

namespace nrd {
namespace {

using namespace cublaslt;

// NVIDIA asks for 32 MiB on Hopper; more changes nothing but leaves every candidate in.
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

// A context on the device is made with the first handle, so not before something is prepared.
class Handles {
 public:
  Expected<Handle> of(int device, const Api& api) const {
    const std::lock_guard lock(mutex_);
    Handle& handle = handles_[device];
    if (handle != nullptr) return handle;
    if (const Status status = api.create(&handle); status != 0)
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = "cublasLtCreate",
                         .got = fmt::format("{} ({})", api.status_text(status), status)});
    return handle;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<int, Handle> handles_;  // never destroyed: it would need its context
};

class PreparedMatmul final : public PreparedKernel {
 public:
  PreparedMatmul(Matmul matmul, const Api& api, Handle handle, const HeuristicResult& chosen)
      : matmul_(std::move(matmul)), api_(api), handle_(handle), chosen_(chosen) {}

  size_t workspace_bytes() const override { return chosen_.workspace_bytes; }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    const Status status =
        matmul_.run(handle_, args.pointers, chosen_.algorithm, workspace, chosen_.workspace_bytes,
                    static_cast<cuda::Stream>(exec.stream));
    if (status == 0) return {};
    return make_error({.code = ErrorCode::kEnvironment,
                       .argument = "cublasLtMatmul",
                       .got = fmt::format("{} ({})", api_.status_text(status), status)});
  }
  std::string note() const override { return "the fastest of its first 8 algorithms"; }

 private:
  Matmul matmul_;
  const Api& api_;
  Handle handle_;
  HeuristicResult chosen_;
};

class MatmulKernel final : public PeerKernel {
 public:
  MatmulKernel(const char* op, const Api& api, const Handles& handles)
      : PeerKernel(op, "cublasLtMatmul"), api_(api), handles_(handles) {}

  Expected<void> accepts(const Desc& desc) const override {
    if (Expected<Matmul> matmul = Matmul::read(desc, api_); !matmul) return matmul.error();
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<Matmul> matmul = Matmul::read(desc, api_);
    if (!matmul) return matmul.error();
    Expected<int> former = cuda::make_current(desc.device.index);
    if (!former) return former.error();
    Expected<Handle> handle = handles_.of(desc.device.index, api_);
    if (!handle) return handle.error();
    Expected<HeuristicResult> chosen = choose(*matmul, desc, *handle);
    if (!chosen) return chosen.error();
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedMatmul>(std::move(*matmul), api_, *handle, *chosen));
  }

 private:
  // Found once for a case, whatever prepares it again.
  Expected<HeuristicResult> choose(const Matmul& matmul, const Desc& desc, Handle handle) const {
    const std::string key = fmt::format("{} {} {} {} {}", desc.device.index, desc.op->name,
                                        desc.shape_text(), desc.dtype_text(), desc.options_text());
    const std::lock_guard lock(mutex_);
    if (auto found = chosen_.find(key); found != chosen_.end()) return found->second;
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    const int l2 = (*devices)[static_cast<size_t>(desc.device.index)].l2_bytes;
    Expected<HeuristicResult> fastest =
        find_fastest(matmul, desc, handle, kWorkspaceBytes, static_cast<size_t>(l2));
    if (fastest) chosen_.emplace(key, *fastest);
    return fastest;
  }

  const Api& api_;
  const Handles& handles_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, HeuristicResult> chosen_;
};

class CublasltBackend final : public PeerBackend {
 public:
  CublasltBackend() : PeerBackend("cublaslt") {}
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }

 protected:
  Expected<void> open() override {
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    constexpr std::array<std::string_view, 2> kNames = {"libcublasLt.so.13", "libcublasLt.so.12"};
    Expected<Library> found = Library::open(kNames);
    if (!found) return found.error();
    NRD_TRY(api_.resolve(*found));
    // 120900 is 12.9.0.
    const size_t version = api_.version();
    version_ = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    for (const char* op : {"gemm", "gemm_bias", "gemm_prepacked", "fp8_gemm"})
      kernels_.push_back(std::make_unique<MatmulKernel>(op, api_, handles_));
    return {};
  }

 private:
  Api api_;
  Handles handles_;
};

}  // namespace

Expected<void> cublaslt::Api::resolve(const Library& library) {
  std::string missing;
  library.require("cublasLtCreate", create, missing);
  library.require("cublasLtGetVersion", version, missing);
  library.require("cublasLtGetStatusString", status_text, missing);
  library.require("cublasLtMatmulDescInit_internal", desc_init, missing);
  library.require("cublasLtMatmulDescSetAttribute", desc_set, missing);
  library.require("cublasLtMatrixLayoutInit_internal", layout_init, missing);
  library.require("cublasLtMatmulPreferenceInit_internal", preference_init, missing);
  library.require("cublasLtMatmulPreferenceSetAttribute", preference_set, missing);
  library.require("cublasLtMatmulAlgoGetHeuristic", heuristic, missing);
  library.require("cublasLtMatmul", matmul, missing);
  return library.complete(missing);
}

std::unique_ptr<Backend> make_cublaslt_backend() { return std::make_unique<CublasltBackend>(); }

}  // namespace nrd
