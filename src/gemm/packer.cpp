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

Expected<Packer> Packer::make(const jit::Target& target, DType dtype, int64_t along_k,
                              int64_t across, const Cut& cut, int step) {
  Packer packer;
  packer.cut_ = cut;
  const auto size = static_cast<int64_t>(byte_size(dtype));
  packer.along_k_ = along_k * size;
  packer.across_ = across * size;
  PackSpec spec = {&target, dtype, PackSource::kStrided, 0, 0};
  if (across == 1) spec.source = PackSource::kAcross;
  if (along_k == 1) spec.source = PackSource::kAlongK;
  const auto code = [&](int width) {
    spec.width = width;
    spec.step = step > 0 ? step : width;
    return pack_kernel(spec);
  };
  if (cut.wide_panels > 0) {
    Expected<jit::Code::Entry> wide = code(cut.wide);
    if (!wide) return wide.error();
    packer.wide_ = *wide;
  }
  if (cut.panels > cut.wide_panels) {
    Expected<jit::Code::Entry> narrow = code(cut.narrow);
    if (!narrow) return narrow.error();
    packer.narrow_ = *narrow;
  }
  return packer;
}

void Packer::pack(const void* matrix, int64_t panel, int64_t k, int64_t steps, void* to) const {
  PackArgs args;
  args.helpers = jit::helper_table();
  args.from = static_cast<const char*>(matrix) + cut_.begin(panel) * across_ + k * along_k_;
  args.along_k = along_k_;
  args.across = across_;
  args.to = static_cast<float*>(to);
  args.steps = steps;
  (panel < cut_.wide_panels ? wide_ : narrow_)(&args);
}

}  // namespace nrd::gemm
