// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_produce.cuh: the warps that bring operands, scales and biases.
#pragma once

#include "cuda/device/formats.cuh"
#include "cuda/kernels/fp8_gemm_schedule.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// One operand's tile of a stage. Where the cluster has it in common, this block loads its half of
// the tile for both.
template <int kTileRows>
__device__ __forceinline__ void load_tile(unsigned char* tile, const TensorMap* codes,
                                          Barrier* full, int k, int row, bool is_shared, int rank,
                                          L2Keep keep) {
  if (is_shared) {
    constexpr int kHalf = kTileRows / 2;
    tma_load_multicast(tile + rank * kHalf * kBlockK, codes, full, k, row + rank * kHalf, 3, keep);
  } else {
    tma_load(tile, codes, full, k, row, keep);
  }
}

// One thread: fills the ring with the tiles of every stage of every work.
template <class T>
class TileProducer {
 public:
  __device__ __forceinline__ TileProducer(const Fp8GemmParams& params, Shared<T> shared, int rank)
      : params_(params), shared_(shared), rank_(rank), schedule_(params, rank) {}

  __device__ __forceinline__ void run() {
    Work work;
    bool has_work = schedule_.next(work);
    int ahead = has_work ? fetch_ahead(work) : 0;
    wait_for_previous_kernel();
    allow_next_kernel();
    for (; has_work; has_work = schedule_.next(work))
      for (int kb = work.k_begin; kb < work.k_end; kb++) {
        if (ahead > 0) {
          ahead--;
        } else {
          mbarrier_wait(shared_.empty(ring_.slot), ring_.parity ^ 1, "producer", ring_.slot);
          mbarrier_arrive_expect(shared_.full(ring_.slot), T::kStageBytes);
          load_weights(work, kb, ring_.slot);
        }
        load_tokens(work, kb, ring_.slot);
        ring_.next();
      }
  }

 private:
  // What no kernel in front writes fills the ring while that kernel ends.
  __device__ __forceinline__ int fetch_ahead(const Work& work) {
    if (!params_.early_codes) return 0;
    const int count = min(T::kStages, work.k_end - work.k_begin);
    for (int i = 0; i < count; i++) {
      mbarrier_arrive_expect(shared_.full(i), T::kStageBytes);
      load_weights(work, work.k_begin + i, i);
    }
    return count;
  }

  // Weights that a single row of tiles reads once should not push the few tokens out of L2.
  __device__ __forceinline__ void load_rows(const Work& work, int kb, int slot) {
    load_tile<T::kRows>(shared_.row_tile(slot), &params_.row_codes, shared_.full(slot),
                        kb * kBlockK, work.row_tile * T::kRows, params_.share == Fp8Share::kRows,
                        rank_, T::kSwapped ? L2Keep::kFirstOut : L2Keep::kNormal);
  }
  __device__ __forceinline__ void load_cols(const Work& work, int kb, int slot) {
    load_tile<T::kCols>(shared_.col_tile(slot), &params_.col_codes, shared_.full(slot),
                        kb * kBlockK, work.col_tile * T::kCols, params_.share == Fp8Share::kCols,
                        rank_, T::kSwapped ? L2Keep::kLastOut : L2Keep::kNormal);
  }
  __device__ __forceinline__ void load_weights(const Work& work, int kb, int slot) {
    T::kSwapped ? load_rows(work, kb, slot) : load_cols(work, kb, slot);
  }
  __device__ __forceinline__ void load_tokens(const Work& work, int kb, int slot) {
    T::kSwapped ? load_cols(work, kb, slot) : load_rows(work, kb, slot);
  }

  const Fp8GemmParams& params_;
  const Shared<T> shared_;
  const int rank_;
  Schedule schedule_;
  Ring<T::kStages> ring_;
};

__device__ __forceinline__ float load_as_f32(const void* values, int64_t i, Fp8Out type) {
  if (type == Fp8Out::kF32) return static_cast<const float*>(values)[i];
  const uint32_t bits = static_cast<const uint16_t*>(values)[i];
  return type == Fp8Out::kF16 ? widen_bits<f16>(bits) : widen_bits<bf16>(bits);
}

