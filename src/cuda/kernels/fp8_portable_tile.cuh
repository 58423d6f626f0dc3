// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_portable_tile.cuh: a block of 8 warps computes kTileM x 128 values of c.
//
// Work: block x is a tile of c (groups of 8 tile rows, so that the tiles in flight share rows of b
// in L2), block y a part of k. Warps stand 2 (rows) x 4 (columns); a warp owns kTileM/2 x 32
// values. Shared memory: a ring of kStages stages, each 128 of k of both operands, filled by
// cp.async while the stages before it are multiplied: 96 KB for both tiles, what sm_86 and sm_89
// allow. A row is 128 bytes, eight chunks of 16; chunk c of row r lies at c ^ (r % 8), so that the
// eight rows that ldmatrix reads at once hit all banks. Registers: the sums (64 a thread for 128
// rows), twice that where sums are promoted, and the fragments of 32 of k. Bound: products; on
// sm_80 half of the integer operations that widen codes come on top. Order of a sum: k in steps of
// 16 or 32 inside the tensor core; promoted: every 128 of k are summed apart, then added in f32 in
// the order of k. Tiles and threads do not change it.
#pragma once

#include "cuda/device/e4m3_fragments.cuh"
#include "cuda/kernels/fp8_portable_common.cuh"
#include "cuda/ptx/cp_async.cuh"
#include "cuda/ptx/ldmatrix.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kTileThreads = 256;
inline constexpr int kTileN = 128;
inline constexpr int kTileK = kScaleBlock;  // bytes of a row in a stage
inline constexpr int kChunk = 16;           // bytes of one cp.async and of one row of ldmatrix

template <int kTileM>
struct TileShape {
  static constexpr int kWarpRows = kTileM / 2;
  static constexpr int kWarpColumns = 32;
  static constexpr int kDown = kWarpRows / 16;  // fragments of a warp
  static constexpr int kAcross = kWarpColumns / 8;
  static constexpr int kStageBytes = (kTileM + kTileN) * kTileK;
  static constexpr int kStages = 96 * 1024 / kStageBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
};

struct TilePosition {
  int row, column;  // of c, of the tile's first value
};
template <int kTileM>
__device__ __forceinline__ TilePosition tile_position(const Fp8GemmArgs& args) {
  constexpr int kGroup = 8;
  const int down = static_cast<int>((args.m + kTileM - 1) / kTileM);
  const int across = static_cast<int>((args.n + kTileN - 1) / kTileN);
  const int tile = static_cast<int>(blockIdx.x);
  const int first = tile / (kGroup * across) * kGroup;
  const int height = min(kGroup, down - first);
  const int in_group = tile % (kGroup * across);
  return {(first + in_group % height) * kTileM, in_group / height * kTileN};
}

__device__ __forceinline__ unsigned char* chunk_address(unsigned char* tile, int row, int chunk) {
  return tile + row * kTileK + (chunk ^ (row % 8)) * kChunk;
}

