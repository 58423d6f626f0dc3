// SPDX-License-Identifier: MIT
// src/cuda/config/rows.cpp
#include "cuda/config/rows.h"

#include <algorithm>
#include <bit>

namespace nrd::cuda {
namespace {

constexpr int kVectorBytes = 16;
// A block of four warps is small enough that many reside and start and end at different times.
constexpr int kBlockThreads = 128;

int power_of_two(int64_t at_least) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(at_least, 1))));
}

int per_vector(DType dtype) { return kVectorBytes / static_cast<int>(byte_size(dtype)); }

// Slots a thread where rows are many: 128 bytes of x are in flight from each thread, and enough
// warps reside beside each other to hide one row's sum behind the loads of others.
int wanted_items(const RowTask& task) { return std::min(task.most_items, 4); }

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
         block % 32 == 0 && block <= kMostRowThreads && config.persistent_blocks >= 0 &&
         task.cut.slots() <= int64_t{config.threads} * task.most_items;
}

RowConfig choose_row_config(const RowTask& task) {
  const int64_t slots = task.cut.slots();
  // Where a multiprocessor has hardly a row, latency counts: a slot for each thread.
  const bool few_rows = task.rows <= 2 * int64_t{task.multiprocessors};
  const int items = few_rows ? 1 : wanted_items(task);
  int threads = power_of_two((slots + items - 1) / items);
  threads = std::max(threads, 1 << task.cut.chunk_bits);
  if (!few_rows) threads = std::max(threads, std::min(power_of_two(slots), 32));
  threads = std::min(threads, kMostRowThreads);
  return {.threads = threads, .rows_per_block = std::max(1, kBlockThreads / threads)};
}

}  // namespace nrd::cuda
