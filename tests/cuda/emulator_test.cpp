// SPDX-License-Identifier: MIT
// tests/cuda/emulator_test.cpp: the emulator runs right kernels and catches wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda/launch/launch.cuh"
#include "cuda/ptx/grid.cuh"
#include "emulator_check.h"

namespace nrd::cuda::emulated {
namespace {

using Emulator = EmulatorTest;

// Warps add up through shuffles, the block through shared memory, the grid through an atomic.
template <bool kHasBarrier>
__global__ void sum_kernel(const float* x, int n, float* sums) {
  float sum = 0;
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride)
    sum += x[i];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffff, sum, apart);
  auto* of_warps = shared_memory<float>();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  if (kHasBarrier) __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; w++) sum += of_warps[w];
    sums[blockIdx.x] = sum;
  }
}

template <bool kHasBarrier>
bool sums_are_right() {
  constexpr int kBlocks = 3, kCount = 1000;
  std::vector<float> x(kCount), sums(kBlocks);
  float expected = 0;
  for (int i = 0; i < kCount; i++) expected += x[static_cast<size_t>(i)] = static_cast<float>(i);
  return ended(launch(sum_kernel<kHasBarrier>, {.grid = kBlocks, .block = 128, .shared_bytes = 16},
                      x.data(), kCount, sums.data())) &&
         sums[0] + sums[1] + sums[2] == expected;
}

TEST_F(Emulator, ReducesABlock) { EXPECT_EQ(count_right(sums_are_right<true>), kSeeds); }

// A data race is one in any order of threads.
TEST_F(Emulator, ShowsAMissingBarrier) { EXPECT_EQ(count_right(sums_are_right<false>), 0); }

// Two neighbours exchange through shared memory; a shuffle does not order that.
template <bool kHasSync>
__global__ void exchange_kernel(int* out) {
  auto* words = shared_memory<int>();
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kHasSync)
    __syncwarp();
  else
    __shfl_sync(0xffffffff, 0, 0);
  out[threadIdx.x] = words[threadIdx.x ^ 1];
}

TEST_F(Emulator, ShufflesDoNotOrderMemory) {
  int out[32];
  const LaunchShape shape = {.block = 32, .shared_bytes = 128};
  EXPECT_EQ(launch(exchange_kernel<true>, shape, out), cudaSuccess);
  EXPECT_EQ(launch(exchange_kernel<false>, shape, out), cudaErrorLaunchFailure);
  const std::string report = emulator::take_report();
  EXPECT_TRUE(contains(report, "a data race: it ")) << report;
}

// Bytes of one word that different threads write are no race; the same byte is.
template <bool kSameByte>
__global__ void bytes_kernel() {
  shared_memory()[kSameByte ? threadIdx.x / 2 : threadIdx.x] = 1;
}

TEST_F(Emulator, TellsBytesOfAWordApart) {
  const LaunchShape shape = {.block = 32, .shared_bytes = 32};
  EXPECT_EQ(launch(bytes_kernel<false>, shape), cudaSuccess) << emulator::take_report();
  EXPECT_EQ(launch(bytes_kernel<true>, shape), cudaErrorLaunchFailure);
}

// Of a launch that may overlap the one in front.
template <bool kWaits>
__global__ void overlapping_kernel(float* x) {
  if (kWaits) wait_for_previous_kernel();
  x[threadIdx.x]++;
}

TEST_F(Emulator, ShowsGlobalMemoryThatIsTouchedTooEarly) {
  float x[32] = {};
  emulator::add_global_memory(x, sizeof x);
  const LaunchShape shape = {.block = 32, .overlaps = true};
  EXPECT_EQ(launch(overlapping_kernel<true>, shape, x), cudaSuccess) << emulator::take_report();
  EXPECT_EQ(launch(overlapping_kernel<false>, shape, x), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(emulator::take_report(), "before wait_for_previous_kernel"));
  emulator::remove_global_memory(x);
}

// Blocks that no cluster binds live at once under some seeds: one sees what another is about to do.
__global__ void neighbours_kernel(int* inside, int* seen) {
  if (threadIdx.x == 0) atomicAdd(inside, 1);
  __syncthreads();
  for (int i = 0; i < 20; i++) __nanosleep(20);
  if (threadIdx.x == 0) seen[blockIdx.x] = atomicAdd(inside, 0);
  __syncthreads();
  if (threadIdx.x == 0) atomicSub(inside, 1);
}

TEST_F(Emulator, ClustersLiveAtOnceUnderSeeds) {
  int most = 0;
  for (int seed = 0; seed < kSeeds; seed++) {
    emulator::set_seed(static_cast<uint64_t>(seed));
    int inside = 0, seen[8] = {};
    ASSERT_EQ(launch(neighbours_kernel, {.grid = 8, .block = 32}, &inside, seen), cudaSuccess)
        << emulator::take_report();
    for (int s : seen) most = std::max(most, s);
    if (seed == 0) {
      EXPECT_EQ(most, 1);
    }
  }
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 4);
}

__global__ void half_arrives_kernel() {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __shfl_sync(0x3, 1, 0);
}

