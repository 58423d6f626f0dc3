// SPDX-License-Identifier: MIT
// tests/cuda/emulator_products_test.cpp: emulated TMA, mbarriers, wgmma and mma.sync compute what
// they should, and show what is done too early.
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <vector>

#include "cuda/launch/launch.cuh"
#include "cuda/ptx/cp_async.cuh"
#include "cuda/ptx/ldmatrix.cuh"
#include "cuda/ptx/matrix.cuh"
#include "cuda/ptx/mma_sync.cuh"
#include "cuda/ptx/tma.cuh"
#include "cuda/ptx/warp.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "emulator_check.h"

namespace nrd::cuda::emulated {
namespace {

using EmulatedProducts = EmulatorTest;

// Small integers: every sum is exact.
std::vector<unsigned char> integer_codes(size_t count, unsigned seed) {
  std::vector<unsigned char> codes(count);
  for (size_t i = 0; i < count; i++) {
    const auto x = static_cast<float>(static_cast<int>((i * 7919 + seed * 104729) / 13 % 5) - 2);
    codes[i] = __nv_fp8_e4m3(x).__x;
  }
  return codes;
}
float value_of(unsigned char code) {
  __nv_fp8_e4m3 x;
  x.__x = code;
  return static_cast<float>(x);
}
std::vector<float> product_of(const std::vector<unsigned char>& a,
                              const std::vector<unsigned char>& b, int m, int n, int k) {
  std::vector<float> c(static_cast<size_t>(m) * static_cast<size_t>(n));
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; l < k; l++)
        sum += value_of(a[static_cast<size_t>(i * k + l)]) *
               value_of(b[static_cast<size_t>(j * k + l)]);
      c[static_cast<size_t>(i * n + j)] = sum;
    }
  }
  return c;
}
TensorMap code_map(const void* base, int rows, int k, int box_rows) {
  return *emulator::encode_matrix_map({.base = base,
                                       .width = static_cast<uint64_t>(k),
                                       .height = static_cast<uint64_t>(rows),
                                       .row_bytes = static_cast<uint64_t>(k),
                                       .box_width = 128,
                                       .box_height = static_cast<uint32_t>(box_rows)});
}

// One producer warp, one warpgroup, two stages of 128 of k; a[64, k], b[kN, k], c[64, kN]. The
// faults: a stage is released while a product may still read it; sums are read before the wait.
enum class Fault { kNone, kEarlyRelease, kEarlyRead, kWrongBytes };
constexpr int kN = 24, kStages = 2, kTileBytes = 128 * (64 + 32);

template <Fault kFault>
__global__ void product_kernel(const __grid_constant__ TensorMap a,
                               const __grid_constant__ TensorMap b, int blocks, float* c) {
  unsigned char* tiles = shared_memory();
  auto* full = reinterpret_cast<Barrier*>(tiles + kStages * kTileBytes);
  Barrier* empty = full + kStages;
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int s = 0; s < kStages; s++) {
      mbarrier_init(full + s, 1);
      mbarrier_init(empty + s, 4);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  if (thread >= 128) {
    if (!elect_one()) return;
    for (int i = 0; i < blocks; i++) {
      const int s = i % kStages;
      mbarrier_wait(empty + s, (i / kStages & 1) ^ 1, "producer", s);
      mbarrier_arrive_expect(full + s, 128 * (64 + kN) + (kFault == Fault::kWrongBytes));
      tma_load(tiles + s * kTileBytes, &a, full + s, i * 128, 0);
      tma_load(tiles + s * kTileBytes + 128 * 64, &b, full + s, i * 128, 0);
    }
    return;
  }
  float sums[kN / 2];
  const auto release = [&](int i) {
    __syncwarp();
    if (thread % 32 == 0) mbarrier_arrive(empty + i % kStages);
  };
  for (int i = 0; i < blocks; i++) {
    const int s = i % kStages;
    mbarrier_wait(full + s, i / kStages & 1, "consumer", s);
    wgmma_fence();
    const TileDescriptor tile_a = describe_tile(tiles + s * kTileBytes);
    const TileDescriptor tile_b = describe_tile(tiles + s * kTileBytes + 128 * 64);
    for (int k = 0; k < 128; k += 32)
      wgmma_e4m3<kN>(sums, advance(tile_a, k), advance(tile_b, k), i + k > 0);
    wgmma_commit();
    if (kFault == Fault::kEarlyRelease) release(i);
    wgmma_wait<1>();
    if (kFault != Fault::kEarlyRelease && i > 0) release(i - 1);
  }
  if (kFault != Fault::kEarlyRead) wgmma_wait<0>();
  const int row = thread / 32 * 16 + thread % 32 / 4;
  for (int j = 0; j < kN / 2; j++)
    c[(row + j % 4 / 2 * 8) * kN + j / 4 * 8 + thread % 4 * 2 + j % 2] = sums[j];
  if (kFault == Fault::kEarlyRead) wgmma_wait<0>();
}

