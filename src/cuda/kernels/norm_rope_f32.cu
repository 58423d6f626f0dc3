// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_f32.cu: the kernels of norm_rope.cuh for rows of f32.
#include "cuda/kernels/norm_rope_choose.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

template <Turn kTurn>
cudaError_t turned_f32(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (!c.norm) return with_items<f32, f32, f32, kTurn, 0, 1, 2, 4>(c.items, p, stream);
  return c.residual ? with_items<f32, f32, f32, kTurn, kNorm | kResidual, 1, 2>(c.items, p, stream)
                    : with_items<f32, f32, f32, kTurn, kNorm, 1, 2, 4>(c.items, p, stream);
}

}  // namespace

cudaError_t norm_rope_f32(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (c.turn == Turn::kHalf) return turned_f32<Turn::kHalf>(c, p, stream);
  if (c.turn == Turn::kInterleaved) return turned_f32<Turn::kInterleaved>(c, p, stream);
  return c.residual ? with_items<f32, f32, f32, Turn::kNone, kNorm | kResidual, 1, 2, 4>(c.items, p,
                                                                                         stream)
                    : with_items<f32, f32, f32, Turn::kNone, kNorm, 1, 2, 4>(c.items, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
