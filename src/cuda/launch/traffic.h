// SPDX-License-Identifier: MIT
// src/cuda/launch/traffic.h: a copy and a read as fast as we know how, the roofs of everything that
// only moves memory.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "cuda/operation.h"

namespace nrd::cuda {

// As enum Touch of ptx/memory.cuh, which the kernels are compiled for.
enum class TrafficHint : int { kOften, kOnce, kFirstOut };

struct TrafficConfig {
  int vectors = 4;  // of 16 bytes, in flight from each thread: 1, 2, 4 or 8
  int threads = 256;
  int blocks = 0;  // 0: as many as it takes. A copy of that many blocks steps through the whole
                   // array together; a read gives each block a slice of its own
  TrafficHint hint = TrafficHint::kOnce;
};

struct TrafficKernels {
  // Both pointers are multiples of 16.
  cudaError_t (*copy)(const void* from, void* to, size_t bytes, const TrafficConfig& config,
                      Stream stream);
  // The sum of the 32-bit words of each slice, the bytes behind the last whole word as one more;
  // `sums` has read_blocks() entries, or is null.
  cudaError_t (*read)(const void* from, size_t bytes, uint32_t* sums, const TrafficConfig& config,
                      Stream stream);
};

size_t read_blocks(size_t bytes, const TrafficConfig& config);

}  // namespace nrd::cuda
