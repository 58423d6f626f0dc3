// SPDX-License-Identifier: MIT
// tests/cuda/emulator_copies_test.cpp: emulated TMA between the blocks of a cluster: boxes are
// clipped, and what is used again or left too early shows.
#include <gtest/gtest.h>

#include <cstring>

#include "cuda/launch/launch.cuh"
#include "cuda/ptx/cluster.cuh"
#include "cuda/ptx/tma.cuh"
#include "emulator_check.h"

namespace nrd::cuda::emulated {
namespace {

using EmulatedCopies = EmulatorTest;

// Two blocks; each loads half of a tile for both, adds 1 and stores the whole at its own place.
template <bool kWaitsForRead>
__global__ void multicast_kernel(const __grid_constant__ TensorMap from,
                                 const __grid_constant__ TensorMap to, int y) {
  unsigned char* tile = shared_memory();
  auto* full = reinterpret_cast<Barrier*>(tile + 16 * 128);
  const auto rank = static_cast<int>(cluster_rank());
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    mbarrier_init_fence();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect(full, 16 * 128);
    tma_load_multicast(tile + rank * 8 * 128, &from, full, -3, y + rank * 8, 3);
  }
  mbarrier_wait(full, 0, "all", 0);
  for (unsigned i = threadIdx.x; i < 16 * 128; i += blockDim.x) tile[i]++;
  fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_store(&to, tile, 0, 16 * rank, L2Keep::kNormal);
    tma_store_commit();
    if (kWaitsForRead) tma_store_wait_read<0>();
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 16 * 128; i += blockDim.x) tile[i] = 0xee;
  if (!kWaitsForRead && threadIdx.x == 0) tma_store_wait_read<0>();
  cluster_sync();
}

template <bool kWaitsForRead>
bool boxes_are_right() {
  constexpr int kWidth = 112, kHeight = 13, kOutWidth = 80, kOutHeight = 27;
  alignas(16) static unsigned char x[kHeight * kWidth];
  alignas(16) static unsigned char out[kOutHeight * 96];
  for (int i = 0; i < kHeight * kWidth; i++) x[i] = static_cast<unsigned char>(i * 31 + i / 112);
  std::memset(out, 0xaa, sizeof out);
  const TensorMap from = *emulator::encode_matrix_map({.base = x,
                                                       .width = kWidth,
                                                       .height = kHeight,
                                                       .row_bytes = kWidth,
                                                       .box_width = 128,
                                                       .box_height = 8});
  const TensorMap to = *emulator::encode_matrix_map({.base = out,
                                                     .width = kOutWidth,
                                                     .height = kOutHeight,
                                                     .row_bytes = 96,
                                                     .box_width = 128,
                                                     .box_height = 16});
  const int y = 1;
  if (!ended(launch(multicast_kernel<kWaitsForRead>,
                    {.grid = 2, .block = 64, .shared_bytes = 16 * 128 + 8, .cluster = 2}, from, to,
                    y)))
    return false;
  for (int row = 0; row < kOutHeight; row++) {
    for (int column = 0; column < 96; column++) {
      const int from_row = row % 16 + y, from_column = column - 3;
      const bool inside = from_row < kHeight && from_column >= 0;
      int expected = 1 + (inside ? x[from_row * kWidth + from_column] : 0);
      if (column >= kOutWidth) expected = 0xaa;
      if (out[row * 96 + column] != static_cast<unsigned char>(expected)) return false;
    }
  }
  return true;
}

TEST_F(EmulatedCopies, CopiesBoxesAndClipsThem) {
  EXPECT_EQ(count_right(boxes_are_right<true>), kSeeds);
}
TEST_F(EmulatedCopies, ShowsAStoreBufferThatIsUsedAgainTooEarly) {
  EXPECT_EQ(count_right(boxes_are_right<false>), 0);
}

TEST_F(EmulatedCopies, RefusesMapsThatTheDriverRefuses) {
  MatrixMapSpec spec = {
      .base = nullptr, .width = 64, .height = 8, .row_bytes = 64, .box_width = 64, .box_height = 8};
  EXPECT_TRUE(emulator::encode_matrix_map(spec));
  spec.row_bytes = 72;
  EXPECT_FALSE(emulator::encode_matrix_map(spec));
  spec.row_bytes = 64;
  spec.box_width = 256;
  EXPECT_FALSE(emulator::encode_matrix_map(spec));
  spec.box_width = 64;
  spec.box_height = 257;
  EXPECT_FALSE(emulator::encode_matrix_map(spec));
}

__global__ void never_waits_kernel(const __grid_constant__ TensorMap to) {
  tma_store(&to, shared_memory(), 0, 0, L2Keep::kNormal);
  tma_store_commit();
}

TEST_F(EmulatedCopies, CatchesAStoreThatIsNotWaitedFor) {
  alignas(16) unsigned char out[8 * 128] = {};
  const TensorMap map = *emulator::encode_matrix_map({.base = out,
                                                      .width = 128,
                                                      .height = 8,
                                                      .row_bytes = 128,
                                                      .box_width = 128,
                                                      .box_height = 8});
  EXPECT_EQ(launch(never_waits_kernel, {.shared_bytes = 1024}, map), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(emulator::take_report(), "did not wait for its bulk stores"));
}

// The first block ends before the second arrives at its barrier.
__global__ void leaves_early_kernel() {
  auto* barrier = shared_memory<Barrier>();
  mbarrier_init(barrier, 1);
  cluster_sync();
  if (cluster_rank() == 1) {
    for (int i = 0; i < 10; i++) __nanosleep(1);
    mbarrier_arrive_at(barrier, 0);
  }
}

TEST_F(EmulatedCopies, CatchesABlockThatLeavesTooEarly) {
  EXPECT_EQ(launch(leaves_early_kernel, {.grid = 2, .shared_bytes = 8, .cluster = 2}),
            cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(emulator::take_report(), "of a block that has ended"));
}

}  // namespace
}  // namespace nrd::cuda::emulated
