// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_table.cu: the table of the 8-bit kernels.
#include "cuda/kernels/fp8_launch.cuh"
#include "cuda/launch/tables.h"

namespace nrd::cuda {

NRD_CUDA_TABLE(Fp8Kernels, fp8_kernels) = {
    .quantize_rows = NRD_CUDA_TARGET::fp8_quantize_rows,
    .quantize_on_chip = NRD_CUDA_TARGET::fp8_quantize_on_chip,
    .flat_tops = NRD_CUDA_TARGET::fp8_flat_tops,
    .quantize_flat = NRD_CUDA_TARGET::fp8_quantize_flat,
    .clear = NRD_CUDA_TARGET::fp8_clear,
    .quantize_tiles = NRD_CUDA_TARGET::fp8_quantize_tiles,
    .dequantize = NRD_CUDA_TARGET::fp8_dequantize_any,
    .copy = NRD_CUDA_TARGET::fp8_copy_tiles,
};

}  // namespace nrd::cuda