// One warp: the scales of a tile's rows and columns and the biases, for each work. Outside the
// product they are 0.
template <class T>
__device__ __forceinline__ void produce_vectors(const Fp8GemmParams& params, Shared<T> shared,
                                                int rank, int lane) {
  wait_for_previous_kernel();
  Schedule schedule(params, rank);
  Ring<1> turn;
  Work work;
  while (schedule.next(work)) {
    const int row = work.row_tile * T::kRows, col = work.col_tile * T::kCols;
    mbarrier_wait(shared.vectors_empty(), turn.parity ^ 1, "vectors", 0);
    if constexpr (!T::kBlockScales) {
      for (int i = lane; i < T::kRows; i += 32)
        shared.row_scale()[i] =
            row + i < params.rows ? params.row_scale[(row + i) * params.row_scale_step] : 0.0f;
      for (int i = lane; i < T::kCols; i += 32)
        shared.col_scale()[i] =
            col + i < params.cols ? params.col_scale[(col + i) * params.col_scale_step] : 0.0f;
    }
    const int first = T::kSwapped ? row : col, end = T::kSwapped ? params.rows : params.cols;
    for (int i = lane; i < (T::kSwapped ? T::kRows : T::kCols); i += 32)
      shared.bias()[i] =
          params.bias && first + i < end
              ? load_as_f32(params.bias, (first + i) * params.bias_step, params.bias_type)
              : 0.0f;
    __syncwarp();
    if (lane == 0) mbarrier_arrive(shared.vectors_full());
    turn.next();
  }
}

// Two warps: for each block of k the factor of every row of the tile, a's scale times b's, or of
// every column where the kernel is swapped. The next block's are under way while one is stored.
template <class T>
__device__ __forceinline__ void produce_block_scales(const Fp8GemmParams& params, Shared<T> shared,
                                                     int rank, int thread) {
  constexpr int kThreads = 64, kEach = (T::kScales + kThreads - 1) / kThreads;
  wait_for_previous_kernel();
  Schedule schedule(params, rank);
  Ring<T::kScaleSlots> ring;
  Work work;
  while (schedule.next(work)) {
    const int row = work.row_tile * T::kRows, col = work.col_tile * T::kCols;
    // Along the tile's other side, within one block of 128 columns of c, there is one scale.
    const float* common = T::kSwapped ? params.row_scale + row / 128 * params.row_scale_step
                                      : params.col_scale + col / 128 * params.col_scale_step;
    const float* own = T::kSwapped ? params.col_scale + col * params.col_scale_step
                                   : params.row_scale + row * params.row_scale_step;
    const int64_t own_step = T::kSwapped ? params.col_scale_step : params.row_scale_step;
    const int64_t own_k = T::kSwapped ? params.col_scale_k : params.row_scale_k;
    const int64_t common_k = T::kSwapped ? params.row_scale_k : params.col_scale_k;
    const int count = min(T::kScales, T::kSwapped ? params.cols - col : params.rows - row);
    float next[kEach];
    auto load = [&](int kb) {
      const float factor = common[kb * common_k];
#pragma unroll
      for (int i = 0; i < kEach; i++) {
        const int at = thread + i * kThreads;
        next[i] = at < count ? own[at * own_step + kb * own_k] * factor : 0.0f;
      }
    };
    load(work.k_begin);
    for (int kb = work.k_begin; kb < work.k_end; kb++) {
      mbarrier_wait(shared.scales_empty(ring.slot), ring.parity ^ 1, "scales", ring.slot);
#pragma unroll
      for (int i = 0; i < kEach; i++) {
        const int at = thread + i * kThreads;
        if (T::kScales % kThreads == 0 || at < T::kScales)
          shared.block_scale(ring.slot)[at] = next[i];
      }
      __syncwarp();
      if (thread % 32 == 0) mbarrier_arrive(shared.scales_full(ring.slot));
      if (kb + 1 < work.k_end) load(kb + 1);
      ring.next();
    }
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
