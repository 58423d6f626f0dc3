// SPDX-License-Identifier: MIT
// src/cuda/config/fp8_gemm.cpp: a model of a launch, and the search for its shortest time.
#include "cuda/config/fp8_gemm.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/align.h"
#include "cuda/config/fp8_gemm_kernels.h"

namespace nrd::cuda {
namespace {

// Of an H200, as measured. Bytes a cycle: L2 gives a multiprocessor 64 and all of them about 8400;
// memory gives 4.3 TB/s at 1.75 GHz to all, and 110 of the multiprocessors can take that.
constexpr double kL2ToOne = 64, kL2ToAll = 8400, kMemoryToOne = 22, kMemoryToAll = 2400;
constexpr double kSharedRead = 128;
// Cycles from the launch to the first product, and of each part of a sum on its way to the others.
constexpr double kStart = 3000, kHandOver = 3500;
// Bytes that the products hide still cost power, and so clock.
constexpr double kTraffic = 0.03;
// Whole sums have bits that do not depend on the shape: they need to be a little slower to lose.
// Clusters wait for each other and have never been faster where L2 was not the limit.
constexpr double kCutting = 1.03, kCluster = 1.05;
// Few rows of c are those of one warpgroup, or one column of tiles of the transposed.
bool suits(const Fp8Kernel& kernel, int64_t m) {
  if (kernel.swapped) return m <= kernel.cols;
  return kernel.rows == 64 ? m <= 128 : m > 64;
}
// A part of k that is shorter is not worth its way through memory.
constexpr int kLeastUnits = 4;

// Of the tiles' rows and columns, as the kernel sees them.
int64_t rows_of(const Fp8Kernel& kernel, const Fp8GemmShape& s) {
  return kernel.swapped ? s.n : s.m;
}
int64_t cols_of(const Fp8Kernel& kernel, const Fp8GemmShape& s) {
  return kernel.swapped ? s.m : s.n;
}

// One instruction reads 64 rows of one operand and all columns of the other from shared memory.
double instruction_cycles(const Fp8Kernel& kernel) {
  const double read = (64.0 + kernel.cols) * 32 / kSharedRead;
  return std::max(kernel.cols / 2.0, read);
}

// What products lose to the registers' bandwidth: additions read two registers and write one,
// multiplications by factors read a third.
double slowdown(const Fp8Kernel& kernel) {
  if (kernel.sums == Fp8Sums::kFast) return 1.02;
  if (kernel.sums == Fp8Sums::kPrecise) return 1.03;
  return kernel.rows == 256 || kernel.cols > 128 ? 1.09 : 1.16;
}

// Of a block of k. A warpgroup that promotes adds up when its products have ended, while those of
// the others run.
double multiply_cycles(const Fp8Kernel& kernel) {
  const double piece = 4 * instruction_cycles(kernel);
  const double all = kernel.rows / 64.0 * piece * slowdown(kernel);
  if (kernel.sums == Fp8Sums::kFast || has_two_sets(kernel)) return all;
  const double turn = piece + 150 + kernel.cols / 2.0;
  return std::max(all, kernel.rows / 64 / consumers_of(kernel.rows) * turn);
}

// Cycles of a tile that its products do not hide, results of 16 bits.
double finish_cycles(const Fp8Kernel& kernel) {
  if (kernel.swapped) return 300 + kernel.rows * kernel.cols / 10.0;
  if (has_two_sets(kernel)) return 2800;
  if (consumers_of(kernel.rows) == 3) return 1700;
  if (!defers_store(kernel)) return 3000;
  if (kernel.sums != Fp8Sums::kFast) return 1500;
  return has_two_parts(kernel) ? 450 : 1300;
}

double block_cycles(const Fp8Kernel& kernel, const Fp8GemmConfig& config, const Fp8GemmShape& s) {
  const double multiply = multiply_cycles(kernel);
  double rows = static_cast<double>(std::min<int64_t>(kernel.rows, rows_of(kernel, s)));
  double cols = static_cast<double>(std::min<int64_t>(kernel.cols, cols_of(kernel, s)));
  if (config.share == Fp8Share::kRows) rows /= 2;
  if (config.share == Fp8Share::kCols) cols /= 2;
  const double fill = (rows + cols) * 128 / std::min(kL2ToOne, kL2ToAll / s.multiprocessors);
  return std::max(multiply, fill) + kTraffic * fill;
}

// Blocks that have something to read: of a cluster's two tiles one may lie outside c.
double readers(const Fp8Kernel& kernel, const Fp8GemmGrid& grid, const Fp8GemmShape& s) {
  const double tiles = static_cast<double>(ceil_div(rows_of(kernel, s), kernel.rows) *
                                           ceil_div(cols_of(kernel, s), kernel.cols));
  return grid.clusters * tiles / std::max(1, grid.span_rows * grid.span_cols);
}

// Rows of spans that are walked together, and rounds that are cut, at most.
constexpr int kMostRaster = 32, kMostCutRounds = 2;

// The height of a band of spans whose operands, for one round, take the least of L2.
int choose_raster(const Fp8GemmConfig& config, const Fp8GemmShape& shape) {
  const Fp8Kernel& kernel = kFp8Kernels[config.kernel];
  const Fp8GemmGrid grid = lay_out(config, shape);
  const int height = kernel.rows * (config.share == Fp8Share::kCols ? 2 : 1);
  const int width = kernel.cols * (config.share == Fp8Share::kRows ? 2 : 1);
  int best = 1;
  int64_t least = INT64_MAX;
  for (int raster = 1; raster <= std::min(grid.span_rows, kMostRaster); raster++) {
    const int64_t edge = raster * height + ceil_div(grid.clusters, raster) * width;
    if (edge < least) best = raster, least = edge;
  }
  return best;
}

// Every neighbour to share with would lie outside the product.
bool lacks_neighbour(const Fp8Kernel& kernel, Fp8Share share, const Fp8GemmShape& s) {
  if (share == Fp8Share::kNothing) return false;
  const int64_t tiles = share == Fp8Share::kRows ? ceil_div(cols_of(kernel, s), kernel.cols)
                                                 : ceil_div(rows_of(kernel, s), kernel.rows);
  return tiles == 1;
}

template <class Visit>
void for_each_config(const Fp8GemmShape& shape, Visit visit) {
  for (int i = 0; i < kFp8KernelCount; i++) {
    const Fp8Kernel& kernel = kFp8Kernels[i];
    if (!can_run(kernel, shape)) continue;
    for (Fp8Share share : {Fp8Share::kNothing, Fp8Share::kRows, Fp8Share::kCols}) {
      if (!can_share(kernel, share) || lacks_neighbour(kernel, share, shape)) continue;
      Fp8GemmConfig config{.kernel = i, .share = share};
      visit(config);
      if (!may_cut_k(kernel) || shape.whole_k) continue;
      const int rounds = lay_out(config, shape).whole_rounds;
      for (config.cut_rounds = 1; config.cut_rounds <= std::min(kMostCutRounds, rounds);
           config.cut_rounds++)
        visit(config);
    }
  }
}

}  // namespace

std::span<const Fp8Kernel> fp8_kernels() { return kFp8Kernels; }

bool can_run(const Fp8Kernel& kernel, const Fp8GemmShape& shape) {
  if (kernel.sums == shape.sums) return true;
  return shape.sums == Fp8Sums::kFast && kernel.sums == Fp8Sums::kPrecise;
}

bool can_share(const Fp8Kernel& kernel, Fp8Share share) {
  if (share == Fp8Share::kNothing) return true;
  return (share == Fp8Share::kRows ? kernel.rows : kernel.cols) % 16 == 0;
}

Expected<void> check_fp8_gemm_config(const Fp8GemmConfig& config, const Fp8GemmShape& shape) {
  const auto refuse = [](const char* member, int64_t got, std::string allowed) {
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = "fp8_gemm",
                       .argument = std::string("config.") + member,
                       .got = fmt::format("{}", got),
                       .allowed = std::move(allowed),
                       .hint = "take one of all_fp8_gemm_configs()"});
  };
  if (config.kernel < 0 || config.kernel >= kFp8KernelCount)
    return refuse("kernel", config.kernel, fmt::format("0 to {}", kFp8KernelCount - 1));
  const Fp8Kernel& kernel = kFp8Kernels[config.kernel];
  if (!can_run(kernel, shape))
    return refuse("kernel", config.kernel, "a kernel with the sums that the product asks for");
  const auto share = static_cast<int>(config.share);
  if (share < 0 || share > static_cast<int>(Fp8Share::kCols))
    return refuse("share", share, "nothing, rows or columns (0 to 2)");
  if (!can_share(kernel, config.share))
    return refuse("share", share, "what the kernel's tile can be halved along");
  if (config.raster < 1 || config.raster > kMostRaster)
    return refuse("raster", config.raster, fmt::format("1 to {}", kMostRaster));
  const bool may_cut = may_cut_k(kernel) && !shape.whole_k;
  if (config.cut_rounds < 0 || config.cut_rounds > (may_cut ? kMostCutRounds : 0))
    return refuse("cut_rounds", config.cut_rounds,
                  may_cut         ? fmt::format("0 to {}", kMostCutRounds)
                  : shape.whole_k ? "0, as no sum may be cut"
                                  : "0, as the kernel has no room for the parts of others");
  return {};
}

