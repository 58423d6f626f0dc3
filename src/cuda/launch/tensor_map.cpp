// SPDX-License-Identifier: MIT
// src/cuda/launch/tensor_map.cpp
#include "cuda/launch/tensor_map.h"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "cuda/launch/error.h"

namespace nrd::cuda {
namespace {

using Encode = PFN_cuTensorMapEncodeTiled_v12000;

Expected<Encode> find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  NRD_CUDA_TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &found));
#else
  NRD_CUDA_TRY(
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
  if (found == cudaDriverEntryPointSuccess && function) return reinterpret_cast<Encode>(function);
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "cuTensorMapEncodeTiled",
                     .got = "a driver without it",
                     .hint = "tensor maps need a driver of CUDA 12.0 or later"});
}

CUtensorMapDataType data_type(uint32_t element_bytes) {
  if (element_bytes == 1) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  return element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMapSwizzle swizzle_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::kNone: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::k32B: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::k64B: return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::k128B: break;
  }
  return CU_TENSOR_MAP_SWIZZLE_128B;
}

}  // namespace

Expected<TensorMap> encode_matrix_map(const MatrixMapSpec& spec) {
  // Kept once it is found: before a context exists, or while a driver is replaced, it is not.
  static std::atomic<Encode> found = nullptr;
  Encode encode = found.load(std::memory_order_relaxed);
  if (encode == nullptr) {
    const Expected<Encode> now = find_encoder();
    if (!now) return now.error();
    found.store(encode = *now, std::memory_order_relaxed);
  }
  CUtensorMap map;
  const cuuint64_t sizes[2] = {spec.width, spec.height};
  const cuuint64_t strides[1] = {spec.row_bytes};
  const cuuint32_t box[2] = {spec.box_width, spec.box_height};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult code =
      encode(&map, data_type(spec.element_bytes), 2, const_cast<void*>(spec.base), sizes, strides,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(spec.swizzle),
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS)
    return make_error(
        {.code = ErrorCode::kEnvironment,
         .argument = "cuTensorMapEncodeTiled",
         .got = fmt::format("code {} for {} x {} elements of {} bytes at {}, rows {} "
                            "bytes apart, boxes {} x {}",
                            static_cast<int>(code), spec.height, spec.width, spec.element_bytes,
                            spec.base, spec.row_bytes, spec.box_height, spec.box_width)});
  TensorMap result;
  static_assert(sizeof(result) == sizeof(map));
  std::memcpy(&result, &map, sizeof(result));
  return result;
}

}  // namespace nrd::cuda
