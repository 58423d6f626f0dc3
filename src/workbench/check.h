// SPDX-License-Identifier: MIT
// src/workbench/check.h: AccuracyChecker: outputs against the reference, a verdict with figures.
#pragma once

#include <string>

#include "workbench/reference.h"
#include "workbench/runner.h"

namespace nrd {

struct Verdict {
  bool ok = false;
  std::string reason;  // why not, in one sentence
  double max_abs = 0;
  double max_rel = 0;  // relative to |ref|, where ref is not tiny beside its row
  double l2_rel = 0;
  double ulp_p50 = 0;  // in units of the output dtype at the reference
  double ulp_p99 = 0;
  // Where a part was compared and the rest projected: the error of one element, beside the largest
  // of its row, that cannot have been missed. 0: nothing was projected.
  double finds = 0;
  std::string first_bad;  // "out[17]: got 0.5, expected 0.25 within 1e-4"
};

// The distance between neighbouring values of a dtype at x.
double unit_at(double x, DType dtype);

// An element passes if |y - ref| <= tolerance * max(1, largest |ref| of its row) + half a unit of
// the output dtype at ref. NaN and Inf must stand where the reference has them. And the relative
// L2 error of the whole must be small, so that zeros (or one constant) never pass because the
// values happen to be small.
Verdict check_outputs(const Case& c, const RunOutputs& outputs, const Reference& reference);

}  // namespace nrd
