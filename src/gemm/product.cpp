// SPDX-License-Identifier: MIT
// src/gemm/product.cpp: prepares a product: cuts, blocks, code, workspace.
#include "gemm/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nrd::gemm {
namespace {

constexpr size_t kAlignment = 64;

// More columns than these make packing A cheap: at 512 it costs 5 % of a product on two threads,
// which write what the other one has read, at 2048 1 %.
constexpr int64_t kMostColumnsUnpacked = 2048;
// L1 on x86: 64 sets of 64 bytes. A set has eight lines or more, and one is for B.
constexpr size_t kSets = 64, kSetBytes = 64;
constexpr int kMostInASet = 7;

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Whether a panel's rows find room in L1 side by side: those some KB apart compete for few sets.
bool fits_l1(int64_t row_bytes, int rows) {
  std::array<int, kSets> lines{};
  for (int r = 0; r < rows; r++) {
    const auto at = static_cast<size_t>(row_bytes) * static_cast<size_t>(r);
    if (++lines[at / kSetBytes % kSets] > kMostInASet) return false;
  }
  return true;
}

// One row is its own panel. Lanes of NEON's multiply-adds come from packed panels.
bool reads_a_as_it_lies(const ProductDesc& desc, const jit::Target& target, const Cut& rows) {
  if (desc.a != DType::kF32 || desc.a_column != 1 || desc.a_blocks.k_block > 0) return false;
  if (desc.m == 1) return true;
  return !target.has_lane_fma && desc.n <= kMostColumnsUnpacked &&
         fits_l1(desc.a_row * int64_t{sizeof(float)}, rows.wide);
}

// Whether B's rows can be read as they lie.
bool can_stream(const ProductDesc& desc, const Family& family) {
  const bool is_float = desc.b == DType::kF32 || desc.b == DType::kF16 || desc.b == DType::kBF16;
  return family.arithmetic == Arithmetic::kFma && is_float && !desc.is_packed &&
         desc.b_column == 1 && desc.a_blocks.k_block == 0 && desc.b_blocks.k_block == 0 &&
         desc.m <= most_stream_rows(family);
}

Expected<void> check_blocks(const Family& family, const ProductDesc& desc) {
  const bool has_blocks = desc.a_blocks.k_block > 0 || desc.b_blocks.k_block > 0;
  if (!has_blocks || family.arithmetic == Arithmetic::kFma) return {};
  return make_error(
      {.code = ErrorCode::kUnsupported,
       .op = "gemm",
       .argument = "scales",
       .got = "blocks in numerics class " + std::string(numerics_word(family.numerics)),
       .allowed = "plain"});
}

}  // namespace

double flops(const ProductDesc& desc) {
  return 2.0 * static_cast<double>(desc.m) * static_cast<double>(desc.n) *
         static_cast<double>(std::max<int64_t>(desc.k, 1));
}

Expected<Product> Product::make(const ProductDesc& desc, const jit::Target& target,
                                const DeviceProfile& profile, std::optional<Blocking> blocking) {
  NRD_TRY(check_epilogue(desc.epilogue));
  Expected<const Family*> family = find_family(target, profile.isa, desc.numerics);
  if (!family) return family.error();
  NRD_TRY(check_dtypes(**family, desc.a, desc.b));
  NRD_TRY(check_blocks(**family, desc));
  if (desc.epilogue.out == DType::kI32 && !(*family)->sums_integers()) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "gemm",
                       .argument = "c",
                       .got = "i32",
                       .allowed = "f32, f16, bf16"});
  }
  Product product;
  product.desc_ = desc;
  product.desc_.epilogue.is_contiguous = desc.c_column == 1 || desc.n <= 1;
  product.family_ = *family;
  product.rows_ = Cut::even(desc.m, (*family)->rows);
  product.columns_ = Cut::full(desc.n, (*family)->columns());
  // An epilogue that reads a matrix may read C itself.
  const Epilogue& epilogue = product.desc_.epilogue;
  const DType sums = (*family)->sums_integers() ? DType::kI32 : DType::kF32;
  product.partials_lie_in_c_ = epilogue.out == sums && epilogue.is_contiguous &&
                               !epilogue.reads_matrix() &&
                               (*family)->arithmetic != Arithmetic::kTile;
  product.reads_a_directly_ = reads_a_as_it_lies(desc, target, product.rows_);
  const Extents extents = {desc.m, desc.n, desc.k, desc.is_packed, !product.partials_lie_in_c_};
  product.blocking_ = can_stream(desc, **family) ? stream_blocking(extents, **family)
                                                 : choose_blocking(extents, **family, profile);
  if (blocking) product.blocking_ = *blocking;
  if (desc.m > 0 && desc.n > 0) {
    NRD_TRY(product.make_packers(target));
    NRD_TRY(product.make_kernels(target));
  }
  product.lay_out_workspace(profile);
  return product;
}

