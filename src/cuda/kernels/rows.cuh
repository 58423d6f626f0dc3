// SPDX-License-Identifier: MIT
// src/cuda/kernels/rows.cuh: the launch functions of rows, defined in several files.
#pragma once

#include "cuda/launch/row_backward.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t norm_rope(const NormRopeArgs& args, const RowConfig& config, Stream stream);
cudaError_t row_statistics(const RowStatisticsArgs& args, const RowConfig& config, Stream stream);
cudaError_t norm_rope_backward(const NormRopeBackwardArgs& args, Stream stream);

}  // namespace nrd::cuda::NRD_CUDA_TARGET
