// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_launch.cuh: what the launch functions of the 8-bit kernels share.
#pragma once

#include "cuda/device/formats.cuh"
#include "cuda/launch/fp8_kernels.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

// call(X{}, Q{}) with the types of the dtypes.
template <class Call>
cudaError_t for_types(DType x, DType q, const Call& call) {
  const bool is_e4m3 = q == DType::kF8E4M3;
  switch (x) {
    case DType::kF32: return is_e4m3 ? call(f32{}, f8e4m3{}) : call(f32{}, f8e5m2{});
    case DType::kF16: return is_e4m3 ? call(f16{}, f8e4m3{}) : call(f16{}, f8e5m2{});
    case DType::kBF16: return is_e4m3 ? call(bf16{}, f8e4m3{}) : call(bf16{}, f8e5m2{});
    default: return cudaErrorInvalidValue;
  }
}
template <class Call>
cudaError_t for_types(const Fp8QuantizeArgs& args, const Call& call) {
  return for_types(args.x_dtype, args.q_dtype, call);
}

// A grid has at most 65535 blocks along y: more matrices are more launches.
template <class Args, class Advance, class Call>
cudaError_t for_batches(Args part, const Advance& advance, const Call& call) {
  constexpr int64_t kMost = 65535;
  for (int64_t left = part.batch; left > 0; left -= kMost) {
    part.batch = left < kMost ? left : kMost;
    if (const cudaError_t code = call(part); code != cudaSuccess) return code;
    advance(part, part.batch);
  }
  return cudaSuccess;
}
template <class Call>
cudaError_t for_batches(const Fp8QuantizeArgs& args, const Call& call) {
  const auto advance = [](Fp8QuantizeArgs& part, int64_t count) {
    const auto bytes = static_cast<int64_t>(byte_size(part.x_dtype));
    part.x = static_cast<const char*>(part.x) + count * part.x_strides.batch * bytes;
    part.q += count * part.q_strides.batch;
    part.scale += count * part.scale_strides.batch;
    if (part.scale_in) part.scale_in += count * part.scale_in_strides.batch;
  };
  return for_batches(args, advance, call);
}

// The launch functions, each in a file with its kernels.
cudaError_t fp8_quantize_rows(const Fp8QuantizeArgs&, const Fp8RowsPlan&, Stream);
cudaError_t fp8_quantize_on_chip(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
cudaError_t fp8_flat_tops(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
cudaError_t fp8_quantize_flat(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
cudaError_t fp8_clear(uint32_t* words, int64_t count, Stream);
cudaError_t fp8_quantize_tiles(const Fp8QuantizeArgs&, const Fp8TilesPlan&, Stream);
cudaError_t fp8_dequantize_any(const Fp8DequantizeArgs&, bool vectors, Stream);
cudaError_t fp8_copy_tiles(const Fp8CopyArgs&, Fp8Stores stores, bool vector_loads, Stream);

}  // namespace nrd::cuda::NRD_CUDA_TARGET