Expected<void> Product::make_packers(const jit::Target& target) {
  if (!reads_a_directly_) {
    const Side a = {desc_.a, desc_.a_column, desc_.a_row, desc_.k, desc_.a_blocks};
    Expected<Packer> pack_a = Packer::of_a(target, *family_, a, rows_);
    if (!pack_a) return pack_a.error();
    pack_a_ = *pack_a;
  }
  if (desc_.is_packed || is_streamed()) return {};
  const Side b = {desc_.b, desc_.b_row, desc_.b_column, desc_.k, desc_.b_blocks};
  Expected<Packer> pack_b = Packer::of_b(target, *family_, b, columns_);
  if (!pack_b) return pack_b.error();
  pack_b_ = *pack_b;
  Expected<ColumnSums> sums = ColumnSums::make(target, *family_);
  if (!sums) return sums.error();
  column_sums_ = *sums;
  return {};
}

Expected<void> Product::make_stream_kernels(const jit::Target& target) {
  stream_rows_ = Cut::even(desc_.m, kStreamRows);
  for (size_t narrow : {0, 1}) {
    StreamKernels& kernels = stream_kernels_[narrow];
    const int rows = narrow ? stream_rows_.narrow : stream_rows_.wide;
    if (rows == 0) continue;
    kernels.streams = streams_of(target, rows);
    Expected<jit::Code::Entry> group = stream_kernel({&target, desc_.b, rows, kernels.streams});
    if (!group) return group.error();
    Expected<jit::Code::Entry> one = stream_kernel({&target, desc_.b, rows, 1});
    if (!one) return one.error();
    kernels.group = *group, kernels.one = *one;
  }
  return {};
}

Expected<void> Product::make_kernels(const jit::Target& target) {
  if (is_streamed()) NRD_TRY(make_stream_kernels(target));
  if (family_->arithmetic == Arithmetic::kTile) {
    Expected<jit::Code::Entry> configure = tile_configure(target, false);
    if (!configure) return configure.error();
    Expected<jit::Code::Entry> release = tile_configure(target, true);
    if (!release) return release.error();
    configure_tiles_ = *configure;
    release_tiles_ = *release;
    tiles_ = tile_config(rows_.wide);
  }
  for (size_t narrow : {0, 1}) {
    for (size_t last : {0, 1}) {
      MicroKernelSpec spec;
      spec.target = &target;
      spec.family = family_;
      spec.rows = narrow ? rows_.narrow : rows_.wide;
      spec.panel_rows = panel_rows(*family_, rows_, narrow ? rows_.panels - 1 : 0);
      spec.reads_rows = reads_a_directly_;
      spec.a = desc_.a;
      spec.prefetch_lines = tile_prefetch_lines();
      spec.announces_to_l2 = configure_tiles_ == nullptr && rows_.panels > 1;
      spec.epilogue = desc_.epilogue;
      const int width = last ? columns_.narrow : columns_.wide;
      const bool is_used = (narrow ? rows_.panels > rows_.wide_panels : rows_.wide_panels > 0) &&
                           (last ? columns_.narrow > 0 : columns_.wide_panels > 0);
      if (!is_used) continue;
      spec.vectors = (width + family_->lanes - 1) / family_->lanes;
      spec.has_tail = width % family_->lanes != 0;
      Expected<jit::Code::Entry> kernel = micro_kernel(spec);
      if (!kernel) return kernel.error();
      kernels_[narrow][last] = *kernel;
    }
  }
  return {};
}

