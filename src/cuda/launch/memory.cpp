// SPDX-License-Identifier: MIT
// src/cuda/launch/memory.cpp
#include "cuda/launch/memory.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "cuda/launch/error.h"
#include "cuda/launch/streams.h"

namespace nrd::cuda {
namespace {

std::string size_text(size_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} MiB", mib);
}

Error out_of_memory(size_t bytes, int device) {
  cudaGetLastError();
  Error error{.code = ErrorCode::kEnvironment,
              .argument = "cudaMalloc",
              .got = fmt::format("{} on cuda:{}", size_text(bytes), device),
              .hint = "free memory on the device or take a smaller case"};
  if (Expected<MemoryLeft> left = memory_left(device))
    error.allowed = fmt::format("{} free of {}", size_text(left->free), size_text(left->total));
  return make_error(std::move(error));
}

}  // namespace

Expected<DeviceScope> DeviceScope::enter(int device) {
  int count = 0;
  NRD_CUDA_TRY(cudaGetDeviceCount(&count));
  if (device < 0 || device >= count) return no_such_device(device, count);
  int former = 0;
  NRD_CUDA_TRY(cudaGetDevice(&former));
  NRD_CUDA_TRY(cudaSetDevice(device));
  return DeviceScope(former);
}

DeviceScope::~DeviceScope() {
  if (former_ >= 0) cudaSetDevice(former_);
}

Expected<MemoryLeft> memory_left(int device) {
  Expected<DeviceScope> scope = DeviceScope::enter(device);
  if (!scope) return scope.error();
  MemoryLeft left;
  NRD_CUDA_TRY(cudaMemGetInfo(&left.free, &left.total));
  return left;
}

Expected<Device> device_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  NRD_CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
  const bool on_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? Device{DeviceKind::kCuda, attributes.device} : Device{};
}

Expected<void> check_memory(int device, const void* pointer) {
  cudaPointerAttributes attributes{};
  NRD_CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
  const bool own = attributes.type == cudaMemoryTypeDevice && attributes.device == device;
  const bool mapped =
      attributes.type == cudaMemoryTypeManaged ||
      (attributes.type == cudaMemoryTypeHost && attributes.devicePointer == pointer);
  if (own || mapped) return {};
  int any = 0;
  if (attributes.type == cudaMemoryTypeUnregistered)
    NRD_CUDA_TRY(cudaDeviceGetAttribute(&any, cudaDevAttrPageableMemoryAccess, device));
  if (any) return {};
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .got = attributes.type == cudaMemoryTypeDevice
                                ? fmt::format("memory of cuda:{}", attributes.device)
                                : "memory of the CPU",
                     .allowed = fmt::format("memory of cuda:{}", device),
                     .hint = "copy it there, or say where it lies"});
}

Expected<void*> allocate_device(size_t bytes, int device) {
  if (bytes == 0) return nullptr;
  Expected<DeviceScope> scope = DeviceScope::enter(device);
  if (!scope) return scope.error();
  const AllocatesWhileRecording allowed;
  void* pointer = nullptr;
  const cudaError_t code = cudaMalloc(&pointer, bytes);
  if (code == cudaErrorMemoryAllocation) return out_of_memory(bytes, device);
  if (code != cudaSuccess) return cuda_error("cudaMalloc", code);
  return pointer;
}

void release_device(void* pointer, int device) noexcept {
  if (pointer == nullptr) return;
  // A context that is already gone has taken the memory along: nothing to report.
  if (Expected<DeviceScope> scope = DeviceScope::enter(device)) cudaFree(pointer);
  cudaGetLastError();
}

Expected<void*> allocate_in_stream(size_t bytes, Stream stream) {
  void* pointer = nullptr;
  NRD_CUDA_TRY(cudaMallocAsync(&pointer, bytes, stream));
  return pointer;
}

void release_in_stream(void* pointer, Stream stream) noexcept {
  if (pointer == nullptr) return;
  cudaFreeAsync(pointer, stream);
  cudaGetLastError();  // of a context that is gone
}

Expected<DeviceMemory> DeviceMemory::allocate(size_t bytes, int device) {
  Expected<void*> pointer = allocate_device(bytes, device);
  if (!pointer) return pointer.error();
  DeviceMemory memory;
  memory.data_ = *pointer;
  memory.bytes_ = bytes;
  memory.device_ = device;
  return memory;
}

DeviceMemory::~DeviceMemory() { release_device(data_, device_); }

Expected<OwnStream> OwnStream::create(int device) {
  Expected<DeviceScope> scope = DeviceScope::enter(device);
  if (!scope) return scope.error();
  OwnStream own;
  NRD_CUDA_TRY(cudaStreamCreateWithFlags(&own.stream_, cudaStreamNonBlocking));
  own.device_ = device;
  return own;
}

OwnStream::~OwnStream() {
  if (stream_ == nullptr) return;
  if (Expected<DeviceScope> scope = DeviceScope::enter(device_)) cudaStreamDestroy(stream_);
  cudaGetLastError();
}

Expected<void> copy_to_device(void* device_pointer, const void* host, size_t bytes, Stream stream) {
  if (bytes == 0) return {};
  NRD_CUDA_TRY(cudaMemcpyAsync(device_pointer, host, bytes, cudaMemcpyHostToDevice, stream));
  return wait_for(stream);
}

Expected<void> copy_to_host(void* host, const void* device_pointer, size_t bytes, Stream stream) {
  if (bytes == 0) return {};
  NRD_CUDA_TRY(cudaMemcpyAsync(host, device_pointer, bytes, cudaMemcpyDeviceToHost, stream));
  return wait_for(stream);
}

Expected<void> copy_on_device(void* to, const void* from, size_t bytes, Stream stream) {
  if (bytes == 0) return {};
  return check("cudaMemcpyAsync",
               cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

Expected<void> fill_bytes(void* device_pointer, int byte, size_t bytes, Stream stream) {
  if (bytes == 0) return {};
  return check("cudaMemsetAsync", cudaMemsetAsync(device_pointer, byte, bytes, stream));
}

Expected<bool> wait_for_device() {
  const AllocatesWhileRecording allowed;
  const cudaError_t code = cudaDeviceSynchronize();
  if (code == cudaErrorStreamCaptureUnsupported) {
    cudaGetLastError();  // not the next call's
    return false;
  }
  if (code != cudaSuccess) return cuda_error("cudaDeviceSynchronize", code);
  return true;
}

Expected<void> wait_for(Stream stream) {
  return check("cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

}  // namespace nrd::cuda