Fp8GemmGrid lay_out(const Fp8GemmConfig& config, const Fp8GemmShape& shape) {
  const Fp8Kernel& kernel = kFp8Kernels[config.kernel];
  Fp8GemmGrid grid;
  grid.cluster = config.share == Fp8Share::kNothing ? 1 : 2;
  const int most = std::max(1, shape.multiprocessors / grid.cluster);
  const int64_t rows = ceil_div(rows_of(kernel, shape), kernel.rows);
  const int64_t cols = ceil_div(cols_of(kernel, shape), kernel.cols);
  grid.span_rows = static_cast<int>(config.share == Fp8Share::kCols ? ceil_div(rows, 2) : rows);
  grid.span_cols = static_cast<int>(config.share == Fp8Share::kRows ? ceil_div(cols, 2) : cols);
  grid.k_blocks = static_cast<int>(ceil_div(shape.k, 128));
  const int spans = grid.span_rows * grid.span_cols;
  const int rounds = static_cast<int>(ceil_div(spans, most));
  grid.whole_rounds = std::max(0, rounds - config.cut_rounds);
  grid.clusters = std::min(most, std::max(1, spans));
  if (config.cut_rounds == 0) return grid;
  grid.cut_spans = spans - grid.whole_rounds * most;
  const int units = grid.cut_spans * grid.k_blocks;
  grid.clusters = most;
  if (grid.whole_rounds == 0) grid.clusters = std::clamp(units / kLeastUnits, 1, most);
  grid.units_each = units / grid.clusters;
  grid.units_extra = units % grid.clusters;
  return grid;
}

