// SPDX-License-Identifier: MIT
// src/cuda/launch/traffic.cpp
#include "cuda/launch/traffic.h"

#include <algorithm>

namespace nrd::cuda {

size_t read_blocks(size_t bytes, const TrafficConfig& config) {
  if (config.blocks > 0) return static_cast<size_t>(config.blocks);
  const size_t block = static_cast<size_t>(config.vectors) * config.threads * 16;
  return std::max<size_t>(1, (bytes + block - 1) / block);
}

}  // namespace nrd::cuda
