// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_choose.cuh: from a NormRopeChoice to the kernel that was compiled for
// it.
//
// Not every combination is: what is missing here is listed in launch/row_params.cpp (most_items,
// has_kernel) and goes the way of norm_rope_any.cu.
#pragma once

#include "cuda/kernels/norm_rope.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

cudaError_t norm_rope_bf16(const NormRopeChoice& choice, const NormRopeParams& p, Stream stream);
cudaError_t norm_rope_f16(const NormRopeChoice& choice, const NormRopeParams& p, Stream stream);
cudaError_t norm_rope_f32(const NormRopeChoice& choice, const NormRopeParams& p, Stream stream);
cudaError_t norm_rope_any(const NormRopeAnyParams& p, Stream stream);

// The smallest of kItems that is enough.
template <class T, class W, class C, Turn kTurn, unsigned kFlags, int... kItems>
cudaError_t with_items(int items, const NormRopeParams& p, Stream stream) {
  cudaError_t code = cudaErrorInvalidConfiguration;
  const bool found =
      ((items <= kItems &&
        (code = launch_norm_rope<T, W, C, NormRopePlan<kTurn, kItems, kFlags>>(p, stream), true)) ||
       ...);
  return found ? code : cudaErrorInvalidConfiguration;
}

// Rows of one dtype whose heads are turned.
template <class T, Turn kTurn>
cudaError_t turned(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (!c.norm) return with_items<T, T, T, kTurn, 0, 1, 2, 4>(c.items, p, stream);
  if (c.fp8)
    return c.residual
               ? with_items<T, T, T, kTurn, kNorm | kResidual | kFp8, 1, 2>(c.items, p, stream)
               : with_items<T, T, T, kTurn, kNorm | kFp8, 1, 2>(c.items, p, stream);
  if (c.persistent)
    return with_items<T, T, T, kTurn, kNorm | kPersistent, 1, 2, 3, 4>(c.items, p, stream);
  if (c.residual)
    return c.rounds
               ? with_items<T, T, T, kTurn, kNorm | kResidual | kRounds, 1, 2>(c.items, p, stream)
               : with_items<T, T, T, kTurn, kNorm | kResidual, 1, 2>(c.items, p, stream);
  return c.rounds ? with_items<T, T, T, kTurn, kNorm | kRounds, 1, 2, 3, 4>(c.items, p, stream)
                  : with_items<T, T, T, kTurn, kNorm, 1, 2, 3, 4>(c.items, p, stream);
}

// With weights or tables of f32.
template <class T, class W, class C, Turn kTurn>
cudaError_t turned_wide(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  return c.residual ? with_items<T, W, C, kTurn, kNorm | kResidual, 1, 2>(c.items, p, stream)
                    : with_items<T, W, C, kTurn, kNorm, 1, 2>(c.items, p, stream);
}

template <class T, Turn kTurn>
cudaError_t turned_any_width(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (!c.wide_weight && !c.wide_tables) return turned<T, kTurn>(c, p, stream);
  if (!c.norm) return with_items<T, T, f32, kTurn, 0, 1, 2>(c.items, p, stream);
  if (c.wide_weight && c.wide_tables) return turned_wide<T, f32, f32, kTurn>(c, p, stream);
  return c.wide_weight ? turned_wide<T, f32, T, kTurn>(c, p, stream)
                       : turned_wide<T, T, f32, kTurn>(c, p, stream);
}

template <class T, class W>
cudaError_t plain(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  constexpr Turn kTurn = Turn::kNone;
  if (c.residual)
    return c.rounds ? with_items<T, W, T, kTurn, kNorm | kResidual | kRounds, 1, 2, 4>(c.items, p,
                                                                                       stream)
                    : with_items<T, W, T, kTurn, kNorm | kResidual, 1, 2, 4>(c.items, p, stream);
  return c.rounds ? with_items<T, W, T, kTurn, kNorm | kRounds, 1, 2, 4>(c.items, p, stream)
                  : with_items<T, W, T, kTurn, kNorm, 1, 2, 4>(c.items, p, stream);
}

// 16-bit rows.
template <class T>
cudaError_t narrow_rows(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (c.turn == Turn::kHalf) return turned_any_width<T, Turn::kHalf>(c, p, stream);
  if (c.turn == Turn::kInterleaved) return turned_any_width<T, Turn::kInterleaved>(c, p, stream);
  return c.wide_weight ? plain<T, f32>(c, p, stream) : plain<T, T>(c, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
