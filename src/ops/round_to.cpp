// SPDX-License-Identifier: MIT
// src/ops/round_to.cpp: round_to of the definitions, one external function in every build.
#include "ops/round_to.h"

#include "base/convert.h"

namespace {

thread_local double rounding_nudge = 0;

bool keeps_all(nrd::DType dtype) { return dtype == nrd::DType::kF32 || dtype == nrd::DType::kF64; }

}  // namespace

// Not inlined even under LTO: the lifter knows the call by its name.
__attribute__((noinline)) float nrd_round_to_f32(float x, int type) {
  const auto dtype = static_cast<nrd::DType>(type);
  if (keeps_all(dtype)) return x;
  return static_cast<float>(
      nrd::round_through(static_cast<double>(x), dtype, nrd::Overflow::kSaturate));
}

__attribute__((noinline)) double nrd_round_to_f64(double x, int type) {
  const auto dtype = static_cast<nrd::DType>(type);
  if (keeps_all(dtype)) return x;
  return nrd::round_through(x * (1.0 + rounding_nudge), dtype, nrd::Overflow::kSaturate);
}

namespace nrd {

void set_rounding_nudge(double relative) { rounding_nudge = relative; }

}  // namespace nrd