// Lines of B that each step of a tile announces: all of them in as many passes as A has panels.
int Product::tile_prefetch_lines() const {
  if (family_->arithmetic != Arithmetic::kTile) return 0;
  const int64_t lines = family_->columns() * family_->step_bytes() / 64;
  const int64_t passes = std::min(blocking_.a_block, rows_.panels);
  return static_cast<int>((lines + passes - 1) / passes);
}

// Every panel of A has a vector of its own behind it, which packing may overwrite.
int64_t Product::a_panel_bytes() const {
  return panel_rows(*family_, rows_, 0) * blocking_.k * family_->step_bytes() +
         static_cast<int64_t>(kAlignment);
}

int64_t Product::b_panel_bytes() const {
  const int64_t sums = family_->offsets() ? family_->columns() * 4 : 0;
  return blocking_.k * family_->columns() * family_->step_bytes() + sums;
}

// kGroups: all steps of A's outer part (and of B's); a group of B's panels and of partial results
// for each thread. kBlocks: a block of each, packed and used by all threads together.
void Product::lay_out_workspace(const DeviceProfile& profile) {
  const bool is_by_groups = blocking_.order == LoopOrder::kGroups;
  const auto b_panels = static_cast<size_t>(blocking_.b_block);
  const int64_t steps = family_->steps(desc_.k);
  const auto k_blocks = static_cast<size_t>((steps + blocking_.k - 1) / blocking_.k);
  auto a_bytes = static_cast<size_t>(blocking_.a_outer * a_panel_bytes());
  if (is_by_groups) a_bytes *= k_blocks;
  if (reads_a_directly_) a_bytes = 0;
  if (is_streamed()) {
    layout_.b = layout_.slots = layout_.own = align_up(a_bytes);
    const int64_t columns = blocking_.b_block * family_->columns();
    if (!partials_lie_in_c_)
      layout_.slot_bytes = align_up(static_cast<size_t>(desc_.m * columns * 4));
    layout_.own_stride = layout_.slot_bytes;
    layout_.own_count = std::max(profile.cores, 1);
    return;
  }
  const size_t b_bytes = has_packed_b() ? 0 : b_panels * static_cast<size_t>(b_panel_bytes());
  const auto outer_bytes =
      static_cast<size_t>(blocking_.b_outer * steps * family_->columns() * family_->step_bytes());
  layout_.keeps_partials = k_blocks > 1 && !partials_lie_in_c_;
  const auto tile = static_cast<size_t>(family_->rows * family_->columns() * 4);
  const int64_t a_panels = is_by_groups && has_packed_b() ? blocking_.a_block : blocking_.a_outer;
  const size_t partial_bytes =
      layout_.keeps_partials ? tile * static_cast<size_t>(a_panels) * b_panels : 0;
  // A tile that is finished in memory.
  const bool is_tiled = (family_->arithmetic == Arithmetic::kTile || desc_.epilogue.is_long()) &&
                        !layout_.keeps_partials && !partials_lie_in_c_;
  layout_.b = align_up(a_bytes);
  layout_.slots = layout_.b + align_up(outer_bytes);
  layout_.partial = align_up(b_bytes);
  const size_t shared_bytes = layout_.partial + align_up(partial_bytes);
  const size_t own_bytes = is_tiled ? align_up(tile) : 0;
  if (is_by_groups || is_tiled) layout_.own_count = std::max(profile.cores, 1);
  layout_.own = layout_.slots + shared_bytes;
  layout_.slot_bytes = shared_bytes + own_bytes;
  layout_.own_stride = is_by_groups ? layout_.slot_bytes : own_bytes;
}

size_t Product::workspace_bytes(int threads) const {
  const int most = layout_.own_count > 0 ? std::min(threads, layout_.own_count) : 1;
  return layout_.slots + layout_.slot_bytes + layout_.own_stride * static_cast<size_t>(most - 1);
}

}  // namespace nrd::gemm
