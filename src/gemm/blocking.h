// SPDX-License-Identifier: MIT
// src/gemm/blocking.h: how a product is cut so that its parts stay in the caches.
#pragma once

#include <cstdint>

#include "gemm/family.h"
#include "machine/profile.h"

namespace nrd::gemm {

// Up to these rows the bandwidth of B decides.
constexpr int64_t kFewRows = 128;
// Threads own parts of A of some panels at least, so that they differ little in size.
constexpr int64_t kPanelsOfAShare = 8;

enum class LoopOrder : uint8_t {
  kGroups,  // A is packed whole; groups of B's panels are finished one after the other: B is packed
            // once, and partial results stay near
  kBlocks,  // blocks of k are finished one after the other: packed parts of A and B are small
  kStreams,  // few rows of A: B's rows are read as they lie, b_block panels of columns at a time
};

struct Blocking {
  LoopOrder order = LoopOrder::kGroups;
  int64_t k = 0;        // steps of a block (a step is some elements of k, see Family)
  int64_t a_outer = 0;  // panels of A that are finished before others begin
  int64_t a_block = 0;  // panels of A that wait in L2
  int64_t b_block = 0;  // panels of B that are used together
  // kGroups, not where the family offsets A: panels of B that all threads pack before any is used;
  // 0: none
  int64_t b_outer = 0;
};

struct Extents {
  int64_t m = 0, n = 0, k = 0;
  bool is_packed = false;    // B is
  bool has_partial = false;  // partial results do not lie in C itself
};

// Up to these rows of A, which are one panel, a B whose rows are contiguous is not packed.
int most_stream_rows(const Family& family);
Blocking stream_blocking(const Extents& extents, const Family& family);

// Changes times, never bits.
Blocking choose_blocking(const Extents& extents, const Family& family,
                         const DeviceProfile& profile);

}  // namespace nrd::gemm
