// SPDX-License-Identifier: MIT
// src/cuda/device/output_type.cuh: f32, f16 and bf16 known when the kernel runs, for the ends of
// kernels whose work does not depend on them.
#pragma once

#include "base/dtype.h"
#include "cuda/device/vector.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class T>
struct TypeTag {
  using type = T;
};

// Calls action(TypeTag<T>{}) for a dtype that c and bias may have.
template <class Action>
__device__ __forceinline__ void with_type(DType dtype, const Action& action) {
  switch (dtype) {
    case DType::kF16: action(TypeTag<f16>{}); break;
    case DType::kBF16: action(TypeTag<bf16>{}); break;
    default: action(TypeTag<f32>{}); break;
  }
}

// One element of an array.
__device__ __forceinline__ float load_as(const void* array, DType dtype, int64_t at) {
  float value = 0.0f;
  with_type(dtype, [&](auto tag) {
    value = load_one(static_cast<const typename decltype(tag)::type*>(array) + at);
  });
  return value;
}
__device__ __forceinline__ void store_as(void* array, DType dtype, int64_t at, float value) {
  with_type(dtype, [&](auto tag) {
    store_one(static_cast<typename decltype(tag)::type*>(array) + at, value);
  });
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
