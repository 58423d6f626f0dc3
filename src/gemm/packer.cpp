// SPDX-License-Identifier: MIT
// src/gemm/packer.cpp: see packer.h.
#include "gemm/packer.h"

#include <algorithm>
#include <array>

#include "jit/math.h"

namespace nrd::gemm {

Cut Cut::even(int64_t size, int most) {
  Cut cut;
  cut.panels = (size + most - 1) / most;
  if (cut.panels == 0) return cut;
  cut.narrow = static_cast<int>(size / cut.panels);
  cut.wide_panels = size % cut.panels;
  cut.wide = cut.narrow + 1;
  if (cut.wide_panels == 0) {  // all alike
    cut.wide = cut.narrow;
    cut.wide_panels = cut.panels;
  }
  return cut;
}

Cut Cut::full(int64_t size, int width) {
  Cut cut;
  cut.panels = (size + width - 1) / width;
  cut.wide_panels = size / width;
  cut.wide = width;
  cut.narrow = static_cast<int>(size % width);
  return cut;
}

int panel_rows(const Family& family, const Cut& rows, int64_t panel) {
  switch (family.arithmetic) {
    case Arithmetic::kTile: return rows.wide;  // one configuration of tiles serves all panels
    case Arithmetic::kMatrix: return (rows.width(panel) + 1) / 2 * 2;
    default: return rows.width(panel);
  }
}

Expected<Packer> Packer::of_a(const jit::Target& target, const Family& family, const Side& a,
                              const Cut& rows) {
  Packer packer;
  packer.family_ = &family;
  packer.cut_ = rows;
  const bool inverts = family.offsets(a.dtype);
  packer.groups_ = {a.dtype, family.element, family.depth, 0, 0, inverts};
  NRD_TRY(packer.make_code(target, a, {.inverts_top_bits = inverts}));
  return packer;
}

Expected<Packer> Packer::of_b(const jit::Target& target, const Family& family, const Side& b,
                              const Cut& columns) {
  Packer packer;
  packer.family_ = &family;
  packer.cut_ = columns;
  const int width = family.part_columns();
  packer.groups_ = {b.dtype, family.element, family.group, width, 0, false};
  packer.parts_ = family.columns() / width;
  NRD_TRY(packer.make_code(target, b, {.step = width}));
  return packer;
}

// `spec` says the step (0: a panel is as wide as its cut) and what happens to the bits.
Expected<void> Packer::make_code(const jit::Target& target, const Side& side,
                                 const PackSpec& given) {
  const auto size = static_cast<int64_t>(byte_size(side.dtype));
  along_k_ = side.along_k * size;
  across_ = side.across * size;
  k_ = side.k;
  blocks_ = side.blocks;
  PackSpec spec = given;
  spec.has_scale = blocks_.k_block > 0;
  spec.target = &target;
  if (family_->arithmetic == Arithmetic::kFma) {
    spec.dtype = side.dtype;
    if (side.across == 1) spec.source = PackSource::kAcross;
    if (side.along_k == 1) spec.source = PackSource::kAlongK;
    const int64_t vector = size * family_->lanes;
    if (side.along_k == 1 && across_ % vector == 0) vector_bytes_ = vector;
  } else {
    // Groups of four bytes that lie together move as words, others are joined to words.
    const bool is_word = groups_.group * groups_.element == 4;
    if (!is_word || family_->arithmetic == Arithmetic::kMatrix) return {};
    if (side.along_k == 1) {
      if (size != groups_.element) return {};
      spec.source = PackSource::kAlongK;
    } else if (side.across == 1 && size == 1) {  // compilers do well on pairs of 16 bits
      spec.source = PackSource::kGroups;
      spec.dtype = side.dtype;
      spec.group = groups_.group;
    } else {
      return {};
    }
  }
  const auto code = [&](int width) {
    spec.width = spec.step > 0 ? std::min(width, spec.step) : width;
    PackSpec one = spec;
    if (one.step == 0) one.step = width;
    return pack_kernel(one);
  };
  if (cut_.wide_panels > 0) {
    Expected<jit::Code::Entry> wide = code(cut_.wide);
    if (!wide) return wide.error();
    wide_ = *wide;
  }
  // The parts of a narrow panel differ in width; they are few.
  if (cut_.panels > cut_.wide_panels && parts_ == 1) {
    Expected<jit::Code::Entry> narrow = code(cut_.narrow);
    if (!narrow) return narrow.error();
    narrow_ = *narrow;
  }
  return {};
}

void Packer::pack(const void* matrix, int64_t panel, int64_t first, int64_t steps, void* to,
                  const float* scales) const {
  const int64_t k = first * family_->depth;
  const char* from = static_cast<const char*>(matrix) + cut_.begin(panel) * across_ + k * along_k_;
  if (blocks_.k_block > 0) {
    return pack_scaled(from, panel, first, steps, static_cast<char*>(to), scales);
  }
  if (family_->arithmetic == Arithmetic::kFma)
    return pack_aligned(from, panel, steps, static_cast<char*>(to));
  if (parts_ == 1) return pack_part(from, panel, 0, k_ - k, steps, static_cast<char*>(to));
  char* at = static_cast<char*>(to);
  for (int64_t s = 0; s < steps; s++) {
    for (int part = 0; part < parts_; part++) {
      pack_part(from + part * groups_.width * across_, panel, part, k_ - k - s * family_->depth, 1,
                at);
      at += groups_.width * family_->step_bytes();
    }
    from += family_->depth * along_k_;
  }
}

// Rows that lie along k and some KB apart compete for one set of L1: a line that two vectors share
// would be gone before the second one comes (1024 x 1024 f32: 24 GB/s, with whole lines 37). So a
// first part ends where vectors begin to be aligned, for all rows alike.
void Packer::pack_aligned(const char* from, int64_t panel, int64_t steps, char* to) const {
  const auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from));
  const int64_t beyond = vector_bytes_ > 0 ? at % vector_bytes_ : 0;
  const int64_t lead = beyond > 0 ? (vector_bytes_ - beyond) / along_k_ : 0;
  if (lead == 0 || lead >= steps) return run_code(from, panel, steps, to);
  const int64_t width = groups_.width > 0 ? groups_.width : cut_.width(panel);
  run_code(from, panel, lead, to);
  run_code(from + lead * along_k_, panel, steps - lead, to + lead * width * family_->step_bytes());
}

