// SPDX-License-Identifier: MIT
// src/cuda/launch/launch.cuh: the one way to start a kernel.
#pragma once

#include "cuda/device/language.cuh"
#include "cuda/operation.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

struct LaunchShape {
  dim3 grid = {1, 1, 1};
  dim3 block = {1, 1, 1};
  size_t shared_bytes = 0;   // dynamic; over 48 KB are asked for by launch()
  int cluster = 1;           // blocks along x that form a cluster
  bool cooperative = false;  // all blocks run at once: the kernel has a barrier over the grid
  bool overlaps = false;     // starts before the kernel in front of it ends (griddepcontrol)
  Stream stream = nullptr;
};

#ifndef NRD_CUDA_EMULATED
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const LaunchShape& shape,
                   const Arguments&... arguments) {
  if (shape.shared_bytes > 48 * 1024) {
    const cudaError_t code = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(shape.shared_bytes));
    if (code != cudaSuccess) return code;
  }
  cudaLaunchAttribute attributes[3];
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  if (shape.cooperative) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
  }
  if (shape.overlaps) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
#endif

}  // namespace nrd::cuda::NRD_CUDA_TARGET

#ifdef NRD_CUDA_EMULATED
#include "emulator/launch.h"
#endif