TEST_F(Emulator, ReportsADeadlock) {
  EXPECT_EQ(launch(half_arrives_kernel, {.block = 34}), cudaSuccess);
  EXPECT_EQ(launch(half_arrives_kernel, {.block = 33}), cudaErrorLaunchTimeout);
  const std::string report = emulator::take_report();
  EXPECT_TRUE(contains(report,
                       "block (0,0,0) thread (0,0,0) and 31 behind it: block barrier 0, "
                       "where 32 of 33 threads have arrived"))
      << report;
  EXPECT_TRUE(contains(report, "thread (32,0,0): __shfl_sync, where lanes 0x2 of the mask 0x3"))
      << report;
}

__global__ void spins_kernel(const unsigned* flag) {
  while (*static_cast<const volatile unsigned*>(flag) == 0) __nanosleep(20);
}

TEST_F(Emulator, ReportsALoopThatWaitsForNothing) {
  unsigned flag = 0;
  EXPECT_EQ(launch(spins_kernel, {.block = 2}, &flag), cudaErrorLaunchTimeout);
  EXPECT_TRUE(contains(emulator::take_report(), "__nanosleep"));
}

__global__ void grid_barrier_kernel(unsigned* count, unsigned* order) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 1) order[blockIdx.x] = *count;
}

TEST_F(Emulator, RunsACooperativeGrid) {
  for (int seed = 0; seed < kSeeds; seed++) {
    emulator::set_seed(static_cast<uint64_t>(seed));
    unsigned count = 0, seen[5] = {};
    const LaunchShape shape = {.grid = 5, .block = 64, .cooperative = true};
    ASSERT_EQ(launch(grid_barrier_kernel, shape, &count, seen), cudaSuccess)
        << emulator::take_report();
    for (unsigned s : seen) EXPECT_EQ(s, 5u);
  }
  // Blocks that do not run at once wait for ever.
  unsigned count = 0, seen[5] = {};
  EXPECT_EQ(launch(grid_barrier_kernel, {.grid = 5, .block = 64}, &count, seen),
            cudaErrorLaunchTimeout);
  const LaunchShape too_large = {.grid = 1000, .block = 64, .cooperative = true};
  EXPECT_EQ(launch(grid_barrier_kernel, too_large, &count, seen),
            cudaErrorCooperativeLaunchTooLarge);
}

__global__ void grid_exchange_kernel(int* values, int* sums) {
  if (blockIdx.x == 2 && threadIdx.x > 3) return;
  values[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  emulator::grid_barrier();
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) sums[blockIdx.x] += values[i];
}

TEST_F(Emulator, HasABarrierOfTheGrid) {
  for (int seed = 0; seed < kSeeds; seed++) {
    emulator::set_seed(static_cast<uint64_t>(seed));
    int values[3 * 32] = {}, sums[3] = {};
    const LaunchShape shape = {.grid = 3, .block = 32, .cooperative = true};
    ASSERT_EQ(launch(grid_exchange_kernel, shape, values, sums), cudaSuccess)
        << emulator::take_report();
    for (int s : sums) EXPECT_EQ(s, 68);
  }
}

__global__ void touch_shared_kernel(int at, bool writes) {
  volatile unsigned char* memory = shared_memory();
  if (writes)
    memory[at] = 1;
  else
    static_cast<void>(memory[at]);
}

TEST_F(Emulator, CatchesAccessesOutsideSharedMemory) {
  EXPECT_EQ(launch(touch_shared_kernel, {.shared_bytes = 1000}, 999, true), cudaSuccess);
  EXPECT_EQ(launch(touch_shared_kernel, {.shared_bytes = 1000}, 1000, true),
            cudaErrorIllegalAddress);
  EXPECT_EQ(launch(touch_shared_kernel, {.shared_bytes = 1000}, -1, true), cudaErrorIllegalAddress);
  EXPECT_EQ(launch(touch_shared_kernel, {.shared_bytes = 1000}, 1024, false),
            cudaErrorIllegalAddress);
  EXPECT_TRUE(contains(emulator::take_report(), "byte 1024 of a shared memory of 1000 bytes"));
}

__global__ void misaligned_kernel(const float* x, float* y) {
  *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(x + 1);
}
__global__ void index_kernel(int at, float* y) {
  float registers[4] = {};
  registers[at] = 1;
  *y = registers[0] + registers[at / 2];
}

TEST_F(Emulator, CatchesMisalignedVectorsAndWrongIndices) {
  alignas(16) float x[8] = {}, y[4] = {};
  EXPECT_EQ(launch(misaligned_kernel, {}, static_cast<const float*>(x), y), cudaErrorLaunchFailure);
  std::string report = emulator::take_report();
  EXPECT_TRUE(contains(report, "is not a multiple of 16 at ")) << report;
  EXPECT_EQ(launch(index_kernel, {}, 4, y), cudaErrorLaunchFailure);
  report = emulator::take_report();
  EXPECT_TRUE(contains(report, "index 4 is outside the array at ")) << report;
}

TEST_F(Emulator, RefusesWrongShapes) {
  EXPECT_EQ(launch(touch_shared_kernel, {.grid = 0}, 0, false), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(touch_shared_kernel, {.block = 1025}, 0, false), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(touch_shared_kernel, {.shared_bytes = 228 * 1024}, 0, false),
            cudaErrorInvalidValue);
  EXPECT_EQ(launch(touch_shared_kernel, {.grid = 3, .cluster = 2}, 0, false),
            cudaErrorInvalidClusterSize);
}

}  // namespace
}  // namespace nrd::cuda::emulated
