// SPDX-License-Identifier: MIT
// src/ops/round_to.cpp: round_to of the definitions, one external function in every build.
#include "ops/round_to.h"

#include "base/convert.h"

namespace {

thread_local double rounding_nudge = 0;
thread_local uint64_t sign_pattern = 0, roundings = 0;

double next_nudge() {
  if (sign_pattern == 0) return rounding_nudge;
  uint64_t x = sign_pattern + 0x9e3779b97f4a7c15ull * ++roundings;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x >> 63 ? rounding_nudge : -rounding_nudge;
}

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
  return nrd::round_through(x * (1.0 + next_nudge()), dtype, nrd::Overflow::kSaturate);
}

namespace nrd {

void set_rounding_nudge(double relative, uint64_t pattern) {
  rounding_nudge = relative;
  sign_pattern = pattern;
  roundings = 0;
}

}  // namespace nrd
