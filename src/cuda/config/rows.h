// SPDX-License-Identifier: MIT
// src/cuda/config/rows.h: how a row is cut into slots, and how many threads share it.
//
// A row is cut into packets of 16 bytes. A slot is one packet; where heads are turned it is two,
// the runs (i, ...) and (i + d/2, ...) of a head, so that whoever holds a slot can turn it. The
// sums of a row are a tree over its slots (device/reduce.cuh). So bits depend on the cut, a
// function of dtype and shape, and not on RowConfig: that is free for a tuner, and every result is
// batch invariant.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace nrd::cuda {

struct RowCut {
  int packet = 8;      // elements; 16 bytes of x, or less where half a head is no multiple of that
  int head_dim = 8;    // elements between the heads; a packet where nothing is turned
  int heads = 0;       // packets, the last perhaps filled in part, where nothing is turned
  int chunks = 1;      // slots of a head ...
  int chunk_bits = 0;  // ... which has numbers for 2^chunk_bits: no division finds a slot's head
  constexpr int64_t slots() const { return static_cast<int64_t>(heads) << chunk_bits; }
};
RowCut cut_plain_row(DType x, int64_t cols);
RowCut cut_turned_row(DType x, int64_t cols, int64_t head_dim);

// Slots that a tree sums. In longer rows slot s stands for s, s + kTreeSlots, ... as well, which
// are added one after the other before.
inline constexpr int kTreeSlots = 4096;
inline constexpr int kMostRowThreads = 512;  // of a block

struct RowConfig {
  int threads = 32;        // that share a row: a power of two, at least 2^chunk_bits
  int rows_per_block = 4;  // threads * rows_per_block is a multiple of 32
};

// What a configuration is chosen from.
struct RowTask {
  RowCut cut;
  int64_t rows = 0;
  int most_items = 4;  // slots that a thread can hold in registers
  int multiprocessors = 132;
};
RowConfig choose_row_config(const RowTask& task);
// Whether a block can hold a row in registers; where not, kernels read it again for each pass.
bool fits_registers(const RowTask& task);
// Whether threads and blocks are possible and enough for the rows of a task that fits.
bool is_valid(const RowConfig& config, const RowTask& task);

}  // namespace nrd::cuda
