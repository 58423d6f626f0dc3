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

// What is measured has a kernel of its own for either turn and for every number of slots.
template <class T, Turn kTurn>
cudaError_t turned(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (!c.norm) return with_items<T, T, T, kTurn, 0, 1, 2, 4>(c.items, p, stream);
  if (c.residual) return with_items<T, T, T, kTurn, kNorm | kResidual, 1, 2>(c.items, p, stream);
  return with_items<T, T, T, kTurn, kNorm, 1, 2, 3, 4>(c.items, p, stream);
}

// The others share kernels: with fewer slots than a kernel has, its last ones are empty.
template <class T, class W, class C, unsigned kFlags, int... kItems>
cudaError_t either_turn(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  return with_items<T, W, C, Turn::kHalf, kFlags | kEither, kItems...>(c.items, p, stream);
}

template <class T>
cudaError_t turned_fp8(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  return c.residual ? either_turn<T, T, T, kNorm | kResidual | kFp8, 1, 2>(c, p, stream)
                    : either_turn<T, T, T, kNorm | kFp8, 1, 2>(c, p, stream);
}

template <class T>
cudaError_t turned_rounded(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  return c.residual ? either_turn<T, T, T, kNorm | kResidual | kRounds, 2>(c, p, stream)
                    : either_turn<T, T, T, kNorm | kRounds, 2, 4>(c, p, stream);
}

// With weights or tables of f32.
template <class T, class W, class C>
cudaError_t turned_wide(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  return c.residual ? either_turn<T, W, C, kNorm | kResidual, 2>(c, p, stream)
                    : either_turn<T, W, C, kNorm, 2>(c, p, stream);
}

template <class T>
cudaError_t turned_any_way(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (c.wide_tables && !c.norm) return either_turn<T, T, f32, 0, 2>(c, p, stream);
  if (c.wide_weight && c.wide_tables) return turned_wide<T, f32, f32>(c, p, stream);
  if (c.wide_weight) return turned_wide<T, f32, T>(c, p, stream);
  if (c.wide_tables) return turned_wide<T, T, f32>(c, p, stream);
  if (c.fp8) return turned_fp8<T>(c, p, stream);
  if (c.rounds) return turned_rounded<T>(c, p, stream);
  return c.turn == Turn::kHalf ? turned<T, Turn::kHalf>(c, p, stream)
                               : turned<T, Turn::kInterleaved>(c, p, stream);
}

template <class T, class W, unsigned kFlags, int... kItems>
cudaError_t plain(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  constexpr Turn kTurn = Turn::kNone;
  return c.residual
             ? with_items<T, W, T, kTurn, kFlags | kNorm | kResidual, kItems...>(c.items, p, stream)
             : with_items<T, W, T, kTurn, kFlags | kNorm, kItems...>(c.items, p, stream);
}

// 16-bit rows.
template <class T>
cudaError_t narrow_rows(const NormRopeChoice& c, const NormRopeParams& p, Stream stream) {
  if (c.turn != Turn::kNone) return turned_any_way<T>(c, p, stream);
  if (c.wide_weight) return plain<T, f32, kRounds, 2, 4>(c, p, stream);  // if p says so
  return c.rounds ? plain<T, T, kRounds, 2, 4>(c, p, stream)
                  : plain<T, T, 0, 1, 2, 4>(c, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