// Starts the copy of kRows rows and 128 of k; what lies outside of the matrix becomes zero. Rows
// that are not aligned come through registers, to the same place.
template <int kRows>
__device__ __forceinline__ void fetch(unsigned char* tile, const void* matrix, int64_t stride,
                                      int first_row, int rows, int first_k, int k) {
  constexpr int kPerRow = kTileK / kChunk;
  const bool aligned = rows_aligned(matrix, stride);
  const int chunk = static_cast<int>(threadIdx.x) % kPerRow;
  const int at = first_k + chunk * kChunk;
  const int left = min(kChunk, max(0, k - at));
#pragma unroll
  for (int i = 0; i < kRows * kPerRow / kTileThreads; i++) {
    const int row = static_cast<int>(threadIdx.x) / kPerRow + i * (kTileThreads / kPerRow);
    const int bytes = first_row + row < rows ? left : 0;
    const char* from = static_cast<const char*>(matrix);
    if (bytes > 0) from += (first_row + row) * stride + at;
    unsigned char* to = chunk_address(tile, row, chunk);
    if (aligned) {
      cp_async_16(to, from, bytes);
    } else {
      uint32_t words[4];
      gather_codes(from, bytes, words);
      *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

template <int kTileM>
struct TileProduct {
  using Shape = TileShape<kTileM>;
  using Sums = float[Shape::kDown][Shape::kAcross][4];

  const Fp8GemmArgs& args;
  int m, n, k;
  TilePosition tile;
  KPart part;
  int lane, warp_row, warp_column;  // in the tile

  __device__ __forceinline__ explicit TileProduct(const Fp8GemmArgs& a)
      : args(a),
        m(static_cast<int>(a.m)),
        n(static_cast<int>(a.n)),
        k(static_cast<int>(a.k)),
        tile(tile_position<kTileM>(a)),
        part(part_of_k(a)) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    lane = static_cast<int>(threadIdx.x) % 32;
    warp_row = warp / 4 * Shape::kWarpRows;
    warp_column = warp % 4 * Shape::kWarpColumns;
  }

  __device__ __forceinline__ static unsigned char* stage(int index) {
    return shared_memory<>() + index % Shape::kStages * Shape::kStageBytes;
  }

  // The `index`-th block of the part; an empty group where there is none, so that counts stay even.
  __device__ __forceinline__ void fetch_block(int index) const {
    const int block = part.first + index;
    if (block < part.last) {
      unsigned char* to = stage(index);
      fetch<kTileM>(to, args.a, args.a_row, tile.row, m, block * kTileK, k);
      fetch<kTileN>(to + kTileM * kTileK, args.b, args.b_row, tile.column, n, block * kTileK, k);
    }
    cp_async_commit();
  }

  __device__ __forceinline__ void multiply_block(int index, Sums& sums) const {
    unsigned char* a_tile = stage(index);
    unsigned char* b_tile = a_tile + kTileM * kTileK;
#pragma unroll
    for (int step = 0; step < kTileK / 32; step++) {
      E4m3Fragments::A a[Shape::kDown];
      E4m3Fragments::B b[Shape::kAcross];
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < Shape::kDown; i++) {
        ldmatrix_x4(words,
                    chunk_address(a_tile, warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
        a[i] = E4m3Fragments::make_a(words);
      }
#pragma unroll
      for (int j = 0; j < Shape::kAcross; j += 2) {
        ldmatrix_x4(words, chunk_address(b_tile, warp_column + j * 8 + lane / 16 * 8 + lane % 8,
                                         step * 2 + lane / 8 % 2));
        b[j] = E4m3Fragments::make_b(words[0], words[1]);
        b[j + 1] = E4m3Fragments::make_b(words[2], words[3]);
      }
#pragma unroll
      for (int i = 0; i < Shape::kDown; i++)
#pragma unroll
        for (int j = 0; j < Shape::kAcross; j++) E4m3Fragments::multiply(sums[i][j], a[i], b[j]);
    }
  }

  // Rows of c that a thread has values of, two a fragment.
  __device__ __forceinline__ int row_of(int i, int half) const {
    return tile.row + warp_row + i * 16 + half * 8 + lane / 4;
  }
  __device__ __forceinline__ int column_of(int j) const {
    return tile.column + warp_column + j * 8 + lane % 4 * 2;
  }

  // Adds the sums of one block of k to the totals, with its scales, and clears them.
  __device__ __forceinline__ void promote(int index, Sums& sums, Sums& totals) const {
    const int block = part.first + index;
    const bool scaled = args.scales == Fp8Scales::kBlock;
    float b_scale = 1.0f;
    if (scaled)
      b_scale =
          args.b_scale[tile.column / kScaleBlock * args.b_scale_column + block * args.b_scale_k];
#pragma unroll
    for (int i = 0; i < Shape::kDown; i++) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float a_scale = 1.0f;
        if (scaled) {
          const int row = min(row_of(i, half), m - 1);
          a_scale = args.a_scale[row * args.a_scale_row + block * args.a_scale_k];
        }
#pragma unroll
        for (int j = 0; j < Shape::kAcross; j++) {
#pragma unroll
          for (int e = half * 2; e < half * 2 + 2; e++) {
            totals[i][j][e] += sums[i][j][e] * E4m3Fragments::kProductScale * a_scale * b_scale;
            sums[i][j][e] = 0.0f;
          }
        }
      }
    }
  }

  // To c, or as one part of a sum that another kernel completes.
  __device__ __forceinline__ void store_sums(const Sums& sums, float* parts) const {
    with_type(args.c_dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
#pragma unroll
      for (int j = 0; j < Shape::kAcross; j++) {
        const int column = column_of(j);
        if (column >= n) continue;
        const bool both = column + 1 < n;
        const int other = both ? column + 1 : column;
        const float factors[2] = {column_factor(args, column), column_factor(args, other)};
        const float biases[2] = {bias_of(args, column), bias_of(args, other)};
#pragma unroll
        for (int i = 0; i < Shape::kDown; i++) {
#pragma unroll
          for (int half = 0; half < 2; half++) {
            const int row = row_of(i, half);
            if (row >= m) continue;
            const float* pair = sums[i][j] + half * 2;
            if (parts != nullptr) {
              float* to = part_of_sum(args, parts, row, column);
              to[0] = pair[0];
              if (both) to[1] = pair[1];
              continue;
            }
            const float factor = row_factor(args, row);
            store_pair(static_cast<T*>(args.c) + row * args.c_row + column,
                       pair[0] * factor * factors[0] + biases[0],
                       pair[1] * factor * factors[1] + biases[1], both);
          }
        }
      }
    });
  }
};

template <int kTileM, bool kPromoted>
__global__ void __launch_bounds__(kTileThreads, 1)
    fp8_gemm_portable_tile(const Fp8GemmArgs args, float* parts) {
  using Product = TileProduct<kTileM>;
  constexpr int kAhead = Product::Shape::kStages - 1;
  const Product product(args);
  typename Product::Sums sums = {}, totals = {};
  const int blocks = product.part.last - product.part.first;
#pragma unroll
  for (int index = 0; index < kAhead; index++) product.fetch_block(index);
  for (int index = 0; index < blocks; index++) {
    // One barrier a block: it shows everybody's copies of this stage and says that nobody reads
    // the stage before it any more, which the fetch fills again.
    cp_async_wait<kAhead - 1>();
    __syncthreads();
    product.fetch_block(index + kAhead);
    product.multiply_block(index, sums);
    if constexpr (kPromoted) product.promote(index, sums, totals);
  }
  cp_async_wait<0>();
  if constexpr (!kPromoted) {
#pragma unroll
    for (auto& row : sums)
#pragma unroll
      for (auto& fragment : row)
#pragma unroll
        for (float& sum : fragment) sum *= E4m3Fragments::kProductScale;
  }
  product.store_sums(kPromoted ? totals : sums, parts);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