double estimate_cycles(const Fp8GemmConfig& config, const Fp8GemmShape& shape) {
  const Fp8Kernel& kernel = kFp8Kernels[config.kernel];
  const Fp8GemmGrid grid = lay_out(config, shape);
  const double block = block_cycles(kernel, config, shape);
  const double elements = static_cast<double>(kernel.rows) * kernel.cols;
  const double finish = finish_cycles(kernel);
  double busy = grid.whole_rounds * (grid.k_blocks * block + finish);
  if (grid.cut_spans > 0) {
    const int units = grid.units_each + (grid.units_extra > 0 ? 1 : 0);
    const double fetch = elements * 4 / std::min(kL2ToOne, kL2ToAll / shape.multiprocessors);
    const double tiles = static_cast<double>(units) / grid.k_blocks;
    const double parts = 1 + static_cast<double>(grid.k_blocks) / units;
    busy += units * block + (tiles + 1) * finish + parts * (fetch + kHandOver);
  }
  const double bytes = static_cast<double>((shape.m + shape.n) * shape.k + shape.m * shape.n * 2);
  const double memory = bytes / std::min(kMemoryToAll, kMemoryToOne * readers(kernel, grid, shape));
  // Where both are close neither hides the other altogether.
  double cycles = kStart + std::max(busy, memory) + 0.1 * std::min(busy, memory);
  if (grid.cut_spans > 0) cycles *= kCutting;
  return grid.cluster > 1 ? kCluster * cycles : cycles;
}

Fp8GemmConfig choose_fp8_gemm(const Fp8GemmShape& shape) {
  Fp8GemmConfig best;
  double least = -1;
  for_each_config(shape, [&](const Fp8GemmConfig& config) {
    if (!suits(kFp8Kernels[config.kernel], shape.m)) return;
    const double cycles = estimate_cycles(config, shape);
    if (least < 0 || cycles < least) best = config, least = cycles;
  });
  best.raster = choose_raster(best, shape);
  return best;
}

std::vector<Fp8GemmConfig> all_fp8_gemm_configs(const Fp8GemmShape& shape) {
  std::vector<Fp8GemmConfig> all;
  for_each_config(shape, [&](const Fp8GemmConfig& config) {
    all.push_back(config);
    all.back().raster = choose_raster(config, shape);
  });
  return all;
}

}  // namespace nrd::cuda
