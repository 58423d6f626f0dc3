// SPDX-License-Identifier: MIT
// src/dispatch/cuda_parts.h: what the backend `cuda` is made of; tests put emulated kernels here.
#pragma once

#include <memory>

#include "cuda/launch/tables.h"
#include "cuda/operation.h"
#include "dispatch/backend.h"

namespace nrd {

struct CudaParts {
  Expected<std::vector<cuda::DeviceInfo>> (*devices)() = cuda::list_devices;
  std::span<const cuda::Implementation* const> (*implementations)() = cuda::implementations;
  const cuda::KernelTables& (*sm90)() = cuda::tables_sm90;
  const cuda::KernelTables& (*sm80)() = cuda::tables_sm80;
};

// Memory and the current device come from device_runtime(), asked when it is loaded.
std::unique_ptr<Backend> make_cuda_backend(const CudaParts& parts);

}  // namespace nrd
