// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_portable_stream.cuh: up to 16 rows of a, as fast as the codes of b arrive.
//
// Work: block x owns 32 columns of c, block y a part of k. The 8 warps of a block take turns with
// blocks of 128 of k: each reads 32 rows of b times 128 bytes, every byte once, 16 a lane, four
// lanes side by side on a row. Fragments are built from registers as they arrive: which word of k a
// lane holds does not matter to a sum, and a is read the same way.
// Registers: 8 loads of b and 4 of a in flight (6 KB a warp; with two blocks on a multiprocessor up
// to 96 KB, three times what the memory of an H200 needs), 16 sums, 16 totals. Shared memory: the
// totals of the warps, 16 KB.
// Bound: reading b. a (at most 16 x k) is read once a block, from L2.
// Order of a sum: 128 of k inside the tensor core, warp w adds blocks w, w + 8, ... in f32 in that
// order, then the totals of warps 0 to 7 are added in order, then the parts of k.
#pragma once

#include "cuda/device/e4m3_fragments.cuh"
#include "cuda/kernels/fp8_portable_common.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kStreamWarps = 8;
inline constexpr int kStreamThreads = kStreamWarps * 32;
inline constexpr int kStreamRows = 16;
inline constexpr int kStreamAcross = 4;  // fragments of 8 columns
inline constexpr int kStreamColumns = kStreamAcross * 8;
inline constexpr int kStreamSharedBytes =
    kStreamWarps * kStreamRows * kStreamColumns * static_cast<int>(sizeof(float));

// What lane t of a row takes of 128 bytes: those from 16t on and those from 64 + 16t on.
struct StreamWords {
  uint32_t words[2][4];
};

struct StreamProduct {
  using Sums = float[kStreamAcross][4];

  const Fp8GemmArgs& args;
  int m, n, k;
  int group, turn;  // lane = 4 * group + turn: a row of a and of b, and what it takes of 128 bytes
  int first_column;
  bool aligned;

  __device__ __forceinline__ explicit StreamProduct(const Fp8GemmArgs& a)
      : args(a),
        m(static_cast<int>(a.m)),
        n(static_cast<int>(a.n)),
        k(static_cast<int>(a.k)),
        group(static_cast<int>(threadIdx.x) % 32 / 4),
        turn(static_cast<int>(threadIdx.x) % 4),
        first_column(static_cast<int>(blockIdx.x) * kStreamColumns),
        aligned(rows_aligned(a.a, a.a_row) && rows_aligned(a.b, a.b_row)) {}

  // What lies behind the last row is not stored: any codes do for it.
  __device__ __forceinline__ const char* address(const void* matrix, int64_t stride, int row,
                                                 int rows, int block) const {
    return static_cast<const char*>(matrix) + min(row, rows - 1) * stride + block * kScaleBlock +
           turn * 16;
  }

  // Calls load(words, address) for everything that a lane takes of a block of k.
  template <class Load>
  __device__ __forceinline__ void load_block(int block, StreamWords (&a)[2],
                                             StreamWords (&b)[kStreamAcross],
                                             const Load& load) const {
#pragma unroll
    for (int j = 0; j < kStreamAcross; j++)
      load(b[j], address(args.b, args.b_row, first_column + j * 8 + group, n, block));
#pragma unroll
    for (int half = 0; half < 2; half++)
      load(a[half], address(args.a, args.a_row, half * 8 + group, m, block));
  }

  __device__ __forceinline__ void multiply_block(int block, Sums& sums) const {
    StreamWords a[2], b[kStreamAcross];
    const int left = k - block * kScaleBlock - turn * 16;
    if (aligned && (block + 1) * kScaleBlock <= k) {
      load_block(block, a, b, [](StreamWords& to, const char* from) {
        load_words<16, Touch::kOnce>(from, to.words[0]);
        load_words<16, Touch::kOnce>(from + 64, to.words[1]);
      });
    } else {
      load_block(block, a, b, [&](StreamWords& to, const char* from) {
        gather_codes(from, left, to.words[0]);
        gather_codes(from + 64, left - 64, to.words[1]);
      });
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const uint32_t words[4] = {a[0].words[half][i], a[1].words[half][i],
                                   a[0].words[half][i + 1], a[1].words[half][i + 1]};
        const E4m3Fragments::A fragment = E4m3Fragments::make_a(words);
#pragma unroll
        for (int j = 0; j < kStreamAcross; j++)
          E4m3Fragments::multiply(
              sums[j], fragment,
              E4m3Fragments::make_b(b[j].words[half][i], b[j].words[half][i + 1]));
      }
    }
  }

  __device__ __forceinline__ void promote(int block, const Sums& sums, Sums& totals) const {
    float a_scale[2] = {1.0f, 1.0f}, b_scale = 1.0f;
    if (args.scales == Fp8Scales::kBlock) {
      b_scale =
          args.b_scale[first_column / kScaleBlock * args.b_scale_column + block * args.b_scale_k];
#pragma unroll
      for (int half = 0; half < 2; half++)
        a_scale[half] =
            args.a_scale[min(half * 8 + group, m - 1) * args.a_scale_row + block * args.a_scale_k];
    }
#pragma unroll
    for (int j = 0; j < kStreamAcross; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        totals[j][e] += sums[j][e] * E4m3Fragments::kProductScale * a_scale[e / 2] * b_scale;
  }
};

__global__ void __launch_bounds__(kStreamThreads, 2)
    fp8_gemm_portable_stream(const Fp8GemmArgs args, float* parts) {
  const StreamProduct product(args);
  const KPart part = part_of_k(args);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  StreamProduct::Sums totals = {};
  for (int block = part.first + warp; block < part.last; block += kStreamWarps) {
    StreamProduct::Sums sums = {};
    product.multiply_block(block, sums);
    product.promote(block, sums, totals);
  }

  float* shared = shared_memory<float>();
#pragma unroll
  for (int j = 0; j < kStreamAcross; j++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      shared[(warp * kStreamRows + e / 2 * 8 + product.group) * kStreamColumns + j * 8 +
             product.turn * 2 + e % 2] = totals[j][e];
  __syncthreads();
  constexpr int kValues = kStreamRows * kStreamColumns;
  for (int at = static_cast<int>(threadIdx.x); at < kValues; at += kStreamThreads) {
    const int row = at / kStreamColumns, column = product.first_column + at % kStreamColumns;
    if (row >= product.m || column >= product.n) continue;
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < kStreamWarps; w++) sum += shared[w * kValues + at];
    if (parts != nullptr)
      *part_of_sum(args, parts, row, column) = sum;
    else
      store_result(args, row, column, sum);
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
