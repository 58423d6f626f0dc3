// SPDX-License-Identifier: MIT
// src/cuda/device/language.cuh: the language that the files of kernels/ are written in.
//
// CUDA C++ with two limits that let the same source run in the tests without a GPU: shared memory
// comes from shared_memory() alone, and instructions that C++ has no words for are called through
// the functions of device/ and ptx/, each of which has an emulated twin. `NRD_CUDA_TARGET` is
// sm80, sm90 or emulated; everything of kernels/ lies in the namespace of that name, so that the
// three builds of a template never meet.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#ifdef NRD_CUDA_EMULATED
#include "emulator/language.h"
#else
#include <cuda_runtime.h>

namespace nrd::cuda::NRD_CUDA_TARGET {

// The block's dynamic shared memory, 1024-byte aligned (what a swizzled tile asks for).
template <class T = unsigned char>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(1024) unsigned char nrd_shared_memory[];
  return reinterpret_cast<T*>(nrd_shared_memory);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
