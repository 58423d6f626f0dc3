// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_wgmma.cpp: Fp8GemmArgs become the parameters of one of the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "cuda/launch/error.h"
#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/fp8_gemm_params.h"

namespace nrd::cuda {
namespace {

constexpr int64_t kAlignment = 16;

Fp8GemmShape shape_of(const Fp8GemmArgs& args) {
  // Fast sums of few rows are promoted ones: with whole_k those of many are too.
  Fp8Sums sums = args.fast && !args.whole_k ? Fp8Sums::kFast : Fp8Sums::kPrecise;
  if (args.scales == Fp8Scales::kBlock) sums = Fp8Sums::kBlock;
  return {.m = args.m,
          .n = args.n,
          .k = args.k,
          .sums = sums,
          .whole_k = args.whole_k,
          .multiprocessors = args.multiprocessors};
}

Fp8Out out_type(DType dtype) {
  if (dtype == DType::kF32) return Fp8Out::kF32;
  return dtype == DType::kF16 ? Fp8Out::kF16 : Fp8Out::kBF16;
}

// The workspace: counters of parts, then two pieces a block for parts of tiles.
size_t counter_bytes(const Fp8GemmGrid& grid, const Fp8Kernel& kernel) {
  const size_t count = static_cast<size_t>(grid.cut_spans) * static_cast<size_t>(grid.cluster);
  return (count * static_cast<size_t>(consumers_of(kernel.rows)) * sizeof(uint64_t) + 255) / 256 *
         256;
}
size_t partial_bytes(const Fp8GemmGrid& grid, const Fp8Kernel& kernel) {
  const auto blocks = static_cast<size_t>(grid.clusters * grid.cluster);
  return 2 * blocks * static_cast<size_t>(kernel.rows * kernel.cols) * sizeof(float);
}

// Unlike that of any other launch that could have left its counters in the workspace.
uint64_t new_tag() {
  static const auto start =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  static std::atomic<uint64_t> launches{0};
  const uint64_t number = start + launches.fetch_add(1, std::memory_order_relaxed);
  return number * 0x9e3779b97f4a7c15ull << 16;
}

Error bad_argument(const char* argument, std::string got, std::string allowed) {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = "fp8_gemm",
                     .argument = argument,
                     .got = std::move(got),
                     .allowed = std::move(allowed)});
}

Expected<void> check_codes(const char* name, const void* codes, int64_t row) {
  if (reinterpret_cast<uintptr_t>(codes) % kAlignment == 0 && row % kAlignment == 0) return {};
  return bad_argument(name, fmt::format("address {}, rows {} bytes apart", codes, row),
                      "multiples of 16");
}

Expected<void> check(const Fp8GemmArgs& args, const Fp8GemmConfig& config) {
  NRD_TRY(check_codes("a", args.a, args.a_row));
  NRD_TRY(check_codes("b", args.b, args.b_row));
  if (args.k < 1) return bad_argument("k", fmt::format("{}", args.k), "at least 1");
  return check_fp8_gemm_config(config, shape_of(args));
}

// Rows of a tile that one copy brings. What lies outside the product is slow to fetch: where a tile
// is higher than the product it is left out, and the tile has old rows there, for results that
// nobody stores.
uint32_t box_height(int64_t rows, int tile, bool is_shared) {
  if (is_shared) return static_cast<uint32_t>(tile / 2);
  return static_cast<uint32_t>(std::min<int64_t>(tile, (rows + 7) / 8 * 8));
}

MatrixMapSpec codes_spec(const void* codes, int64_t rows, int64_t k, int64_t row, int tile,
                         bool is_shared) {
  return {.base = codes,
          .width = static_cast<uint64_t>(k),
          .height = static_cast<uint64_t>(rows),
          .row_bytes = static_cast<uint64_t>(row),
          .box_width = 128,
          .box_height = box_height(rows, tile, is_shared)};
}

// A plain struct of what the two maps of c have in common.
MatrixMapSpec out_spec(const Fp8GemmArgs& args, uint32_t box_width, uint32_t box_height,
                       Swizzle swizzle) {
  const auto bytes = static_cast<uint32_t>(byte_size(args.c_dtype));
  return {.base = args.c,
          .width = static_cast<uint64_t>(args.n),
          .height = static_cast<uint64_t>(args.m),
          .row_bytes = static_cast<uint64_t>(args.c_row) * bytes,
          .box_width = box_width,
          .box_height = box_height,
          .element_bytes = bytes,
          .swizzle = swizzle};
}