template <Fault kFault>
cudaError_t run_product(int k, std::vector<float>& c, std::vector<float>& expected) {
  const auto a = integer_codes(64 * static_cast<size_t>(k), 1);
  const auto b = integer_codes(kN * static_cast<size_t>(k), 2);
  expected = product_of(a, b, 64, kN, k);
  c.assign(64 * kN, -1);
  return launch(product_kernel<kFault>,
                {.block = 160, .shared_bytes = kStages * kTileBytes + 2 * kStages * 8},
                code_map(a.data(), 64, k, 64), code_map(b.data(), kN, k, kN), (k + 127) / 128,
                c.data());
}
template <Fault kFault>
bool product_is_right() {
  std::vector<float> c, expected;
  for (int k : {128, 64, 1040}) {
    if (!ended(run_product<kFault>(k, c, expected)) || c != expected) return false;
  }
  return true;
}

TEST_F(EmulatedProducts, MultipliesSwizzledTiles) {
  EXPECT_EQ(count_right(product_is_right<Fault::kNone>), kSeeds);
}
TEST_F(EmulatedProducts, ShowsAStageThatIsReleasedTooEarly) {
  EXPECT_EQ(count_right(product_is_right<Fault::kEarlyRelease>), 0);
}
TEST_F(EmulatedProducts, ShowsSumsThatAreReadTooEarly) {
  EXPECT_LT(count_right(product_is_right<Fault::kEarlyRead>), kSeeds);
}
TEST_F(EmulatedProducts, SaysWhichBarrierWaitsForWhat) {
  std::vector<float> c, expected;
  EXPECT_EQ(run_product<Fault::kWrongBytes>(128, c, expected), cudaErrorLaunchTimeout);
  const std::string report = emulator::take_report();
  EXPECT_TRUE(contains(report,
                       "thread (0,0,0) and 127 behind it: consumer of stage 0: mbarrier at "
                       "byte 24576 of shared memory, parity 0; 0 of 1 arrivals and 1 bytes "
                       "are missing"))
      << report;
}

// c[16, 8] = a[16, 32] b[8, 32]^T by cp.async, ldmatrix and mma.sync.
template <bool kWaits>
__global__ void mma_kernel(const unsigned char* a, const unsigned char* b, float* c) {
  unsigned char* tile = shared_memory();
  const auto lane = static_cast<int>(threadIdx.x);
  // Row r of a in 32 bytes, then those of b; the last 8 rows stay zero.
  for (int i = lane; i < 64; i += 32) {
    const unsigned char* from = i < 32 ? a + 16 * i : b + 16 * (i - 32);
    cp_async_16(tile + 16 * i, from, i < 48 ? 16 : 0);
  }
  cp_async_commit();
  if (kWaits) cp_async_wait<0>();
  __syncwarp();
  uint32_t of_a[4], of_b[4];
  ldmatrix_x4(of_a, tile + (lane % 16) * 32 + lane / 16 * 16);
  ldmatrix_x4(of_b, tile + 512 + (lane % 8 + lane / 16 * 8) * 32 + lane / 8 % 2 * 16);
  float d[4] = {};
  mma_m16n8k32_e4m3(d, of_a, {of_b[0], of_b[1]});
  for (int i = 0; i < 4; i++) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
  if (!kWaits) cp_async_wait<0>();
}

template <bool kWaits>
bool mma_is_right() {
  const auto a = integer_codes(16 * 32, 3), b = integer_codes(8 * 32, 4);
  std::vector<float> c(16 * 8);
  return ended(launch(mma_kernel<kWaits>, {.block = 32, .shared_bytes = 1024}, a.data(), b.data(),
                      c.data())) &&
         c == product_of(a, b, 16, 8, 32);
}

TEST_F(EmulatedProducts, MultipliesFragments) {
  EXPECT_EQ(count_right(mma_is_right<true>), kSeeds);
}
TEST_F(EmulatedProducts, ShowsACopyThatIsNotWaitedFor) {
  EXPECT_EQ(count_right(mma_is_right<false>), 0);
}

// Each lane's fragment goes to shared memory and comes back by plain loads.
__global__ void matrix_kernel(uint16_t* plain, uint16_t* transposed) {
  auto* tile = shared_memory<uint16_t>();
  const auto lane = static_cast<int>(threadIdx.x);
  uint32_t r[4];
  for (int i = 0; i < 4; i++) {
    const auto element = static_cast<uint32_t>(64 * i + lane / 4 * 8 + lane % 4 * 2);
    r[i] = element | (element + 1) << 16;
  }
  store_matrices(tile + 8 * lane, r[0], r[1], r[2], r[3]);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) plain[i] = tile[i];
  __syncwarp();
  store_matrices_transposed(tile + 8 * lane, r[0], r[1], r[2], r[3]);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) transposed[i] = tile[i];
}

TEST_F(EmulatedProducts, StoresMatrices) {
  uint16_t plain[256], transposed[256];
  ASSERT_EQ(launch(matrix_kernel, {.block = 32, .shared_bytes = 512}, plain, transposed),
            cudaSuccess)
      << emulator::take_report();
  for (int i = 0; i < 256; i++) {
    EXPECT_EQ(plain[i], i);
    EXPECT_EQ(transposed[i], i / 64 * 64 + i % 8 * 8 + i / 8 % 8);
  }
}

}  // namespace
}  // namespace nrd::cuda::emulated
