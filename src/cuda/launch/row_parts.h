// SPDX-License-Identifier: MIT
// src/cuda/launch/row_parts.h: what the parameters of every kernel of rows are made of.
#pragma once

#include <algorithm>
#include <bit>

#include "cuda/launch/row_params.h"

namespace nrd::cuda {

inline constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;

inline int64_t rows_of(const int64_t* outer) {
  int64_t rows = 1;
  for (int i = 0; i < kRowAxes; i++) rows *= outer[i];
  return rows;
}

// Every packet of the operand starts at a multiple of its bytes, 16 at most.
inline bool has_packets(const RowOperand& o, const int64_t* outer, int64_t head_dim, int packet) {
  if (!o.present) return true;
  const auto bytes = static_cast<int64_t>(byte_size(o.dtype));
  const int64_t alignment = std::min<int64_t>(16, packet * bytes);
  auto is_whole = [&](int64_t elements) { return elements * bytes % alignment == 0; };
  bool whole = o.step == 1 && reinterpret_cast<uintptr_t>(o.data) % alignment == 0 &&
               is_whole(o.head) && is_whole(o.table);
  if (head_dim > 0) whole = whole && is_whole(head_dim / 2);
  for (int i = 0; i < kRowAxes; i++) whole = whole && (outer[i] == 1 || is_whole(o.outer[i]));
  return whole;
}

inline bool is_shared_by_rows(const RowOperand& o, const int64_t* outer) {
  for (int i = 0; i < kRowAxes; i++)
    if (outer[i] != 1 && o.outer[i] != 0) return false;
  return true;
}

inline bool has_two_axes(const int64_t* outer) {
  return std::all_of(outer, outer + kRowAxes - 2, [](int64_t size) { return size == 1; });
}

inline RowPitch pitch(const RowOperand& o, int64_t inner) {
  const auto bytes = static_cast<int64_t>(byte_size(o.dtype));
  return {o.outer[kRowAxes - 2] * bytes, inner * bytes};
}
inline RowPitch pitch(const RowOperand& o) { return pitch(o, o.outer[kRowAxes - 1]); }

inline RowSteps make_steps(const RowTask& task, const RowConfig& config, const int64_t* outer) {
  const RowCut& cut = task.cut;
  const int thread_bits = std::countr_zero(static_cast<unsigned>(config.threads));
  const int heads_a_jump = config.threads >> cut.chunk_bits;
  return {.packet = static_cast<uint32_t>(cut.packet),
          .head_dim = static_cast<uint32_t>(cut.head_dim),
          .half = static_cast<uint32_t>(cut.head_dim) / 2,
          .jump = static_cast<uint32_t>(heads_a_jump * cut.head_dim),
          .heads = cut.heads,
          .heads_a_jump = heads_a_jump,
          .chunks = static_cast<uint32_t>(cut.chunks),
          .chunk_mask = (1u << cut.chunk_bits) - 1,
          .chunk_bits = cut.chunk_bits,
          .thread_mask = static_cast<uint32_t>(config.threads) - 1,
          .rows_per_block = static_cast<uint32_t>(config.rows_per_block),
          .thread_bits = thread_bits,
          .rows = static_cast<uint32_t>(task.rows),
          .inner = Division(static_cast<uint32_t>(outer[kRowAxes - 1]))};
}

inline uint32_t block_count(const RowTask& task, const RowConfig& config) {
  const int64_t blocks = (task.rows + config.rows_per_block - 1) / config.rows_per_block;
  return static_cast<uint32_t>(blocks);
}

inline int items_of(const RowTask& task, const RowConfig& config) {
  return static_cast<int>((task.cut.slots() + config.threads - 1) / config.threads);
}

// Rows along two axes, of slots that fit; every packet is full.
inline bool is_regular(const RowTask& task, const RowConfig& config, const int64_t* outer) {
  return fits_registers(task) && is_valid(config, task) && has_two_axes(outer) &&
         task.rows <= kMostRows;
}

inline bool is_same(const RowOperand& o, DType dtype) { return !o.present || o.dtype == dtype; }
inline bool is_wide(const RowOperand& o, DType x) { return o.present && o.dtype != x; }

inline float inverse(int64_t count) { return count > 0 ? 1.0f / static_cast<float>(count) : 0.0f; }

// cos, sin and positions of arguments that have them.
template <class Args>
bool has_regular_tables(const Args& a, int packet) {
  for (const RowOperand* o : {&a.cos, &a.sin}) {
    if (!has_packets(*o, a.outer, a.head_dim, packet)) return false;
    // With positions a table has its rows along one axis, and may have another in front.
    if (a.positions.present && o->outer[kRowAxes - 1] != 0 && a.outer[kRowAxes - 1] != 1)
      return false;
  }
  return true;
}

template <class Args>
RowTables make_tables(const Args& a) {
  auto table_pitch = [&](const RowOperand& o) {
    return pitch(o, a.positions.present ? o.table : o.outer[kRowAxes - 1]);
  };
  return {.cos = a.cos.data,
          .sin = a.sin.data,
          .positions = static_cast<const int32_t*>(a.positions.data),
          .cos_pitch = table_pitch(a.cos),
          .sin_pitch = table_pitch(a.sin),
          .positions_pitch = pitch(a.positions),
          .count = static_cast<uint32_t>(a.positions.present ? a.table : a.outer[kRowAxes - 1])};
}

// Threads of a row whose operands are read again for each pass: no more than it has slots.
inline int any_threads(const RowCut& cut) {
  int threads = 32;
  while (threads < kMostRowThreads && threads < cut.slots()) threads *= 2;
  return threads;
}

template <class Args>
void fill_any(const Args& a, const RowCut& cut, AnyRows& rows) {
  std::copy(a.outer, a.outer + kRowAxes, rows.outer);
  rows.rows = rows_of(a.outer);
  rows.cols = a.cols;
  rows.cut = cut;
  rows.threads = any_threads(cut);
  const int64_t slots = std::clamp<int64_t>(cut.slots(), rows.threads, kTreeSlots);
  rows.tree = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(slots)));
  rows.inverse_cols = inverse(a.cols);
  rows.eps = a.eps;
}

}  // namespace nrd::cuda
