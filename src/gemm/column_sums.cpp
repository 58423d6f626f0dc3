// SPDX-License-Identifier: MIT
// src/gemm/column_sums.cpp: see column_sums.h. The micro-kernel of one row does it, at its own
// speed.
#include "gemm/column_sums.h"

#include <algorithm>
#include <array>

#include "jit/math.h"

namespace nrd::gemm {
namespace {

constexpr int64_t kSteps = 1024;  // of one call

constexpr auto kOffsets = [] {
  std::array<uint8_t, 4 * kSteps + 64> row{};
  row.fill(0x80);
  return row;
}();

}  // namespace

Expected<ColumnSums> ColumnSums::make(const jit::Target& target, const Family& family) {
  ColumnSums sums;
  if (!family.offsets()) return sums;
  sums.family_ = &family;
  MicroKernelSpec spec;
  spec.target = &target;
  spec.family = &family;
  spec.rows = spec.panel_rows = 1;
  spec.vectors = family.vectors;
  spec.a = family.offsets(DType::kI8) ? DType::kU8 : DType::kI8;
  spec.epilogue.out = DType::kI32;
  Expected<jit::Code::Entry> kernel = micro_kernel(spec);
  if (!kernel) return kernel.error();
  sums.kernel_ = *kernel;
  return sums;
}

void ColumnSums::run(const void* panel, int64_t steps, int32_t* sums) const {
  if (kernel_ == nullptr) return;
  MicroKernelArgs args;
  args.helpers = jit::helper_table();
  args.a = kOffsets.data();
  args.b = args.prefetch = panel;
  args.c = args.partial = sums;
  args.announced_c = sums;
  args.is_last = 0;
  int64_t done = 0;
  do {
    args.steps = std::min(steps - done, kSteps);
    args.is_first = done == 0;
    kernel_(&args);
    done += args.steps;
    args.b = args.prefetch =
        static_cast<const char*>(panel) + done * family_->columns() * family_->step_bytes();
  } while (done < steps);
}

}  // namespace nrd::gemm
