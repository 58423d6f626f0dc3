// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_kernels.h: the kernels behind launch/fp8.h, and what is decided before they
// start. launch/fp8.cpp decides; the files kernels/fp8_*.cu define the table.
#pragma once

#include "cuda/launch/fp8.h"

namespace nrd::cuda {

// The shape of the kernels; kernels/fp8_rows.cuh and kernels/fp8_flat.cuh say why.
inline constexpr int kFp8VectorBytes = 16;
inline constexpr int kFp8RowVectors = 16;   // at most, a thread
inline constexpr int kFp8RowThreads = 512;  // at most, a row
inline constexpr int kFp8FlatThreads = 512;
inline constexpr int kFp8BatchVectors = 8;  // in one launch: of a thread at once
inline constexpr int kFp8FlatVectors = 4;   // in two launches
inline constexpr int kFp8FlatBlocks = 2;    // in two launches: of an SM
inline constexpr int kFp8BatchBytes = kFp8FlatThreads * kFp8BatchVectors * kFp8VectorBytes;
inline constexpr int kFp8ExchangeBytes = kFp8FlatThreads * static_cast<int>(sizeof(float));

// A row in the registers of `threads` threads, each with `vectors` times 16 bytes.
struct Fp8RowsPlan {
  int threads = 32;
  int vectors = 1;
};

// A whole tensor without gaps, as so many elements.
struct Fp8FlatPlan {
  int64_t count = 0;
  int blocks = 1;
  float* tops = nullptr;   // one a block
  int64_t streamed = 0;    // in one launch: elements that do not stay on the chip
  int shared_batches = 0;  // in one launch: batches that a block keeps in shared memory
  int64_t kept = 0;        // how many of the streamed elements L2 should keep
};

// Tiles of 128x128 of any layout. How scales lie in a tile: one, one a row, one a column.
enum class Fp8Lines : int { kOne, kRows, kColumns };
// kWhole: a tile finds its own scales. Otherwise kTops, after the tops were cleared, then kApply.
enum class Fp8Phase : int { kWhole, kTops, kApply };
// How codes are stored: words along a row, 16 bytes down a column, or byte by byte.
enum class Fp8Stores : int { kAcross, kDown, kBytes };

struct Fp8TilesPlan {
  Fp8Phase phase = Fp8Phase::kWhole;
  Fp8Lines lines = Fp8Lines::kOne;
  Fp8Stores stores = Fp8Stores::kBytes;
  bool vector_loads = false;
  uint32_t* tops = nullptr;    // bits of the largest magnitudes, between the phases
  int64_t tops_of_matrix = 0;  // how many a matrix of the batch has
};

// How many scales a matrix of args has.
int64_t fp8_scale_count(const Fp8QuantizeArgs& args);

struct Fp8Kernels {
  cudaError_t (*quantize_rows)(const Fp8QuantizeArgs&, const Fp8RowsPlan&, Stream);
  cudaError_t (*quantize_on_chip)(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
  cudaError_t (*flat_tops)(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
  cudaError_t (*quantize_flat)(const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream);
  cudaError_t (*clear)(uint32_t* words, int64_t count, Stream);
  cudaError_t (*quantize_tiles)(const Fp8QuantizeArgs&, const Fp8TilesPlan&, Stream);
  cudaError_t (*dequantize)(const Fp8DequantizeArgs&, bool vectors, Stream);
  cudaError_t (*copy)(const Fp8CopyArgs&, Fp8Stores stores, bool vector_loads, Stream);
};

}  // namespace nrd::cuda
