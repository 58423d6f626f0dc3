// SPDX-License-Identifier: MIT
// src/peers/device_streams.cpp: the backends `copy` and `read`: roofs of a case.
//
// `copy` reads half of the bytes that a case moves and writes the other half; `read` reads them
// all. Both run on memory of their own, as many pieces as the case has sets of operands, in the
// same slices as those whose roof they are.
#include "peers/device_streams.h"

#include "base/device.h"
#include "cuda/launch/error.h"
#include "cuda/launch/memory.h"
#include "cuda/launch/tables.h"
#include "cuda/launch/traffic.h"
#include "peers/peers.h"

namespace nrd {

namespace {

const cuda::TrafficKernels& kernels(const cuda::DeviceInfo& device) {
  return *(device.major == 9 ? cuda::tables_sm90() : cuda::tables_sm80()).traffic;
}

}  // namespace

Expected<void> enqueue_read(const void* memory, size_t bytes, const cuda::DeviceInfo& device,
                            cuda::Stream stream) {
  return cuda::check("read", kernels(device).read(memory, bytes, nullptr, {}, stream));
}

Expected<void> enqueue_copy(void* to, const void* from, size_t bytes,
                            const cuda::DeviceInfo& device, cuda::Stream stream) {
  // One vector a thread, no hints: the fastest of the copies that bench_gpu_rows races (an H200,
  // 256 MiB: 64.4 us; four vectors 67.3. 1 GiB: 252 us; with hints 254 or 259, as it happens).
  const cuda::TrafficConfig fastest{.vectors = 1, .hint = cuda::TrafficHint::kOften};
  return cuda::check("copy", kernels(device).copy(from, to, bytes, fastest, stream));
}

namespace {

// Whole vectors of 16 bytes, and the second half of a copy starts at one.
constexpr size_t kGranule = 512;

class PreparedStream final : public PreparedKernel {
 public:
  PreparedStream(cuda::DeviceMemory memory, cuda::DeviceInfo device, bool copies)
      : memory_(std::move(memory)), device_(std::move(device)), copies_(copies) {}

  Expected<void> run(const Args&, void*, const Exec& exec) const override {
    auto* stream = static_cast<cuda::Stream>(exec.stream);
    char* data = static_cast<char*>(memory_.data());
    if (!copies_) return enqueue_read(data, memory_.bytes(), device_, stream);
    const size_t half = memory_.bytes() / 2;
    return enqueue_copy(data + half, data, half, device_, stream);
  }
  std::string note() const override {
    return copies_ ? "half of the bytes read, half written" : "all of the bytes read";
  }

 private:
  cuda::DeviceMemory memory_;
  cuda::DeviceInfo device_;
  bool copies_;
};

class StreamKernel final : public Kernel {
 public:
  StreamKernel(bool copies, const std::vector<cuda::DeviceInfo>& devices)
      : copies_(copies), devices_(devices) {}
  std::string name() const override { return copies_ ? "stream_copy" : "stream_read"; }

  Expected<void> accepts(const Desc& desc) const override {
    if (desc.device.index < static_cast<int>(devices_.size())) return {};
    return cuda::no_such_device(desc.device.index, static_cast<int>(devices_.size()));
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    const auto bytes = static_cast<size_t>(cost(desc).bytes());
    const size_t whole = (bytes + 2 * kGranule - 1) / (2 * kGranule) * (2 * kGranule);
    Expected<cuda::DeviceMemory> memory = cuda::DeviceMemory::allocate(whole, desc.device.index);
    if (!memory) return memory.error();
    NRD_TRY(cuda::fill_bytes(memory->data(), 0x3C, whole));
    NRD_TRY(cuda::wait_for(nullptr));
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedStream>(
        std::move(*memory), devices_[static_cast<size_t>(desc.device.index)], copies_));
  }

 private:
  bool copies_;
  const std::vector<cuda::DeviceInfo>& devices_;  // of the backend
};

class StreamBackend final : public Backend {
 public:
  explicit StreamBackend(bool copies) : kernel_(copies, devices_), copies_(copies) {}
  std::string name() const override { return copies_ ? "copy" : "read"; }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  bool computes() const override { return false; }

  Expected<void> load() override {
    if (!devices_.empty()) return {};
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    if (devices->empty())
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = "device cuda",
                         .got = "a machine without a CUDA device"});
    devices_ = std::move(*devices);
    return {};
  }
  std::vector<const Kernel*> kernels(const Op&) const override { return {&kernel_}; }

 private:
  std::vector<cuda::DeviceInfo> devices_;
  StreamKernel kernel_;
  bool copies_;
};

}  // namespace

std::unique_ptr<Backend> make_copy_backend() { return std::make_unique<StreamBackend>(true); }
std::unique_ptr<Backend> make_read_backend() { return std::make_unique<StreamBackend>(false); }

}  // namespace nrd
