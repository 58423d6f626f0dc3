// SPDX-License-Identifier: MIT
// src/gemm/blocking.cpp: block sizes from cache sizes, each with its reason.
#include "gemm/blocking.h"

#include <algorithm>

namespace nrd::gemm {
namespace {

// Panels of A that half of L2 must hold: a panel of B is fetched from further away once for each
// block of A, so it should serve several. With that, the more steps the better: a tile's trip to C
// and back costs as much as 25 steps.
constexpr int64_t kLeastPanels = 9;
constexpr int64_t kLeastBytes = 1024, kMostBytes = 4096;  // of a row along k
// Tiles, where several panels of A meet a panel of B: 16 steps of it are 32 KB, which stay in L1
// while A passes by. A single panel of A stays in L2, and B passes in one piece.
constexpr int64_t kTileSteps = 16;
constexpr int64_t kStepsOfABlock = 16;  // a multiple of these: packing goes by vectors
// Up to kFewRows a group is one panel of B: A is then read from L2 or L3 for every panel, 2 bytes a
// cycle of multiply-adds. Beyond, a group lets a block of A in L2 serve this many.
constexpr int64_t kMostGroup = 8;
// Of columns, where neither packed panels of B nor partial results take room in L2 (AVX2, 4096
// rows: with 128 columns 89 % of the peak, with 512 94).
constexpr int64_t kMostGroupColumns = 512;
// Tiles: an eighth of L2 for the block of A, a quarter for the partial results of it and a group of
// B's panels. Larger ones would ask less of the last cache, smaller ones let threads end together.
constexpr int64_t kFewestTileGroup = 8, kMostTileGroup = 16;
// Packed parts that wait in the last cache: a quarter of it each, and no more than this, because
// other programs share it.
constexpr int64_t kMostPacked = 24 << 20, kMostPackedTiles = 32 << 20;
// B that is not packed, and a large C: packed first, 64 MB at a time, if these are many columns,
// because A is packed again for each part. Partial results then stay near, and threads that own
// rows share no packed line of A; to pack B first pays beside many rows.
constexpr int64_t kFewestToPackFirst = 2048;  // rows and columns
constexpr int64_t kMostPackedFirst = 64 << 20;
// Rows whose partial results have memory of their own: 4 MB beside 1024 columns.
constexpr int64_t kRowsOfPartials = 1024;

// What the sums of a block of columns take where B's rows are streamed: the wider, the longer are
// the pieces of B that lie side by side; beyond this the sums leave L1.
constexpr int64_t kStreamBytes = 32 << 10;

int64_t cache_bytes(const DeviceProfile& profile, size_t level, int64_t otherwise) {
  if (level >= profile.caches.size() || profile.caches[level].bytes <= 0) return otherwise;
  return profile.caches[level].bytes;
}

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// `size` in as few equal parts as fit into `most`, each a multiple of `step`.
int64_t even_part(int64_t size, int64_t most, int64_t step) {
  if (size <= 0) return step;
  const int64_t parts = (size + most - 1) / most;
  return round_up((size + parts - 1) / parts, step);
}

int64_t panels_in(int64_t bytes, const Family& family, int64_t steps, int width) {
  return std::max<int64_t>(bytes / (family.step_bytes() * std::max<int64_t>(steps, 1) * width), 1);
}

// 0: none, also where threads are so many that they would not own rows.
int64_t panels_to_pack_first(const Extents& extents, const Family& family, int64_t a_outer,
                             int cores) {
  if (extents.is_packed || family.offsets() || extents.k == 0) return 0;
  if (std::min(extents.m, extents.n) < kFewestToPackFirst) return 0;
  if (a_outer < kPanelsOfAShare * cores) return 0;
  const int64_t steps = family.steps(extents.k), width = family.columns();
  const int64_t most = panels_in(kMostPackedFirst, family, steps, family.columns());
  if (most * width < kFewestToPackFirst) return 0;
  return even_part((extents.n + width - 1) / width, most, 1);
}

// B that is not packed: packed as its groups come where the partial results of all of A have room
// for a group, all of it first otherwise.
Blocking tile_blocking(const Extents& extents, const Family& family, int64_t l2, int64_t last) {
  const int64_t a_panels = std::max<int64_t>((extents.m + family.rows - 1) / family.rows, 1);
  const int64_t b_panels = (extents.n + family.columns() - 1) / family.columns();
  const int64_t steps = family.steps(extents.k);
  const int64_t packed_bytes = std::min(last / 4, kMostPackedTiles);
  const int64_t tiles = l2 / 4 / (family.rows * family.columns() * 4);
  Blocking blocking;
  const int64_t whole = l2 / 2 / (family.step_bytes() * family.rows);
  blocking.k = even_part(steps, a_panels == 1 ? whole : kTileSteps, kStepsOfABlock);
  blocking.a_outer = even_part(a_panels, panels_in(packed_bytes, family, steps, family.rows), 1);
  blocking.a_block =
      even_part(blocking.a_outer, panels_in(l2 / 8, family, blocking.k, family.rows), 1);
  const bool packs_first = !extents.is_packed && a_panels > tiles / kFewestTileGroup;
  if (packs_first) {
    blocking.b_outer =
        even_part(b_panels, panels_in(packed_bytes, family, steps, family.columns()), 1);
  }
  const bool keeps_all = !extents.is_packed && !packs_first;
  const int64_t most = tiles / (keeps_all ? a_panels : blocking.a_block);
  blocking.b_block = extents.m <= kFewRows ? 1 : std::min(most, kMostTileGroup);
  blocking.b_block = std::clamp<int64_t>(b_panels, 1, std::max<int64_t>(blocking.b_block, 1));
  return blocking;
}

}  // namespace

int most_stream_rows(const Family& family) { return family.rows; }

Blocking stream_blocking(const Extents& extents, const Family& family) {
  Blocking blocking;
  blocking.order = LoopOrder::kStreams;
  blocking.k = std::max<int64_t>(family.steps(extents.k), 1);
  blocking.a_outer = blocking.a_block = 1;
  const int64_t columns = kStreamBytes / (4 * std::max<int64_t>(extents.m, 1));
  blocking.b_block = std::max<int64_t>(columns / family.columns(), 1);
  return blocking;
}

Blocking choose_blocking(const Extents& extents, const Family& family,
                         const DeviceProfile& profile) {
  const int64_t l2 = cache_bytes(profile, 1, 512 << 10);
  const int64_t last = std::max<int64_t>(last_level_cache_bytes(profile), l2);
  if (family.arithmetic == Arithmetic::kTile) return tile_blocking(extents, family, l2, last);
  const int64_t packed_bytes = std::min(last / 4, kMostPacked);
  const int64_t a_panels = std::max<int64_t>((extents.m + family.rows - 1) / family.rows, 1);
  const int64_t b_panels = (extents.n + family.columns() - 1) / family.columns();
  const int64_t step = family.step_bytes();
  const int64_t steps = family.steps(extents.k);
  Blocking blocking;
  const int64_t most_steps = std::clamp(l2 / 2 / (step * kLeastPanels * family.rows),
                                        kLeastBytes / step, kMostBytes / step);
  blocking.k = even_part(steps, most_steps, kStepsOfABlock);
  blocking.a_outer = panels_in(packed_bytes, family, steps, family.rows);
  blocking.b_outer = panels_to_pack_first(extents, family, blocking.a_outer, profile.cores);
  const bool has_packed_b = extents.is_packed || blocking.b_outer > 0;
  // Packing B again for every part of A would cost more than partial results from far away.
  if (has_packed_b || a_panels <= blocking.a_outer) {
    blocking.order = LoopOrder::kGroups;
    const bool is_few = extents.m <= kFewRows;
    // Few rows: a panel of B passes by in one piece, as long as half of L2 holds what passes again:
    // it, or A where that is a single panel. Every further block of k starts and ends a tile anew.
    if (is_few && extents.is_packed) {
      const int width = a_panels == 1 ? family.rows : family.columns();
      blocking.k = even_part(steps, std::max(most_steps, l2 / 2 / (step * width)), kStepsOfABlock);
    }
    const bool is_wide = has_packed_b && !extents.has_partial;
    blocking.b_block = is_wide ? kMostGroupColumns / family.columns() : kMostGroup;
    if (is_few) blocking.b_block = 1;
    blocking.b_block = std::clamp<int64_t>(b_panels, 1, blocking.b_block);
  } else {
    blocking.order = LoopOrder::kBlocks;
    blocking.a_outer = panels_in(packed_bytes, family, blocking.k, family.rows);
    if (extents.has_partial) {
      blocking.a_outer = std::min(blocking.a_outer, kRowsOfPartials / family.rows);
    }
    blocking.b_block =
        even_part(b_panels, panels_in(packed_bytes, family, blocking.k, family.columns()), 1);
  }
  blocking.a_outer = even_part(a_panels, blocking.a_outer, 1);
  // A quarter of L2 for the block of A: pages lie as they like and compete for the same sets, and a
  // panel of B that comes from further away for every nine panels of A costs nothing.
  blocking.a_block = blocking.a_outer;
  if (blocking.b_block > 1) {
    blocking.a_block =
        even_part(blocking.a_outer, panels_in(l2 / 4, family, blocking.k, family.rows), 1);
  }
  return blocking;
}

}  // namespace nrd::gemm
