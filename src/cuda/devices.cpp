// SPDX-License-Identifier: MIT
// src/cuda/devices.cpp: asks the CUDA runtime, which is linked statically and loads the driver.
#include "cuda/devices.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "cuda/launch/error.h"

namespace nrd::cuda {
namespace {

// A property that a driver does not know counts as 0.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

// The runtime speaks of an old driver where there is none at all.
bool has_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
}

}  // namespace

Error no_such_device(int index, int count) {
  const std::string allowed = count == 0   ? "none: this machine has no CUDA device"
                              : count == 1 ? "cuda:0"
                                           : fmt::format("cuda:0 to cuda:{}", count - 1);
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .argument = "device",
                     .got = fmt::format("cuda:{}", index),
                     .allowed = allowed});
}

Expected<std::vector<DeviceInfo>> list_devices() {
  int count = 0;
  if (cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    if (code == cudaErrorNoDevice) return std::vector<DeviceInfo>{};
    Error error = cuda_error("cudaGetDeviceCount", code);
    if (code == cudaErrorInsufficientDriver && !has_driver())
      error.got = "no NVIDIA driver on this machine";
    return error;
  }
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; i++) {
    cudaDeviceProp p{};
    if (cudaError_t code = cudaGetDeviceProperties(&p, i); code != cudaSuccess)
      return cuda_error("cudaGetDeviceProperties", code);
    const double clock_khz = attribute(cudaDevAttrMemoryClockRate, i);
    devices.push_back({.index = i,
                       .name = p.name,
                       .major = p.major,
                       .minor = p.minor,
                       .multiprocessors = p.multiProcessorCount,
                       .memory_gib = static_cast<double>(p.totalGlobalMem) / (1 << 30),
                       .memory_gbps = 2 * clock_khz * 1e3 * (p.memoryBusWidth / 8) * 1e-9,
                       .l2_bytes = p.l2CacheSize,
                       .shared_bytes = static_cast<int>(p.sharedMemPerBlockOptin)});
  }
  return devices;
}

}  // namespace nrd::cuda
