// SPDX-License-Identifier: MIT
// src/dispatch/without_cuda.cpp: the backend `cuda` of a build that has none: it says so.
#include "dispatch/cuda_backend.h"
#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

class AbsentCuda final : public Backend {
 public:
  std::string name() const override { return "cuda"; }
  bool peer() const override { return false; }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  Expected<void> load() override {
    Expected<DeviceRuntime*> runtime = device_runtime();
    if (!runtime) return runtime.error();
    return {};
  }
  std::vector<const Kernel*> kernels(const Op&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<AbsentCuda>(); }

DeviceRuntime* built_in_runtime() { return nullptr; }

}  // namespace nrd
