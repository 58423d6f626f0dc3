// SPDX-License-Identifier: MIT
// src/cuda/launch/streams.cpp
#include "cuda/launch/streams.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "cuda/launch/error.h"

namespace nrd::cuda {
namespace {

cudaMemcpyKind kind_of(const Device& to, const Device& from) {
  if (to.kind == DeviceKind::kCpu) return cudaMemcpyDeviceToHost;
  return from.kind == DeviceKind::kCpu ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

// The current device must be the stream's, which is that of the target unless that is the host.
class Scope {
 public:
  explicit Scope(int device) : device_(device), former_(make_current(device)) {}
  ~Scope() {
    if (former_ && *former_ != device_) cudaSetDevice(*former_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  const Expected<int>& entered() const { return former_; }

 private:
  int device_;
  Expected<int> former_;
};

}  // namespace

Expected<int> make_current(int device) {
  int former = 0;
  NRD_CUDA_TRY(cudaGetDevice(&former));
  if (former != device) NRD_CUDA_TRY(cudaSetDevice(device));
  return former;
}

Expected<uint64_t> stream_number(Stream stream) {
  unsigned long long number = 0;
  NRD_CUDA_TRY(cudaStreamGetId(stream, &number));
  return uint64_t{number};
}

Expected<void> copy_bytes(void* to, const Device& to_device, const void* from,
                          const Device& from_device, size_t bytes, Stream stream) {
  if (bytes == 0) return {};
  if (to_device.kind == DeviceKind::kCpu && from_device.kind == DeviceKind::kCpu) {
    std::memcpy(to, from, bytes);
    return {};
  }
  const Scope scope(to_device.kind == DeviceKind::kCuda ? to_device.index : from_device.index);
  if (!scope.entered()) return scope.entered().error();
  const bool between_devices = to_device.kind == from_device.kind && to_device != from_device;
  if (between_devices)
    return check("cudaMemcpyPeerAsync",
                 cudaMemcpyPeerAsync(to, to_device.index, from, from_device.index, bytes, stream));
  return check("cudaMemcpyAsync",
               cudaMemcpyAsync(to, from, bytes, kind_of(to_device, from_device), stream));
}

AllocatesWhileRecording::AllocatesWhileRecording() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  const cudaError_t code = cudaThreadExchangeStreamCaptureMode(&mode);
  mode_ = code == cudaSuccess ? static_cast<int>(mode) : -1;
}

AllocatesWhileRecording::~AllocatesWhileRecording() {
  if (mode_ < 0) return;
  auto mode = static_cast<cudaStreamCaptureMode>(mode_);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

}  // namespace nrd::cuda
