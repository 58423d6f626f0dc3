// SPDX-License-Identifier: MIT
// src/cuda/config/rows.cpp
#include "cuda/config/rows.h"

#include <algorithm>
#include <bit>

namespace nrd::cuda {
namespace {

constexpr int kVectorBytes = 16;
// Blocks of two warps fill a multiprocessor (of 32 blocks and 64 warps), and the fewer rows a block
// has, the less they wait for each other: on an H200 one row a block beats two by 0.3 to 1.4 %.
constexpr int kBlockThreads = 64;
// Two slots a thread, or three, are as fast as loads can be issued, up to as many threads; beyond,
// four are (128 threads of 4 slots reach 95.6 % of a copy's rate, 256 threads of 2 only 87.5 %).
constexpr int kRowThreads = 128;

int power_of_two(int64_t at_least) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(at_least, 1))));
}

int per_vector(DType dtype) { return kVectorBytes / static_cast<int>(byte_size(dtype)); }

// Where rows are many: enough warps reside beside each other to hide one row's sum behind the loads
// of others.
int threads_of_many(const RowTask& task) {
  const int64_t slots = task.cut.slots();
  const auto two_or_three = static_cast<int>(std::bit_floor(static_cast<uint64_t>(slots / 2)));
  const int items = std::min(task.most_items, 4);
  return std::max({std::min(two_or_three, kRowThreads), power_of_two((slots + items - 1) / items),
                   std::min(power_of_two(slots), 32)});
}

}  // namespace

RowCut cut_plain_row(DType x, int64_t cols) {
  const int packet = per_vector(x);
  return {.packet = packet,
          .head_dim = packet,
          .heads = static_cast<int>((cols + packet - 1) / packet)};
}

RowCut cut_turned_row(DType x, int64_t cols, int64_t head_dim) {
  const int64_t half = head_dim / 2;
  int packet = per_vector(x);
  if (half % packet != 0) packet = half % 4 == 0 ? 4 : 1;
  const int64_t chunks = half / packet;
  return {.packet = packet,
          .head_dim = static_cast<int>(head_dim),
          .heads = head_dim > 0 ? static_cast<int>(cols / head_dim) : 0,
          .chunks = static_cast<int>(chunks),
          .chunk_bits = std::countr_zero(static_cast<unsigned>(power_of_two(chunks)))};
}

bool fits_registers(const RowTask& task) {
  const int64_t slots = task.cut.slots();
  return slots <= kTreeSlots && slots <= int64_t{kMostRowThreads} * task.most_items &&
         (1 << task.cut.chunk_bits) <= kMostRowThreads;
}

bool is_valid(const RowConfig& config, const RowTask& task) {
  const int block = config.threads * config.rows_per_block;
  return std::has_single_bit(static_cast<unsigned>(config.threads)) &&
         config.threads >= 1 << task.cut.chunk_bits && config.rows_per_block >= 1 &&
         block % 32 == 0 && block <= kMostRowThreads &&
         task.cut.slots() <= int64_t{config.threads} * task.most_items;
}

RowConfig choose_row_config(const RowTask& task) {
  const int64_t slots = task.cut.slots();
  // Where a multiprocessor has hardly a row, latency counts: a slot for each thread.
  const bool few_rows = task.rows <= 2 * int64_t{task.multiprocessors};
  int threads = few_rows ? power_of_two(slots) : threads_of_many(task);
  threads = std::clamp(threads, 1 << task.cut.chunk_bits, kMostRowThreads);
  return {.threads = threads, .rows_per_block = std::max(1, kBlockThreads / threads)};
}

}  // namespace nrd::cuda
