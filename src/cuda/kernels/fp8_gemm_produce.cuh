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
          mbarrier_arrive_expect(shared_.full(ring_.slot), params_.stage_bytes);
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
      mbarrier_arrive_expect(shared_.full(i), params_.stage_bytes);
      load_weights(work, work.k_begin + i, i);
    }
    return count;
  }

  // Weights that a single row of tiles reads once should not push the few tokens out of L2.
  __device__ __forceinline__ L2Keep keep_weights() const {
    return params_.weights_once ? L2Keep::kFirstOut : L2Keep::kNormal;
  }
  __device__ __forceinline__ L2Keep keep_tokens() const {
    return params_.weights_once ? L2Keep::kLastOut : L2Keep::kNormal;
  }
  __device__ __forceinline__ void load_rows(const Work& work, int kb, int slot) {
    load_tile<T::kRows>(shared_.row_tile(slot), &params_.row_codes, shared_.full(slot),
                        kb * kBlockK, work.row_tile * T::kRows, params_.share == Fp8Share::kRows,
                        rank_, T::kSwapped ? keep_weights() : keep_tokens());
  }
  __device__ __forceinline__ void load_cols(const Work& work, int kb, int slot) {
    load_tile<T::kCols>(shared_.col_tile(slot), &params_.col_codes, shared_.full(slot),
                        kb * kBlockK, work.col_tile * T::kCols, params_.share == Fp8Share::kCols,
                        rank_, T::kSwapped ? keep_tokens() : keep_weights());
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

// Whether a product of scales is exact enough to stand for both: neither 0 nor below the normal
// numbers, nor beyond the largest.
__device__ __forceinline__ bool is_normal(float x) {
  return fabsf(x) >= 1.17549435e-38f && fabsf(x) <= 3.40282347e38f;
}

// One warp: the scales of a tile's rows and columns and the biases, for each work. Outside the
// product they are 0. One scale for all of a and one for all of b are multiplied here where they
// have a product: then that is a's, and b's is 1.
template <class T>
__device__ __forceinline__ void produce_vectors(const Fp8GemmParams& params, Shared<T> shared,
                                                int rank, int lane) {
  wait_for_previous_kernel();
  Schedule schedule(params, rank);
  Ring<1> turn;
  Work work;
  float product = 0.0f;
  if (!T::kBlockScales && params.one_scale) product = *params.row_scale * *params.col_scale;
  const bool has_product = is_normal(product);
  auto scale_of = [&](bool is_a, const float* scale) {
    return has_product ? (is_a ? product : 1.0f) : *scale;
  };
  while (schedule.next(work)) {
    const int row = work.row_tile * T::kRows, col = work.col_tile * T::kCols;
    mbarrier_wait(shared.vectors_empty(), turn.parity ^ 1, "vectors", 0);
    if constexpr (!T::kBlockScales) {
#pragma unroll 1
      for (int i = lane; i < T::kRows; i += 32)
        shared.row_scale()[i] =
            row + i < params.rows
                ? scale_of(!T::kSwapped, params.row_scale + (row + i) * params.row_scale_step)
                : 0.0f;
#pragma unroll 1
      for (int i = lane; i < T::kCols; i += 32)
        *shared.col_scale(i) =
            col + i < params.cols
                ? scale_of(T::kSwapped, params.col_scale + (col + i) * params.col_scale_step)
                : 0.0f;
    }
    const int first = T::kSwapped ? row : col, end = T::kSwapped ? params.rows : params.cols;
#pragma unroll 1
    for (int i = lane; i < (T::kSwapped ? T::kRows : T::kCols); i += 32)
      *shared.bias(i) =
          params.bias && first + i < end
              ? load_as_f32(params.bias, (first + i) * params.bias_step, params.bias_type)
              : 0.0f;
    __syncwarp();
    if (lane == 0) mbarrier_arrive(shared.vectors_full());
    turn.next();
  }
}

// a's scale of a block times b's. Beyond the largest f32 it is that one: sums of 0 stay 0, and
// others, which are 2^-18 at least, come out at 2^110 or more.
__device__ __forceinline__ float block_factor(float a, float b) {
  constexpr float kLargest = 3.40282347e38f;
  const float product = a * b;
  const bool overflows = fabsf(product) > kLargest && fabsf(a) <= kLargest && fabsf(b) <= kLargest;
  return overflows ? copysignf(kLargest, product) : product;
}

// Two warps: for each block of k the factor of every row of the tile, or of every column where the
// kernel is swapped. Four blocks are fetched at once, where they lie side by
// side by one load: rows of few scales each would otherwise cost a sector a scale. They are on
// their way while the ring is still full.
template <class T>
class FactorProducer {
 public:
  __device__ __forceinline__ FactorProducer(const Fp8GemmParams& params, Shared<T> shared, int rank,
                                            int thread)
      : params_(params), shared_(shared), rank_(rank), thread_(thread) {}

  __device__ __forceinline__ void run() {
    wait_for_previous_kernel();
    Schedule schedule(params_, rank_);
    Ring<T::kStages> ring;
    Work work;
    while (schedule.next(work)) {
      begin(work);
      for (int kb = work.k_begin; kb < work.k_end; kb++) {
        if (kb == work.k_begin || kb % kAtOnce == 0) fetch(kb / kAtOnce * kAtOnce);
        mbarrier_wait(shared_.empty(ring.slot), ring.parity ^ 1, "factors", ring.slot);
#pragma unroll
        for (int i = 0; i < kEach; i++)
          if (place(i) < T::kFactors)
#pragma unroll
            for (int b = 0; b < T::kColBlocks; b++)
              shared_.factors(ring.slot)[b * T::kFactors + place(i)] =
                  block_factor(pick(own_[i], kb), pick(common_[b], kb));
        __syncwarp();
        if (thread_ % 32 == 0) mbarrier_arrive(shared_.full(ring.slot));
        ring.next();
      }
    }
  }

 private:
  static constexpr int kOfAll = 32 * T::kFactorWarps;  // threads
  static constexpr int kEach = (T::kFactors + kOfAll - 1) / kOfAll;
  static constexpr int kAtOnce = 4;

  __device__ __forceinline__ int place(int i) const { return thread_ + i * kOfAll; }

  // Where the scales of a work's tile lie: along one side one for each place, along the other one
  // for each block of 128. What lies outside c, part of a tile or a cluster's second, takes the
  // last ones there: it is not stored.
  __device__ __forceinline__ void begin(const Work& work) {
    const int row = work.row_tile * T::kRows, col = work.col_tile * T::kCols;
    const int place = T::kSwapped ? col : row, end = T::kSwapped ? params_.cols : params_.rows;
    const int other = T::kSwapped ? row : col;
    const int last = ((T::kSwapped ? params_.rows : params_.cols) - 1) / 128;
    const int64_t own_step = T::kSwapped ? params_.col_scale_step : params_.row_scale_step;
    const int64_t common_step = T::kSwapped ? params_.row_scale_step : params_.col_scale_step;
    own_scales_ = (T::kSwapped ? params_.col_scale : params_.row_scale) + place * own_step;
    count_ = min(T::kFactors, end - place);
#pragma unroll
    for (int b = 0; b < T::kColBlocks; b++)
      common_scales_[b] = (T::kSwapped ? params_.row_scale : params_.col_scale) +
                          min(other / 128 + b, last) * common_step;
  }

  __device__ __forceinline__ void fetch(int kb) {
    const int64_t step = T::kSwapped ? params_.col_scale_step : params_.row_scale_step;
    const int64_t own_k = T::kSwapped ? params_.col_scale_k : params_.row_scale_k;
    const int64_t common_k = T::kSwapped ? params_.row_scale_k : params_.col_scale_k;
    const int blocks = min(kAtOnce, params_.k_blocks - kb);
#pragma unroll
    for (int b = 0; b < T::kColBlocks; b++)
      common_[b] = gather(common_scales_[b] + kb * common_k, common_k, blocks);
#pragma unroll
    for (int i = 0; i < kEach; i++)
      own_[i] = place(i) < count_
                    ? gather(own_scales_ + place(i) * step + kb * own_k, own_k, blocks)
                    : make_float4(0, 0, 0, 0);
  }

  __device__ __forceinline__ static float4 gather(const float* from, int64_t step, int count) {
    if (step == 1 && count == kAtOnce && reinterpret_cast<uintptr_t>(from) % sizeof(float4) == 0)
      return *reinterpret_cast<const float4*>(from);
    return make_float4(from[0], count > 1 ? from[step] : 0.0f, count > 2 ? from[2 * step] : 0.0f,
                       count > 3 ? from[3 * step] : 0.0f);
  }

  __device__ __forceinline__ static float pick(const float4& four, int kb) {
    const float low = kb % 2 == 0 ? four.x : four.y, high = kb % 2 == 0 ? four.z : four.w;
    return kb % kAtOnce < 2 ? low : high;
  }

  const Fp8GemmParams& params_;
  const Shared<T> shared_;
  const int rank_, thread_;
  const float* own_scales_ = nullptr;
  const float* common_scales_[T::kColBlocks];
  int count_ = 0;
  float4 own_[kEach], common_[T::kColBlocks];
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