// Groups that are whole by code where there is some, the others element by element.
void Packer::pack_part(const char* from, int64_t panel, int part, int64_t k, int64_t steps,
                       char* to) const {
  GroupPanel groups = groups_;
  groups.valid = cut_.width(panel);
  if (groups.width == 0) groups.width = panel_rows(*family_, cut_, panel);
  if (parts_ > 1) groups.valid = std::clamp(groups.valid - part * groups.width, 0, groups.width);
  const int64_t count = steps * family_->depth / groups.group;
  const int64_t bytes = int64_t{groups.group} * groups.element;
  int64_t done = 0;
  if (panel < cut_.wide_panels ? wide_ != nullptr : narrow_ != nullptr) {
    done = std::clamp<int64_t>(k / groups.group, 0, count);
    if (done > 0) run_code(from, panel, done, to);
  }
  if (done == count) return;
  pack_groups(groups, from + done * groups.group * along_k_, along_k_, across_,
              k - done * groups.group, count - done, to + done * groups.width * bytes);
}

// Block of k by block of k, each with the factors of its rows or columns.
void Packer::pack_scaled(const char* from, int64_t panel, int64_t first, int64_t steps, char* to,
                         const float* scales) const {
  std::array<float, 64> factors{};
  const int width = cut_.width(panel);
  const int64_t step = (groups_.width > 0 ? groups_.width : width) * family_->step_bytes();
  for (int64_t k = first, end; k < first + steps; k = end) {
    const int64_t block = k / blocks_.k_block;
    end = std::min((block + 1) * blocks_.k_block, first + steps);
    for (int w = 0; w < width; w++) {
      const int64_t across = (cut_.begin(panel) + w) / blocks_.across_block;
      factors[static_cast<size_t>(w)] = scales[block * blocks_.along_k + across * blocks_.across];
    }
    run_code(from + (k - first) * along_k_, panel, end - k, to + (k - first) * step,
             factors.data());
  }
}

void Packer::run_code(const char* from, int64_t panel, int64_t count, void* to,
                      const float* factors) const {
  PackArgs args;
  args.helpers = jit::helper_table();
  args.from = from;
  args.along_k = along_k_;
  args.across = across_;
  args.to = static_cast<float*>(to);
  args.steps = count;
  args.scale = factors;
  args.scale_across = sizeof(float);
  (panel < cut_.wide_panels ? wide_ : narrow_)(&args);
}

}  // namespace nrd::gemm
