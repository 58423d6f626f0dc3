// SPDX-License-Identifier: MIT
// src/gemm/product.cpp: prepares a product: cuts, blocks, code, workspace.
#include "gemm/product.h"

#include <fmt/format.h>

#include <algorithm>

namespace nrd::gemm {
namespace {

constexpr size_t kAlignment = 64;

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Expected<void> check_dtype(const char* name, DType dtype) {
  if (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "gemm",
                     .argument = name,
                     .got = std::string(word(dtype)),
                     .allowed = "f32, f16, bf16"});
}

}  // namespace

Expected<Product> Product::make(const ProductDesc& desc, const jit::Target& target,
                                const DeviceProfile& profile, std::optional<Blocking> blocking) {
  NRD_TRY(check_dtype("a", desc.a));
  NRD_TRY(check_dtype("b", desc.b));
  NRD_TRY(check_epilogue(desc.epilogue));
  Expected<const Family*> family = find_family(target, desc.numerics);
  if (!family) return family.error();
  Product product;
  product.desc_ = desc;
  product.desc_.epilogue.is_contiguous = desc.c_column == 1 || desc.n <= 1;
  product.family_ = *family;
  product.rows_ = Cut::even(desc.m, (*family)->rows);
  product.columns_ = Cut::full(desc.n, (*family)->columns());
  // An epilogue that reads a matrix may read C itself.
  const Epilogue& epilogue = product.desc_.epilogue;
  product.partials_lie_in_c_ =
      epilogue.out == DType::kF32 && epilogue.is_contiguous && !epilogue.reads_matrix();
  product.reads_a_directly_ = desc.m == 1 && desc.a == DType::kF32 && desc.a_column == 1;
  product.blocking_ = choose_blocking(
      {desc.m, desc.n, desc.k, desc.is_packed, !product.partials_lie_in_c_}, **family, profile);
  if (blocking) product.blocking_ = *blocking;
  NRD_TRY(product.make_kernels(target));
  product.lay_out_workspace(profile);
  return product;
}

Expected<void> Product::make_kernels(const jit::Target& target) {
  if (desc_.m == 0 || desc_.n == 0) return {};
  Expected<Packer> pack_a = Packer::make(target, desc_.a, desc_.a_column, desc_.a_row, rows_, 0);
  if (!pack_a) return pack_a.error();
  pack_a_ = *pack_a;
  if (!desc_.is_packed) {
    Expected<Packer> pack_b =
        Packer::make(target, desc_.b, desc_.b_row, desc_.b_column, columns_, family_->columns());
    if (!pack_b) return pack_b.error();
    pack_b_ = *pack_b;
  }
  for (size_t narrow : {0, 1}) {
    for (size_t last : {0, 1}) {
      MicroKernelSpec spec = {&target,          family_, narrow ? rows_.narrow : rows_.wide,
                              family_->vectors, false,   desc_.epilogue};
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

// kGroups: all steps of A's outer part; a group of B's panels and of partial results for each
// thread. kBlocks: a block of each, packed and used by all threads together.
void Product::lay_out_workspace(const DeviceProfile& profile) {
  const bool is_by_groups = blocking_.order == LoopOrder::kGroups;
  const auto width = static_cast<size_t>(family_->columns());
  const auto rows = static_cast<size_t>(blocking_.a_outer * family_->rows);
  const auto b_panels = static_cast<size_t>(blocking_.b_block);
  const auto k_blocks = static_cast<size_t>((desc_.k + blocking_.k - 1) / blocking_.k);
  // Every panel of A has a vector of its own behind it, which packing may overwrite.
  size_t a_bytes = rows * static_cast<size_t>(blocking_.k) * 4 +
                   static_cast<size_t>(blocking_.a_outer) * kAlignment;
  if (is_by_groups) a_bytes *= k_blocks;
  if (reads_a_directly_) a_bytes = 0;
  const size_t b_bytes =
      desc_.is_packed ? 0 : b_panels * width * static_cast<size_t>(blocking_.k) * 4;
  const bool needs_partials = k_blocks > 1 && !partials_lie_in_c_;
  const size_t partial_bytes = needs_partials ? rows * b_panels * width * 4 : 0;
  layout_.slots = align_up(a_bytes);
  layout_.partial = align_up(b_bytes);
  layout_.slot_bytes = layout_.partial + align_up(partial_bytes);
  layout_.slot_count = is_by_groups ? std::max(profile.cores, 1) : 1;
  workspace_bytes_ = layout_.slots + layout_.slot_bytes * static_cast<size_t>(layout_.slot_count);
}

}  // namespace nrd::gemm
