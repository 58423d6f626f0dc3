// SPDX-License-Identifier: MIT
// src/cuda/device/byte_tile.cuh: 128x128 codes of a block, from registers to memory of any layout.
//
// 256 threads; thread (warp, lane) holds rows 16*warp to 16*warp + 15 of columns 4*lane to
// 4*lane + 3, a word a row. Across a row the words of a warp are 128 bytes and go out as they are.
// Down a column a thread has 16 bytes after four transpositions of 4x4 bytes; these pass through
// 16 KB of shared memory, where 16-byte piece w of column c lies at w ^ (c / 4 % 8), so that
// neither writing (8 lanes, columns 4 apart) nor reading (8 lanes, one column) meets a bank twice,
// and leave as whole lines of 128 bytes.
#pragma once

#include "cuda/device/vector.cuh"
#include "cuda/launch/fp8_kernels.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline constexpr int kTile = 128;
inline constexpr int kTileThreads = 256;
inline constexpr int kThreadRows = 16;
inline constexpr int kThreadCols = 4;
inline constexpr int kTileBytes = kTile * kTile;

// Where a thread stands in its matrix, and how much of its part lies inside.
struct TilePart {
  int64_t first_row, first_col;  // of the tile
  int warp, lane;
  int rows, cols;  // of this thread's 16x4 that exist; 0 or less: none

  __device__ __forceinline__ TilePart(int64_t tile_row, int64_t tile_col, int64_t all_rows,
                                      int64_t all_cols)
      : first_row(tile_row * kTile),
        first_col(tile_col * kTile),
        warp(static_cast<int>(threadIdx.x) / 32),
        lane(static_cast<int>(threadIdx.x) % 32) {
    const int64_t rows_left = all_rows - row(), cols_left = all_cols - col();
    rows = static_cast<int>(rows_left < kThreadRows ? rows_left : kThreadRows);
    cols = static_cast<int>(cols_left < kThreadCols ? cols_left : kThreadCols);
  }
  __device__ __forceinline__ int64_t row() const { return first_row + warp * kThreadRows; }
  __device__ __forceinline__ int64_t col() const { return first_col + lane * kThreadCols; }
};

// Bytes of shared memory that a block's part takes where it is not read as vectors.
template <class T>
inline constexpr int kStageBytes = kTileBytes* static_cast<int>(sizeof(T));

namespace detail {

// One element at a time into shared memory, each thread its own, and from there into registers:
// a loop over registers would have to be unrolled, with 64 addresses at once.
template <class T>
__device__ __forceinline__ void load_elements(Packet<T, kThreadCols> (&packets)[kThreadRows],
                                              const T* first, const Fp8Strides& strides,
                                              const TilePart& part, void* stage) {
  constexpr int kWords = Packet<T, kThreadCols>::kWords;
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 4
  for (int e = 0; e < kThreadRows * kThreadCols; e++) {
    const int i = e / kThreadCols, j = e % kThreadCols;
    uint32_t bits = 0;
    if (i < part.rows && j < part.cols)
      load_words<sizeof(T), Touch::kOften>(first + i * strides.row + j * strides.col, &bits);
    const int word = i * kWords + j / kPerWord;
    const int place = (word * kTileThreads + thread) * kPerWord + j % kPerWord;
    if constexpr (sizeof(T) == 4) static_cast<uint32_t*>(stage)[place] = bits;
    if constexpr (sizeof(T) == 2)
      static_cast<uint16_t*>(stage)[place] = static_cast<uint16_t>(bits);
    if constexpr (sizeof(T) == 1) static_cast<uint8_t*>(stage)[place] = static_cast<uint8_t>(bits);
  }
  __syncwarp();  // the same words are read as another type
#pragma unroll
  for (int i = 0; i < kThreadRows; i++)
#pragma unroll
    for (int w = 0; w < kWords; w++)
      packets[i].words[w] =
          static_cast<const uint32_t*>(stage)[(i * kWords + w) * kTileThreads + thread];
}

}  // namespace detail

