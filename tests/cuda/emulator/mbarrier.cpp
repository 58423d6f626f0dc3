// SPDX-License-Identifier: MIT
// tests/cuda/emulator/mbarrier.cpp: barriers in shared memory, and that of a cluster.
#include "emulator/mbarrier.h"

#include <cstring>

#include "emulator/cluster.h"
#include "emulator/machine.h"

namespace nrd::cuda::emulator {
namespace {

constexpr uint64_t kMark = 2;  // in the top two bits
constexpr uint64_t kArrivalMask = (1 << 20) - 1;
constexpr int64_t kMostBytes = (1 << 20) - 1;

struct State {
  uint32_t parity;
  uint64_t arrivals, missing;
  int64_t bytes;
};

State read(const uint64_t* barrier) {
  uint64_t word;
  std::memcpy(&word, barrier, 8);
  if (word >> 62 != kMark)
    fail("what is used as an mbarrier was never initialised, or was written over");
  const auto bytes = static_cast<int64_t>(word >> 41 & ((1 << 21) - 1));
  return {static_cast<uint32_t>(word & 1), word >> 1 & kArrivalMask, word >> 21 & kArrivalMask,
          bytes > kMostBytes ? bytes - (1 << 21) : bytes};
}

void write(uint64_t* barrier, State s) {
  if (s.missing == 0 && s.bytes == 0) {
    s.parity ^= 1;
    s.missing = s.arrivals;
  }
  if (s.bytes > kMostBytes || s.bytes < -kMostBytes)
    fail("an mbarrier expects more bytes than it can count");
  const uint64_t word = s.parity | s.arrivals << 1 | s.missing << 21 |
                        (static_cast<uint64_t>(s.bytes) & ((1 << 21) - 1)) << 41 | kMark << 62;
  std::memcpy(barrier, &word, 8);
}

void check_place(const uint64_t* barrier) {
  check_aligned(barrier, 8);
  shared_address(barrier);
}

}  // namespace

void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  check_place(barrier);
  if (arrivals == 0 || arrivals > kArrivalMask) fail("an mbarrier of no or too many arrivals");
  write(barrier, {0, arrivals, arrivals, 0});
}

void mbarrier_arrive(uint64_t* barrier, int rank, uint32_t bytes) {
  check_place(barrier);
  atomic_point(barrier);
  const Block& own = *self().block;
  if (rank >= 0) {
    const Block& there = cluster_block(rank);
    if (there.live == 0) fail("arrives at an mbarrier of a block that has ended");
    barrier =
        reinterpret_cast<uint64_t*>(there.shared + (reinterpret_cast<char*>(barrier) - own.shared));
  }
  State s = read(barrier);
  if (s.missing == 0) fail("one arrival more than the mbarrier counts in a phase");
  s.bytes += bytes;
  s.missing--;
  write(barrier, s);
}

void mbarrier_complete(uint64_t* barrier, uint32_t bytes) {
  State s = read(barrier);
  s.bytes -= bytes;
  write(barrier, s);
}

bool mbarrier_test(uint64_t* barrier, uint32_t parity) {
  check_place(barrier);
  return read(barrier).parity != (parity & 1);
}

void mbarrier_wait(uint64_t* barrier, uint32_t parity, const char* role, int stage) {
  check_place(barrier);
  const Block& block = *self().block;
  wait_until([&] { return read(barrier).parity != (parity & 1); },
             [&] {
               const State s = read(barrier);
               const auto offset = reinterpret_cast<const char*>(barrier) - block.shared;
               return std::string(role) + " of stage " + std::to_string(stage) +
                      ": mbarrier at byte " + std::to_string(offset) +
                      " of shared memory, parity " + std::to_string(parity) + "; " +
                      std::to_string(s.missing) + " of " + std::to_string(s.arrivals) +
                      " arrivals and " + std::to_string(s.bytes) + " bytes are missing";
             });
}

namespace {

int live_threads_of_cluster(const Block& of) {
  int live = 0;
  for (int rank = 0; rank < cluster_size(); rank++) live += cluster_block(of, rank).live;
  return live;
}

}  // namespace

void complete_cluster_barrier(const Block& block) {
  Barrier& b = *block.cluster_barrier;
  if (b.arrived == 0 || b.arrived < live_threads_of_cluster(block)) return;
  b.arrived = 0;
  b.round++;
}

void cluster_arrive() {
  Thread& t = self();
  if (t.cluster_arrived) fail("arrives twice at the barrier of the cluster without a wait");
  Barrier& b = *t.block->cluster_barrier;
  t.cluster_arrived = true;
  t.cluster_round = b.round;
  b.arrived++;
  complete_cluster_barrier(*t.block);
}

void cluster_wait() {
  Thread& t = self();
  if (!t.cluster_arrived) fail("waits at the barrier of the cluster without an arrival");
  t.cluster_arrived = false;
  Barrier& b = *t.block->cluster_barrier;
  wait_until([&] { return b.round != t.cluster_round; },
             [&] {
               return "barrier of the cluster, where " + std::to_string(b.arrived) + " of " +
                      std::to_string(live_threads_of_cluster(*t.block)) + " threads have arrived";
             });
}

}  // namespace nrd::cuda::emulator
