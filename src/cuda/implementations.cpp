// SPDX-License-Identifier: MIT
// src/cuda/implementations.cpp: every family, best first. A new one is added here.
#include "cuda/operation.h"

namespace nrd::cuda {

std::span<const Implementation* const> implementations() {
  static const std::span<const Implementation* const> all;
  return all;
}

}  // namespace nrd::cuda
