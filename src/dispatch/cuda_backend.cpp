// SPDX-License-Identifier: MIT
// src/dispatch/cuda_backend.cpp: families of CUDA kernels (cuda/operation.h) as kernels of `cuda`.
//
// A family is one kernel for each target that some device here runs: sm_90a on a Hopper, sm_80 on
// the others. Which of the two serves a case follows from the device it names.
#include "dispatch/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lazy.h"
#include "cuda/targets.h"
#include "dispatch/cuda_parts.h"
#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

struct CudaDevice {
  cuda::DeviceInfo info;
  Expected<std::string_view> target;  // the word of its kernels, or why it has none
};

class PreparedOperation final : public PreparedKernel {
 public:
  PreparedOperation(std::unique_ptr<cuda::Operation> operation, DeviceRuntime& runtime, int device)
      : operation_(std::move(operation)), runtime_(runtime), device_(device) {}
  // What it holds on its device is given back there.
  ~PreparedOperation() override {
    const CurrentDevice current(runtime_, device_);
    operation_.reset();
  }

  size_t workspace_bytes() const override { return operation_->workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    const CurrentDevice current(runtime_, device_);
    if (!current.entered()) return current.entered().error();
    return operation_->launch(args.pointers, workspace, static_cast<cuda::Stream>(exec.stream));
  }
  std::string note() const override { return operation_->note(); }

 private:
  std::unique_ptr<cuda::Operation> operation_;
  DeviceRuntime& runtime_;
  int device_;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(const cuda::Implementation& family, std::string_view target,
             const cuda::KernelTables& tables, const std::vector<CudaDevice>& devices,
             DeviceRuntime& runtime)
      : family_(family), target_(target), tables_(tables), devices_(devices), runtime_(runtime) {}

  std::string name() const override { return std::string(family_.name); }
  std::string isa() const override { return std::string(target_); }
  bool serves(const Op& op) const override { return family_.serves(op); }

  Expected<void> accepts(const Desc& desc) const override {
    Expected<cuda::Target> target = target_for(desc);
    if (!target) return target.error();
    return family_.accepts(desc, *target);
  }

  std::string numerics(const Desc& desc) const override {
    const Expected<cuda::Target> target = target_for(desc);
    if (!target || !family_.numerics) return Kernel::numerics(desc);
    return family_.numerics(desc, *target);
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<cuda::Target> target = target_for(desc);
    if (!target) return target.error();
    const int device = target->device.index;
    const CurrentDevice current(runtime_, device);
    if (!current.entered()) return current.entered().error();
    Expected<std::unique_ptr<cuda::Operation>> made = family_.prepare(desc, *target, constants);
    if (!made) return made.error();
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedOperation>(std::move(*made), runtime_, device));
  }

 private:
  // The device of a case, if it runs these kernels.
  Expected<cuda::Target> target_for(const Desc& desc) const {
    const int index = desc.device.index;
    if (index < 0 || static_cast<size_t>(index) >= devices_.size())
      return with_op(cuda::no_such_device(index, static_cast<int>(devices_.size())), desc);
    const CudaDevice& device = devices_[static_cast<size_t>(index)];
    if (!device.target) return with_op(device.target.error(), desc);
    if (*device.target == target_) return cuda::Target{device.info, &tables_};
    return make_error(
        {.code = ErrorCode::kUnsupported,
         .op = desc.op->name,
         .argument = fmt::format("kernels for {}", target_),
         .got = fmt::format("cuda:{}, which runs those for {}", index, *device.target)});
  }
  static Error with_op(Error error, const Desc& desc) {
    error.op = desc.op->name;
    return error;
  }

  const cuda::Implementation& family_;
  std::string_view target_;
  const cuda::KernelTables& tables_;
  const std::vector<CudaDevice>& devices_;  // of the backend
  DeviceRuntime& runtime_;
};

// The devices there are and their kernels, or why there are none.
struct Loaded {
  explicit Loaded(const CudaParts& parts) : result(open(parts)) {}
  Loaded(const Loaded&) = delete;  // kernels refer to the devices
  Loaded& operator=(const Loaded&) = delete;

  std::vector<CudaDevice> devices;
  std::vector<std::unique_ptr<CudaKernel>> kernels;
  Expected<void> result;

 private:
  Expected<void> open(const CudaParts& parts) {
    Expected<DeviceRuntime*> runtime = device_runtime();
    if (!runtime) return runtime.error();
    Expected<std::string> asked = cuda::target_from_environment();
    if (!asked) return asked.error();
    Expected<std::vector<cuda::DeviceInfo>> found = parts.devices();
    if (!found) return found.error();
    if (found->empty())
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = "device cuda",
                         .got = "a machine without a CUDA device"});
    for (cuda::DeviceInfo& info : *found) {
      Expected<std::string_view> target = cuda::target_of(info, *asked);
      devices.push_back({std::move(info), std::move(target)});
    }
    const bool none = std::none_of(devices.begin(), devices.end(),
                                   [](const CudaDevice& d) { return static_cast<bool>(d.target); });
    if (none) return devices.front().target.error();
    add_kernels(parts, cuda::kSm90a, parts.sm90(), **runtime);
    add_kernels(parts, cuda::kSm80, parts.sm80(), **runtime);
    return {};
  }

  void add_kernels(const CudaParts& parts, std::string_view target,
                   const cuda::KernelTables& tables, DeviceRuntime& runtime) {
    const bool used = std::any_of(devices.begin(), devices.end(), [&](const CudaDevice& device) {
      return device.target && *device.target == target;
    });
    if (!used) return;
    for (const cuda::Implementation* family : parts.implementations())
      kernels.push_back(std::make_unique<CudaKernel>(*family, target, tables, devices, runtime));
  }
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaParts& parts) : parts_(parts) {}

  std::string name() const override { return "cuda"; }
  bool peer() const override { return false; }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  std::string version() const override { return cuda::version_text(); }

  Expected<void> load() override {
    return loaded_.get([this] { return Loaded(parts_); }).result;
  }

  std::vector<const Kernel*> kernels(const Op& op) const override {
    std::vector<const Kernel*> list;
    if (const Loaded* loaded = loaded_.peek())
      for (const std::unique_ptr<CudaKernel>& kernel : loaded->kernels)
        if (kernel->serves(op)) list.push_back(kernel.get());
    return list;
  }

 private:
  CudaParts parts_;
  LazyMember<const Loaded> loaded_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const CudaParts& parts) {
  return std::make_unique<CudaBackend>(parts);
}

std::unique_ptr<Backend> make_cuda_backend() { return make_cuda_backend(CudaParts{}); }

}  // namespace nrd
