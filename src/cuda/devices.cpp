// SPDX-License-Identifier: MIT
// src/cuda/devices.cpp: asks the CUDA runtime, which is linked statically and loads the driver.
#include "cuda/devices.h"

#include <cuda_runtime_api.h>

#include "cuda/launch/error.h"

namespace nrd::cuda {
namespace {

// A property that a driver does not know counts as 0.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

}  // namespace

Expected<std::vector<DeviceInfo>> list_devices() {
  int count = 0;
  if (cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    if (code == cudaErrorNoDevice) return std::vector<DeviceInfo>{};
    return cuda_error("cudaGetDeviceCount", code);
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
                       .l2_bytes = p.l2CacheSize});
  }
  return devices;
}

}  // namespace nrd::cuda
