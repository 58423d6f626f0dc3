// SPDX-License-Identifier: MIT
// src/cuda/config/fp8_gemm.h: which kernel runs a product of e4m3 codes, and how.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace nrd::cuda {

// How the partial sums of the tensor cores become f32 sums. kFast: at the end. kPrecise: every 128
// of k. kBlock: every 128 of k, times the scales of the blocks.
enum class Fp8Sums : int32_t { kFast, kPrecise, kBlock };

// One instantiation. A tile has `rows` x `cols` elements; warpgroups take equal parts of the rows,
// in pieces of 64. Swapped, b (the weights) gives the rows and a (few tokens) the columns.
struct Fp8Kernel {
  Fp8Sums sums;
  bool swapped;
  int rows, cols;
  int stages;   // slots of 128 of k in the ring
  int buffers;  // pieces of the result that wait for TMA, a warpgroup
};

// Warpgroups that multiply.
constexpr int consumers_of(int rows) { return rows % 128 == 0 ? 2 : rows / 64; }

// Whether blocks can share the k of a tile: their sums must fit beside each other's.
constexpr bool may_cut_k(const Fp8Kernel& kernel) { return kernel.rows * kernel.cols <= 128 * 256; }

// Registers of a consumer's thread: its sums, a second set for promotion, results of 16 bits.
constexpr int registers_of_sums(const Fp8Kernel& kernel, bool with_results) {
  const int piece = kernel.cols / 2, sums = kernel.rows / (64 * consumers_of(kernel.rows)) * piece;
  return sums + (kernel.sums == Fp8Sums::kFast ? 0 : piece) + (with_results ? sums / 2 : 0);
}

// Where results fit beside the sums they leave under the products of the next tile.
constexpr bool defers_store(const Fp8Kernel& kernel) {
  const int most = consumers_of(kernel.rows) == 3 ? 128 : 200;
  return !kernel.swapped && registers_of_sums(kernel, true) <= most;
}

// Fast sums that are finished in two parts, and promoted ones with a set of products for each half.
constexpr bool has_two_parts(const Fp8Kernel& kernel) {
  return kernel.sums == Fp8Sums::kFast && (kernel.rows == 256 || kernel.cols == 256);
}
constexpr bool has_two_sets(const Fp8Kernel& kernel) {
  return kernel.sums == Fp8Sums::kPrecise && !kernel.swapped && kernel.rows == 128 &&
         kernel.cols >= 176;
}

// Which operand the two blocks of a cluster have in common: each loads half of it for both.
enum class Fp8Share : int32_t { kNothing, kRows, kCols };

struct Fp8GemmConfig {
  int kernel = 0;                       // number in fp8_kernels()
  Fp8Share share = Fp8Share::kNothing;  // clusters of two unless nothing is shared
  int raster = 8;                       // rows of spans that are walked together
  int cut_rounds = 0;   // the last so many rounds of spans are cut along k, evenly for all blocks
  bool overlap = true;  // starts while the kernel in front of it ends
};

struct Fp8GemmShape {
  int64_t m = 0, n = 0, k = 0;
  Fp8Sums sums = Fp8Sums::kPrecise;
  bool whole_k = false;  // no cuts along k
  int multiprocessors = 132;
};

// How a configuration lies over a shape. A span is one tile, or the two neighbours of a cluster.
// Clusters take whole spans in turn for `whole_rounds` rounds; the blocks of k of the other spans
// are dealt out evenly, units_each to every cluster and one more to the first units_extra.
struct Fp8GemmGrid {
  int cluster = 1, clusters = 1;
  int span_rows = 0, span_cols = 0, k_blocks = 0;
  int whole_rounds = 0, cut_spans = 0, units_each = 0, units_extra = 0;
};

std::span<const Fp8Kernel> fp8_kernels();
// Whether the kernel has the sums that the shape asks for; promoted sums are good for fast ones.
bool can_run(const Fp8Kernel& kernel, const Fp8GemmShape& shape);
// Halves of a shared operand are whole groups of eight rows.
bool can_share(const Fp8Kernel& kernel, Fp8Share share);
// An error that names the first member that the shape or the kernels do not allow. What
// choose_fp8_gemm() and all_fp8_gemm_configs() give is right; the rest of this header takes nothing
// else.
Expected<void> check_fp8_gemm_config(const Fp8GemmConfig& config, const Fp8GemmShape& shape);
Fp8GemmGrid lay_out(const Fp8GemmConfig& config, const Fp8GemmShape& shape);
// The model behind the choice: the time of a launch in cycles.
double estimate_cycles(const Fp8GemmConfig& config, const Fp8GemmShape& shape);
// A pure function of the shape, to which the number of multiprocessors belongs: the configuration
// with the shortest estimate. Where it cuts k, the cuts and with them the bits follow that number;
// with whole_k none is cut.
Fp8GemmConfig choose_fp8_gemm(const Fp8GemmShape& shape);
// All that can run the shape, raster and overlap as chosen: what a benchmark walks through.
std::vector<Fp8GemmConfig> all_fp8_gemm_configs(const Fp8GemmShape& shape);

}  // namespace nrd::cuda