// The thread's elements; what lies outside is zero. `vectors`: rows run along memory and groups of
// four columns are aligned. Otherwise `stage` is kStageBytes<T> of shared memory, free again after
// the next barrier.
template <class T>
__device__ __forceinline__ void load_part(Packet<T, kThreadCols> (&packets)[kThreadRows],
                                          const T* matrix, const Fp8Strides& strides,
                                          const TilePart& part, bool vectors, void* stage) {
  const T* first = matrix + part.row() * strides.row + part.col() * strides.col;
  if (!vectors) return detail::load_elements(packets, first, strides, part, stage);
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) {
#pragma unroll
    for (uint32_t& word : packets[i].words) word = 0;
    if (i < part.rows && part.cols > 0) load<Touch::kOnce>(packets[i], first + i * strides.row);
  }
}

namespace detail {

// Byte j of word i becomes byte i of word j.
__device__ __forceinline__ void transpose_bytes(const uint32_t* rows, uint32_t* cols) {
  const uint32_t low01 = __byte_perm(rows[0], rows[1], 0x5140);   // r0b0 r1b0 r0b1 r1b1
  const uint32_t high01 = __byte_perm(rows[0], rows[1], 0x7362);  // r0b2 r1b2 r0b3 r1b3
  const uint32_t low23 = __byte_perm(rows[2], rows[3], 0x5140);
  const uint32_t high23 = __byte_perm(rows[2], rows[3], 0x7362);
  cols[0] = __byte_perm(low01, low23, 0x5410);
  cols[1] = __byte_perm(low01, low23, 0x7632);
  cols[2] = __byte_perm(high01, high23, 0x5410);
  cols[3] = __byte_perm(high01, high23, 0x7632);
}

__device__ __forceinline__ void store_byte(uint8_t* address, uint32_t value) {
  store_words<1, Touch::kOften>(address, &value);
}

__device__ __forceinline__ void store_down(uint8_t* matrix, const Fp8Strides& strides,
                                           const TilePart& part, int64_t all_rows, int64_t all_cols,
                                           const uint32_t (&codes)[kThreadRows], uint4* shared) {
  constexpr int kPieces = kTile / 16;
  uint32_t cols[kThreadCols][kThreadRows / 4];
#pragma unroll
  for (int g = 0; g < kThreadRows / 4; g++) {
    uint32_t turned[kThreadCols];
    transpose_bytes(codes + 4 * g, turned);
#pragma unroll
    for (int j = 0; j < kThreadCols; j++) cols[j][g] = turned[j];
  }
#pragma unroll
  for (int j = 0; j < kThreadCols; j++)
    shared[(part.lane * kThreadCols + j) * kPieces + (part.warp ^ (part.lane % kPieces))] = {
        cols[j][0], cols[j][1], cols[j][2], cols[j][3]};
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kTile * kPieces / kTileThreads; k++) {
    const int at = k * kTileThreads + static_cast<int>(threadIdx.x);
    const int col = at / kPieces, piece = at % kPieces;
    const int64_t rows_left = all_rows - part.first_row - piece * 16;
    if (part.first_col + col >= all_cols || rows_left <= 0) continue;
    const uint4 bytes = shared[col * kPieces + (piece ^ (col / kThreadCols % kPieces))];
    const uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    uint8_t* to = matrix + (part.first_col + col) * strides.col + part.first_row + piece * 16;
    if (rows_left >= 16) {
      store_words<16, Touch::kOnce>(to, words);
    } else {
#pragma unroll
      for (int i = 0; i < 16; i++)
        if (i < rows_left) store_byte(to + i, words[i / 4] >> i % 4 * 8);
    }
  }
}

}  // namespace detail

// All threads of the block call it. `shared` is kTileBytes for Fp8Stores::kDown.
__device__ __forceinline__ void store_part(uint8_t* matrix, const Fp8Strides& strides,
                                           const TilePart& part, int64_t all_rows, int64_t all_cols,
                                           const uint32_t (&codes)[kThreadRows], Fp8Stores stores,
                                           uint4* shared) {
  if (stores == Fp8Stores::kDown)
    return detail::store_down(matrix, strides, part, all_rows, all_cols, codes, shared);
  uint8_t* first = matrix + part.row() * strides.row + part.col() * strides.col;
  const bool words = stores == Fp8Stores::kAcross && part.cols == kThreadCols;
#pragma unroll
  for (int i = 0; i < kThreadRows; i++) {
    if (i >= part.rows) continue;
    if (words) {
      store_words<4, Touch::kOnce>(first + i * strides.row, &codes[i]);
    } else {
#pragma unroll
      for (int j = 0; j < kThreadCols; j++)
        if (j < part.cols)
          detail::store_byte(first + i * strides.row + j * strides.col, codes[i] >> j * 8);
    }
  }
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
