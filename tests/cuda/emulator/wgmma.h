// SPDX-License-Identifier: MIT
// tests/cuda/emulator/wgmma.h: the emulated twin of ptx/wgmma.cuh.
//
// A product is one of the whole warpgroup: it is executed when all 128 threads have issued it, at
// once or when one of them waits for its group, in the order of issue. Until then neither its
// tiles may be overwritten nor its sums touched, and under a seed that delays it both show. The
// descriptor is decoded as the hardware does. Sums are those of f32: Hopper's shorter accumulator
// is not modelled.
#pragma once

#include "emulator/mbarrier.h"

namespace nrd::cuda::emulator {

void wgmma_fence();
void wgmma_issue(float* d, int columns, uint64_t a, uint64_t b, bool accumulate);
void wgmma_commit();
void wgmma_wait(int groups);

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

struct TileDescriptor {
  uint64_t bits;
};

inline TileDescriptor describe_tile(const void* tile) {
  const uint64_t address = shared_address(tile);
  return {(address & 0x3ffff) >> 4 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62};
}
inline TileDescriptor advance(TileDescriptor tile, int bytes) {
  return {tile.bits + static_cast<uint64_t>(int64_t{bytes / 16})};
}

// In front of every group. `.sync.aligned`: the lanes of a warp come together, and what a warp does
// together reaches shared memory in the order of its instructions: a lane may give back what others
// have read before.
inline void wgmma_fence(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("wgmma_fence", place)) emulator::wgmma_fence();
}
inline void wgmma_commit() { emulator::wgmma_commit(); }
template <int kGroups>
inline void wgmma_wait(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("wgmma_wait", place)) emulator::wgmma_wait(kGroups);
}

template <int N>
inline void wgmma_e4m3(float (&d)[N / 2], TileDescriptor a, TileDescriptor b, bool accumulate) {
  static_assert(N >= 8 && N <= 256 && N % 8 == 0);
  emulator::wgmma_issue(d, N, a.bits, b.bits, accumulate);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
