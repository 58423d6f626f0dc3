// SPDX-License-Identifier: MIT
// src/cuda/launch/error.h: a failed CUDA call as an Error that names the call and its code.
#pragma once

#include <driver_types.h>

#include "base/error.h"

namespace nrd::cuda {

Error cuda_error(const char* call, cudaError_t code);

inline Expected<void> check(const char* call, cudaError_t code) {
  if (code == cudaSuccess) return {};
  return cuda_error(call, code);
}

}  // namespace nrd::cuda

// NRD_CUDA_TRY(cudaSetDevice(3)): leaves the function with the error.
#define NRD_CUDA_TRY(call)                                            \
  do {                                                                \
    if (const cudaError_t nrd_code = (call); nrd_code != cudaSuccess) \
      return ::nrd::cuda::cuda_error(#call, nrd_code);                \
  } while (0)
