// SPDX-License-Identifier: MIT
// src/gemm/packer.cpp: see packer.h.
#include "gemm/packer.h"

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
  NRD_TRY(packer.make_code(target, a, 0));
  return packer;
}

Expected<Packer> Packer::of_b(const jit::Target& target, const Family& family, const Side& b,
                              const Cut& columns) {
  Packer packer;
  packer.family_ = &family;
  packer.cut_ = columns;
  packer.groups_ = {b.dtype, family.element, family.group, family.part_columns(), 0, false};
  packer.parts_ = family.columns() / family.part_columns();
  NRD_TRY(packer.make_code(target, b, family.columns()));
  return packer;
}

// `step` 0: a panel is as wide as its cut; else every panel has that step.
Expected<void> Packer::make_code(const jit::Target& target, const Side& side, int step) {
  const auto size = static_cast<int64_t>(byte_size(side.dtype));
  along_k_ = side.along_k * size;
  across_ = side.across * size;
  k_ = side.k;
  if (family_->arithmetic != Arithmetic::kFma) return {};
  PackSpec spec = {&target, side.dtype, PackSource::kStrided, 0, 0};
  if (side.across == 1) spec.source = PackSource::kAcross;
  if (side.along_k == 1) spec.source = PackSource::kAlongK;
  const auto code = [&](int width) {
    spec.width = width;
    spec.step = step > 0 ? step : width;
    return pack_kernel(spec);
  };
  if (cut_.wide_panels > 0) {
    Expected<jit::Code::Entry> wide = code(cut_.wide);
    if (!wide) return wide.error();
    wide_ = *wide;
  }
  if (cut_.panels > cut_.wide_panels) {
    Expected<jit::Code::Entry> narrow = code(cut_.narrow);
    if (!narrow) return narrow.error();
    narrow_ = *narrow;
  }
  return {};
}

void Packer::pack(const void* matrix, int64_t panel, int64_t first, int64_t steps, void* to,
                  int32_t* sums) const {
  const int64_t k = first * family_->depth;
  const char* from = static_cast<const char*>(matrix) + cut_.begin(panel) * across_ + k * along_k_;
  if (wide_ != nullptr || narrow_ != nullptr) {
    PackArgs args;
    args.helpers = jit::helper_table();
    args.from = from;
    args.along_k = along_k_;
    args.across = across_;
    args.to = static_cast<float*>(to);
    args.steps = steps;
    (panel < cut_.wide_panels ? wide_ : narrow_)(&args);
    return;
  }
  GroupPanel groups = groups_;
  groups.valid = cut_.width(panel);
  if (groups.width == 0) groups.width = panel_rows(*family_, cut_, panel);
  if (parts_ > 1) {
    return pack_parts(groups, from, k_ - k, steps, static_cast<char*>(to));
  }
  const int64_t count = steps * family_->depth / groups.group;
  pack_groups(groups, from, along_k_, across_, k_ - k, count, to);
  if (sums != nullptr) {
    sum_columns(static_cast<const int8_t*>(to), groups.width, groups.group, count,
                family_->offset_factor(), sums);
  }
}

// Step by step, each part of the columns apart.
void Packer::pack_parts(const GroupPanel& whole, const char* from, int64_t k, int64_t steps,
                        char* to) const {
  const int64_t count = family_->depth / whole.group;
  for (int64_t s = 0; s < steps; s++) {
    for (int part = 0; part < parts_; part++) {
      GroupPanel groups = whole;
      groups.valid = std::clamp(whole.valid - part * whole.width, 0, whole.width);
      const int64_t first = s * family_->depth;
      pack_groups(groups, from + first * along_k_ + part * whole.width * across_, along_k_, across_,
                  k - first, count, to);
      to += count * whole.width * whole.group * family_->element;
    }
  }
}

}  // namespace nrd::gemm