Expected<void> encode_maps(const Fp8GemmKernels& kernels, const Fp8GemmArgs& args,
                           const Fp8Kernel& kernel, Fp8GemmParams& params) {
  const bool swapped = kernel.swapped;
  const bool a_is_shared = params.share == (swapped ? Fp8Share::kCols : Fp8Share::kRows);
  const bool b_is_shared = params.share == (swapped ? Fp8Share::kRows : Fp8Share::kCols);
  const MatrixMapSpec a = codes_spec(args.a, args.m, args.k, args.a_row,
                                     swapped ? kernel.cols : kernel.rows, a_is_shared);
  const MatrixMapSpec b = codes_spec(args.b, args.n, args.k, args.b_row,
                                     swapped ? kernel.rows : kernel.cols, b_is_shared);
  params.stage_bytes = static_cast<int32_t>(
      128 * (a.box_height * (a_is_shared ? 2 : 1) + b.box_height * (b_is_shared ? 2 : 1)));
  auto encode = [&](const MatrixMapSpec& spec, TensorMap& map) -> Expected<void> {
    Expected<TensorMap> encoded = kernels.encode(spec);
    if (!encoded) return encoded.error();
    map = *encoded;
    return {};
  };
  NRD_TRY(encode(swapped ? b : a, params.row_codes));
  NRD_TRY(encode(swapped ? a : b, params.col_codes));
  if (params.store_by_threads) return {};
  const uint32_t width = 128 / static_cast<uint32_t>(byte_size(args.c_dtype));
  const auto height = static_cast<uint32_t>(swapped ? kernel.cols : 64);
  NRD_TRY(encode(out_spec(args, width, height, Swizzle::k128B), params.out));
  const uint32_t rest = swapped ? 0 : static_cast<uint32_t>(kernel.cols) % width;
  if (rest) NRD_TRY(encode(out_spec(args, rest, height, Swizzle::kNone), params.out_rest));
  return {};
}

void set_sides(const Fp8GemmArgs& args, const Fp8Kernel& kernel, Fp8GemmParams& params) {
  params.rows = static_cast<int32_t>(kernel.swapped ? args.n : args.m);
  params.cols = static_cast<int32_t>(kernel.swapped ? args.m : args.n);
  params.row_scale = kernel.swapped ? args.b_scale : args.a_scale;
  params.row_scale_step = kernel.swapped ? args.b_scale_column : args.a_scale_row;
  params.row_scale_k = kernel.swapped ? args.b_scale_k : args.a_scale_k;
  params.col_scale = kernel.swapped ? args.a_scale : args.b_scale;
  params.col_scale_step = kernel.swapped ? args.a_scale_row : args.b_scale_column;
  params.col_scale_k = kernel.swapped ? args.a_scale_k : args.b_scale_k;
  params.half_tail = args.k % 128 != 0 && args.k % 128 <= 64;
  params.early_codes = args.b_constant;
  params.bias = args.bias;
  params.bias_step = args.bias_step;
  params.bias_type = out_type(args.bias_dtype);
  params.one_scale = args.one_scale;
  params.one_factor = args.one_scale && !args.bias;
}

void set_output(const Fp8GemmArgs& args, Fp8GemmParams& params) {
  params.c = args.c;
  params.c_row = args.c_row;
  params.c_rows = static_cast<int32_t>(args.m);
  params.c_cols = static_cast<int32_t>(args.n);
  params.c_type = out_type(args.c_dtype);
  const auto element = static_cast<int64_t>(byte_size(args.c_dtype));
  // TMA writes whole chunks of 16 bytes: a row that ends within one would write behind its end.
  const bool is_aligned = reinterpret_cast<uintptr_t>(args.c) % kAlignment == 0 &&
                          args.c_row * element % kAlignment == 0 &&
                          args.n * element % kAlignment == 0;
  params.store_by_threads = is_aligned ? 0 : 1;
}

