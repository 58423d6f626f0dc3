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
// Tiles: half of L2 holds ten panels of 48 steps; fewer panels may be longer.
constexpr int64_t kTileSteps = 48;
constexpr int64_t kStepsOfABlock = 16;  // a multiple of these: packing goes by vectors
// Up to these rows a group is one panel of B: A is then read from L2 or L3 for every panel, 2 bytes
// a cycle of multiply-adds. Beyond, a group lets a block of A in L2 serve this many.
constexpr int64_t kFewRows = 128, kMostGroup = 8;
// Packed parts that wait in the last cache: a quarter of it each, and no more than this, because
// other programs share it.
constexpr int64_t kMostPacked = 16 << 20;
// Rows whose partial results have memory of their own: 4 MB beside 1024 columns.
constexpr int64_t kRowsOfPartials = 1024;

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

}  // namespace

Blocking choose_blocking(const Extents& extents, const Family& family,
                         const DeviceProfile& profile) {
  const int64_t l2 = cache_bytes(profile, 1, 512 << 10);
  const int64_t last = std::max<int64_t>(last_level_cache_bytes(profile), l2);
  const int64_t packed_bytes = std::min(last / 4, kMostPacked);
  const int64_t a_panels = std::max<int64_t>((extents.m + family.rows - 1) / family.rows, 1);
  const int64_t b_panels = (extents.n + family.columns() - 1) / family.columns();
  const int64_t step = family.step_bytes();
  const int64_t steps = family.steps(extents.k);
  const auto panels_in = [&](int64_t bytes, int64_t panel_steps, int width) {
    return std::max<int64_t>(bytes / (step * std::max<int64_t>(panel_steps, 1) * width), 1);
  };
  Blocking blocking;
  int64_t most_steps = std::clamp(l2 / 2 / (step * kLeastPanels * family.rows), kLeastBytes / step,
                                  kMostBytes / step);
  if (family.arithmetic == Arithmetic::kTile) {
    most_steps = std::max(kTileSteps, l2 / 2 / (step * family.rows * a_panels));
  }
  blocking.k = even_part(steps, most_steps, kStepsOfABlock);
  blocking.a_outer = panels_in(packed_bytes, steps, family.rows);
  // Packing B again for every part of A would cost more than partial results from far away.
  if (extents.is_packed || a_panels <= blocking.a_outer) {
    blocking.order = LoopOrder::kGroups;
    const bool is_few = extents.m <= kFewRows;
    // Few rows: a panel of B passes by in one piece, as long as half of L2 holds what passes again:
    // it, or A where that is a single panel. Every further block of k starts and ends a tile anew.
    if (is_few && extents.is_packed && family.arithmetic != Arithmetic::kTile) {
      const int width = a_panels == 1 ? family.rows : family.columns();
      blocking.k = even_part(steps, std::max(most_steps, l2 / 2 / (step * width)), kStepsOfABlock);
    }
    blocking.b_block = is_few ? 1 : kMostGroup;
    blocking.b_block = std::clamp<int64_t>(b_panels, 1, blocking.b_block);
  } else {
    blocking.order = LoopOrder::kBlocks;
    blocking.a_outer = panels_in(packed_bytes, blocking.k, family.rows);
    if (extents.has_partial) {
      blocking.a_outer = std::min(blocking.a_outer, kRowsOfPartials / family.rows);
    }
    blocking.b_block =
        even_part(b_panels, panels_in(packed_bytes, blocking.k, family.columns()), 1);
  }
  blocking.a_outer = even_part(a_panels, blocking.a_outer, 1);
  // A quarter of L2 for the block of A: pages lie as they like and compete for the same sets, and a
  // panel of B that comes from further away for every nine panels of A costs nothing. Tiles are
  // faster and want B to serve more.
  const int64_t share = family.arithmetic == Arithmetic::kTile ? l2 / 2 : l2 / 4;
  blocking.a_block = blocking.a_outer;
  if (blocking.b_block > 1) {
    blocking.a_block = even_part(blocking.a_outer, panels_in(share, blocking.k, family.rows), 1);
  }
  return blocking;
}

}  // namespace nrd::gemm
