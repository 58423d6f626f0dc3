// SPDX-License-Identifier: MIT
// src/cuda/implementations.cpp: every family, best first. A new one is added here.
#include "cuda/operation.h"

namespace nrd::cuda {

extern const Implementation kFp8Quantize, kFp8Dequantize;

std::span<const Implementation* const> implementations() {
  static constexpr const Implementation* kAll[] = {&kFp8Quantize, &kFp8Dequantize};
  return kAll;
}

}  // namespace nrd::cuda
