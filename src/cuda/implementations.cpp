// SPDX-License-Identifier: MIT
// src/cuda/implementations.cpp: every family, best first. A new one is added here.
#include "cuda/operation.h"

namespace nrd::cuda {

extern const Implementation kElements, kFp8Dequantize, kFp8Gemm, kFp8Quantize, kGlue, kNormRope,
    kNormRopeBackward, kRowStatistics;

std::span<const Implementation* const> implementations() {
  static constexpr const Implementation* kAll[] = {
      &kElements, &kFp8Gemm,  &kFp8Quantize,      &kFp8Dequantize,
      &kGlue,     &kNormRope, &kNormRopeBackward, &kRowStatistics};
  return kAll;
}

}  // namespace nrd::cuda