void set_grid(const Fp8GemmGrid& grid, const Fp8GemmConfig& config, const Fp8Kernel& kernel,
              void* workspace, Fp8GemmParams& params) {
  params.k_blocks = grid.k_blocks;
  params.cluster = grid.cluster;
  params.share = config.share;
  params.span_rows = grid.span_rows;
  params.span_cols = grid.span_cols;
  params.weights_once = (kernel.swapped ? grid.span_cols : grid.span_rows) == 1;
  params.raster = config.raster;
  params.band_spans = Division(static_cast<uint32_t>(config.raster * grid.span_cols));
  params.band_height = Division(static_cast<uint32_t>(config.raster));
  const int left = grid.span_rows % config.raster;
  params.last_height = Division(static_cast<uint32_t>(left ? left : config.raster));
  params.clusters = grid.clusters;
  params.whole_rounds = grid.whole_rounds;
  params.units_each = grid.units_each;
  params.units_extra = grid.units_extra;
  if (grid.cut_spans == 0) return;
  params.counters = static_cast<uint64_t*>(workspace);
  params.partials = reinterpret_cast<float*>(static_cast<unsigned char*>(workspace) +
                                             counter_bytes(grid, kernel));
  params.tag = new_tag();
}

}  // namespace

Fp8GemmConfig fp8_gemm_config(const Fp8GemmArgs& args) {
  return args.config ? *args.config : choose_fp8_gemm(shape_of(args));
}

size_t fp8_gemm_workspace_bytes(const Fp8GemmArgs& args) {
  if (args.m == 0 || args.n == 0) return 0;
  const Fp8GemmConfig config = fp8_gemm_config(args);
  if (!check_fp8_gemm_config(config, shape_of(args))) return 0;  // the launch says why not
  const Fp8GemmGrid grid = lay_out(config, shape_of(args));
  if (grid.cut_spans == 0) return 0;
  const Fp8Kernel& kernel = fp8_kernels()[static_cast<size_t>(config.kernel)];
  return counter_bytes(grid, kernel) + partial_bytes(grid, kernel);
}

Expected<void> launch_fp8_gemm(const Fp8GemmKernels& kernels, const Fp8GemmArgs& args,
                               void* workspace, Stream stream) {
  if (args.m == 0 || args.n == 0) return {};
  const Fp8GemmConfig config = fp8_gemm_config(args);
  NRD_TRY(check(args, config));
  const Fp8Kernel& kernel = fp8_kernels()[static_cast<size_t>(config.kernel)];
  Fp8GemmLaunch call{.kernel = config.kernel, .overlap = config.overlap, .params = {}};
  set_grid(lay_out(config, shape_of(args)), config, kernel, workspace, call.params);
  set_output(args, call.params);
  set_sides(args, kernel, call.params);
  NRD_TRY(encode_maps(kernels, args, kernel, call.params));
  return check("fp8_gemm kernel launch", kernels.launch(call, stream));
}

std::string fp8_gemm_numerics(const Fp8GemmArgs& args) {
  const Fp8GemmConfig config = fp8_gemm_config(args);
  if (const auto valid = check_fp8_gemm_config(config, shape_of(args)); !valid)
    return valid.error().message();
  const bool is_fast = fp8_kernels()[static_cast<size_t>(config.kernel)].sums == Fp8Sums::kFast;
  const Fp8GemmGrid grid = lay_out(config, shape_of(args));
  std::string text = is_fast ? "fast" : "promoted every 128";
  if (grid.cut_spans > 0)
    text += fmt::format(", the last {} tiles cut every {} blocks of k",
                        grid.cut_spans * grid.cluster, grid.units_each);
  return text;
}

std::string fp8_gemm_note(const Fp8GemmArgs& args) {
  const Fp8GemmConfig config = fp8_gemm_config(args);
  if (const auto valid = check_fp8_gemm_config(config, shape_of(args)); !valid)
    return valid.error().message();
  const Fp8Kernel& kernel = fp8_kernels()[static_cast<size_t>(config.kernel)];
  std::string text = fmt::format("wgmma, {}x{} tiles{}, {} stages", kernel.rows, kernel.cols,
                                 kernel.swapped ? " of the transposed" : "", kernel.stages);
  if (config.share != Fp8Share::kNothing)
    text +=
        fmt::format(", cluster 2 shares {}", config.share == Fp8Share::kRows ? "rows" : "columns");
  if (config.cut_rounds) text += fmt::format(", {} rounds cut along k", config.cut_rounds);
  return text;
}

}  // namespace nrd::cuda
