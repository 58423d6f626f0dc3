// SPDX-License-Identifier: MIT
// src/workbench/cuda_queue.cpp: DeviceQueue over CUDA.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/device.h"
#include "cuda/launch/memory.h"
#include "cuda/launch/streams.h"
#include "cuda/launch/timing.h"
#include "peers/device_streams.h"
#include "workbench/device_queue.h"

namespace nrd {
namespace {

// What is read between two calls: beyond the L2 whatever it keeps by its replacement.
constexpr size_t kFlushOverL2 = 4;

class CudaRecording final : public DeviceRecording {
 public:
  CudaRecording(cuda::RecordedCalls calls, cuda::Stream stream)
      : calls_(std::move(calls)), stream_(stream) {}
  Expected<void> replay() const override { return calls_.launch(stream_); }

 private:
  cuda::RecordedCalls calls_;
  cuda::Stream stream_;
};

class CudaQueue final : public DeviceQueue {
 public:
  static Expected<std::unique_ptr<DeviceQueue>> open(int device) {
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    // The worker has one device at a time; it stays the current one.
    Expected<int> entered = cuda::make_current(device);
    if (!entered) return entered.error();
    auto queue = std::make_unique<CudaQueue>();
    queue->info_ = (*devices)[static_cast<size_t>(device)];
    Expected<cuda::OwnStream> stream = cuda::OwnStream::create(device);
    if (!stream) return stream.error();
    queue->stream_ = std::move(*stream);
    const size_t l2 = static_cast<size_t>(std::max(queue->info_.l2_bytes, 1 << 20));
    Expected<cuda::DeviceMemory> flushed = cuda::DeviceMemory::allocate(kFlushOverL2 * l2, device);
    if (!flushed) return flushed.error();
    queue->flushed_ = std::move(*flushed);
    queue->open_clocks();
    return std::unique_ptr<DeviceQueue>(std::move(queue));
  }

  void* stream() const override { return stream_.get(); }

  Expected<void> mark(size_t number) override {
    while (events_.size() <= number) {
      Expected<cuda::Event> event = cuda::Event::create();
      if (!event) return event.error();
      events_.push_back(std::move(*event));
    }
    return events_[number].record(stream_.get());
  }
  Expected<void> wait(size_t number) override { return events_[number].wait(); }
  Expected<double> microseconds(size_t from, size_t to) override {
    return cuda::microseconds_between(events_[from], events_[to]);
  }

  Expected<std::unique_ptr<DeviceRecording>> record(
      const std::function<Expected<void>(void* stream)>& enqueue) override {
    Expected<cuda::RecordedCalls> calls = cuda::RecordedCalls::record(enqueue);
    if (!calls) return calls.error();
    return std::unique_ptr<DeviceRecording>(
        std::make_unique<CudaRecording>(std::move(*calls), stream_.get()));
  }

  Expected<void> flush() override {
    return enqueue_read(flushed_.data(), flushed_.bytes(), info_, stream_.get());
  }

  void start_readings() override {
    if (log_) log_->start();
  }
  GpuReadings stop_readings() override { return log_ ? log_->stop() : GpuReadings{}; }

  GpuRoofs describe() const override {
    GpuRoofs roofs;
    roofs.facts = {.name = info_.name,
                   .major = info_.major,
                   .minor = info_.minor,
                   .multiprocessors = info_.multiprocessors,
                   .max_sm_mhz = max_sm_mhz(),
                   .memory_gbps = info_.memory_gbps,
                   .l2_bytes = static_cast<double>(info_.l2_bytes)};
    roofs.power_limit_watts = limits_.power_limit_watts;
    roofs.driver = limits_.driver.value_or("");
    roofs.runtime = runtime_version();
    roofs.clocks = no_clocks_;
    return roofs;
  }

 private:
  void open_clocks() {
    char bus[32] = {};
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, info_.index) != cudaSuccess) return;
    Expected<std::unique_ptr<Nvml>> opened = Nvml::open(bus);
    if (!opened) {
      no_clocks_ = opened.error().message();
      return;
    }
    nvml_ = std::move(*opened);
    limits_ = nvml_->limits();
    log_ = std::make_unique<ClockLog>(*nvml_);
  }

  double max_sm_mhz() const {
    if (limits_.max_sm_mhz) return *limits_.max_sm_mhz;
    int khz = 0;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, info_.index);
    return khz * 1e-3;
  }

  static std::string runtime_version() {
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != cudaSuccess) return "";
    return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  }

  cuda::DeviceInfo info_;
  cuda::OwnStream stream_;
  std::vector<cuda::Event> events_;
  cuda::DeviceMemory flushed_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<ClockLog> log_;
  GpuLimits limits_;
  std::string no_clocks_;
};

}  // namespace

Expected<std::unique_ptr<DeviceQueue>> open_built_in_queue(const Device& device) {
  return CudaQueue::open(device.index);
}

}  // namespace nrd
