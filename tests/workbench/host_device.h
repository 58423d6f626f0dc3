// SPDX-License-Identifier: MIT
// tests/workbench/host_device.h: a device made of host memory and host clocks, and backends on it.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "dispatch/device_runtime.h"
#include "dispatch/registry.h"
#include "workbench/device_queue.h"

namespace nrd {

class HostDevice final : public DeviceRuntime {
 public:
  Expected<int> device_count() override { return 1; }
  Expected<DeviceSummary> describe(int) override { return DeviceSummary{.name = "host"}; }
  Expected<void*> allocate(int, size_t bytes) override {
    live_++;
    return std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  }
  void release(int, void* memory) noexcept override {
    live_ -= memory != nullptr;
    std::free(memory);
  }
  Expected<void> check_memory(int, const void*) override { return {}; }
  Expected<void> copy(void* to, const Device&, const void* from, const Device&, size_t bytes,
                      void*) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Expected<void> wait_for(int, void*) override { return {}; }
  Expected<uint64_t> stream_number(int, void*) override { return 1; }
  Expected<int> make_current(int) override { return 0; }
  int live() const { return live_; }  // pieces that were not given back

 private:
  int live_ = 0;
};

// Calls run when they are enqueued; a recording keeps its function.
class HostQueue final : public DeviceQueue {
 public:
  static inline bool can_record = true;
  static inline int flushes = 0;
  static Expected<std::unique_ptr<DeviceQueue>> make(const Device&) {
    return std::unique_ptr<DeviceQueue>(std::make_unique<HostQueue>());
  }

  void* stream() const override { return nullptr; }
  Expected<void> mark(size_t number) override {
    if (marks_.size() <= number) marks_.resize(number + 1);
    marks_[number] = std::chrono::steady_clock::now();
    return {};
  }
  Expected<void> wait(size_t) override { return {}; }
  Expected<double> microseconds(size_t from, size_t to) override {
    return std::chrono::duration<double, std::micro>(marks_[to] - marks_[from]).count();
  }
  Expected<std::unique_ptr<DeviceRecording>> record(
      const std::function<Expected<void>(void* stream)>& enqueue) override {
    if (!can_record)
      return make_error({.code = ErrorCode::kUnsupported, .got = "a call that waits"});
    NRD_TRY(enqueue(nullptr));
    return std::unique_ptr<DeviceRecording>(std::make_unique<Recording>(enqueue));
  }
  Expected<void> flush() override {
    flushes++;
    return {};
  }
  void start_readings() override {}
  GpuReadings stop_readings() override {
    GpuReadings readings;
    readings.add({.sm_mhz = 1500, .watts = 600, .throttled = false});
    return readings;
  }
  GpuRoofs describe() const override {
    GpuRoofs roofs;
    roofs.facts = {.name = "NVIDIA H200",
                   .major = 9,
                   .minor = 0,
                   .multiprocessors = 132,
                   .max_sm_mhz = 1980,
                   .memory_gbps = 4800,
                   .l2_bytes = 1 << 16};
    return roofs;
  }

 private:
  class Recording final : public DeviceRecording {
   public:
    explicit Recording(std::function<Expected<void>(void*)> enqueue)
        : enqueue_(std::move(enqueue)) {}
    Expected<void> replay() const override { return enqueue_(nullptr); }

   private:
    std::function<Expected<void>(void*)> enqueue_;
  };
  std::vector<std::chrono::steady_clock::time_point> marks_;
};

// A backend on that device whose one kernel is a function.
class FunctionBackend final : public Backend {
 public:
  using Run = std::function<Expected<void>(const Desc&, void* const* pointers)>;
  FunctionBackend(std::string name, Run run, bool computes = true)
      : name_(std::move(name)), computes_(computes), kernel_(std::move(run)) {}
  std::string name() const override { return name_; }
  Expected<void> load() override { return {}; }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  bool computes() const override { return computes_; }
  std::vector<const Kernel*> kernels(const Op&) const override { return {&kernel_}; }

 private:
  class Prepared final : public PreparedKernel {
   public:
    Prepared(const Run& run, Desc desc) : run_(run), desc_(std::move(desc)) {}
    Expected<void> run(const Args& args, void*, const Exec&) const override {
      return run_(desc_, args.pointers);
    }

   private:
    const Run& run_;
    Desc desc_;
  };
  class FunctionKernel final : public Kernel {
   public:
    explicit FunctionKernel(Run run) : run_(std::move(run)) {}
    std::string name() const override { return "function"; }
    std::string isa() const override { return "sm_90a"; }
    Expected<void> accepts(const Desc& desc) const override {
      if (desc.op->name == "relu") return {};
      return make_error({.code = ErrorCode::kUnsupported, .op = desc.op->name, .allowed = "relu"});
    }
    Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                      std::span<void* const>) const override {
      return std::unique_ptr<PreparedKernel>(std::make_unique<Prepared>(run_, desc));
    }

   private:
    Run run_;
  };
  std::string name_;
  bool computes_;
  FunctionKernel kernel_;
};

}  // namespace nrd
