// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_schedule.cuh: which tile a block computes next, and which part of k.
//
// Clusters first take whole spans in turn (cluster c the spans c, c + clusters, ...). What is left
// after `whole_rounds` rounds is one long row of k blocks, span after span, cut into equal lengths.
// A cluster so gets the end of one span, perhaps whole ones, and the beginning of another, in this
// order: when it comes to the beginning of a span, its neighbour has finished the end long ago.
#pragma once

#include "cuda/kernels/fp8_gemm_tile.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

struct Work {
  int row_tile = 0, col_tile = 0;
  int k_begin = 0, k_end = 0;  // blocks of k
  bool ends_early = false;     // the last of them holds 64 of k or less
  int part = 0, parts = 1;     // of those that the tile's k is cut into
  int first_cluster = 0;       // that has part 0; the next ones follow
  int cut_tile = 0;            // number among the cut tiles
};

class Schedule {
 public:
  __device__ __forceinline__ Schedule(const Fp8GemmParams& params, int rank)
      : params_(params), rank_(rank), cluster_(static_cast<int>(blockIdx.x) / params.cluster) {
    const int before = min(cluster_, params.units_extra);
    unit_ = cluster_ * params.units_each + before;
    unit_end_ = unit_ + params.units_each + (cluster_ < params.units_extra ? 1 : 0);
  }

  __device__ __forceinline__ bool has_next() const {
    const int span = round_ * params_.clusters + cluster_;
    const bool has_whole =
        round_ < params_.whole_rounds && span < params_.span_rows * params_.span_cols;
    return has_whole || unit_ < unit_end_;
  }

  // Every warp of a block calls this in the same order and gets the same.
  __device__ __forceinline__ bool next(Work& work) {
    const int spans = params_.span_rows * params_.span_cols;
    if (round_ < params_.whole_rounds) {
      const int span = round_++ * params_.clusters + cluster_;
      if (span < spans) {
        place(span, work);
        work.k_begin = 0, work.k_end = params_.k_blocks;
        work.ends_early = params_.half_tail != 0;
        work.part = 0, work.parts = 1;
        return true;
      }
      round_ = params_.whole_rounds;
    }
    if (unit_ >= unit_end_) return false;
    const int cut = unit_ / params_.k_blocks, first = cut * params_.k_blocks;
    place(params_.whole_rounds * params_.clusters + cut, work);
    work.k_begin = unit_ - first;
    work.k_end = min(params_.k_blocks, unit_end_ - first);
    work.ends_early = params_.half_tail != 0 && work.k_end == params_.k_blocks;
    work.first_cluster = owner(first);
    work.part = cluster_ - work.first_cluster;
    work.parts = owner(first + params_.k_blocks - 1) - work.first_cluster + 1;
    work.cut_tile = cut * params_.cluster + rank_;
    unit_ = first + work.k_end;
    return true;
  }

 private:
  // Spans go down `raster` rows, then one column to the right: neighbours in time share operands.
  __device__ __forceinline__ void place(int span, Work& work) const {
    const int band = static_cast<int>(params_.band_spans.quotient(span));
    const int inside = span - band * static_cast<int>(params_.band_spans.divisor);
    const int first_row = band * params_.raster;
    const bool is_last = first_row + params_.raster > params_.span_rows;
    const Division& height = is_last ? params_.last_height : params_.band_height;
    const int column = static_cast<int>(height.quotient(inside));
    const int rows = static_cast<int>(height.divisor);
    work.row_tile = first_row + inside - column * rows;
    work.col_tile = column;
    if (params_.share == Fp8Share::kCols) work.row_tile = 2 * work.row_tile + rank_;
    if (params_.share == Fp8Share::kRows) work.col_tile = 2 * work.col_tile + rank_;
  }

  __device__ __forceinline__ int owner(int unit) const {
    const int longer = params_.units_extra * (params_.units_each + 1);
    if (unit < longer) return unit / (params_.units_each + 1);
    return params_.units_extra + (unit - longer) / params_.units_each;
  }

  const Fp8GemmParams& params_;
  const int rank_, cluster_;
  int round_ = 0;
  int unit_, unit_end_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
