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

MbarrierOrder& order_of(Block& block, size_t offset) {
  for (MbarrierOrder& m : block.mbarriers)
    if (m.offset == offset) return m;
  block.mbarriers.push_back({.offset = offset, .agent = block.order->add_agent()});
  return block.mbarriers.back();
}
MbarrierOrder& order_of(Block& block, const uint64_t* barrier) {
  return order_of(block,
                  static_cast<size_t>(reinterpret_cast<const char*>(barrier) - block.shared));
}

void end_phase(Block& block, MbarrierOrder& m) {
  m.ended.join(m.gathering);
  m.gathering.clear();
  block.order->advance(m.agent);
}

void write(Block& block, uint64_t* barrier, State s) {
  if (s.missing == 0 && s.bytes == 0) {
    s.parity ^= 1;
    s.missing = s.arrivals;
    end_phase(block, order_of(block, barrier));
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
  Block& own = *self().block;
  MbarrierOrder& m = order_of(own, barrier);
  own.shadow->write(self(), m.offset, 8);
  m.made_by = &self();
  m.is_published = false;
  write(own, barrier, {0, arrivals, arrivals, 0});
}

void mbarrier_init_fence() {
  for (MbarrierOrder& m : self().block->mbarriers)
    if (m.made_by == &self()) m.is_published = true;
}

CopyAgent copies_of(Block& block, uint32_t address) {
  const auto* barrier = static_cast<const char*>(shared_pointer(block, address, 8));
  MbarrierOrder& m = order_of(block, static_cast<size_t>(barrier - block.shared));
  block.shadow->check_initialised(self(), m.offset);
  if (!m.is_published) fail("a copy counts on an mbarrier without mbarrier_init_fence()");
  m.gathering.learn_fenced(m.agent, block.order->count(m.agent));
  return {m.agent, block.order->count(m.agent)};
}

void mbarrier_arrive(uint64_t* barrier, int rank, uint32_t bytes) {
  check_place(barrier);
  atomic_point(barrier);
  Block& own = *self().block;
  Block& there = rank >= 0 ? cluster_block(rank) : own;
  if (there.live == 0) fail("arrives at an mbarrier of a block that has ended");
  barrier =
      reinterpret_cast<uint64_t*>(there.shared + (reinterpret_cast<char*>(barrier) - own.shared));
  MbarrierOrder& m = order_of(there, barrier);
  there.shadow->check_initialised(self(), m.offset);
  if (&there != &own && !m.is_published)
    fail("arrives at another block's mbarrier without mbarrier_init_fence()");
  publish(self(), m.gathering);
  State s = read(barrier);
  if (s.missing == 0) fail("one arrival more than the mbarrier counts in a phase");
  s.bytes += bytes;
  s.missing--;
  write(there, barrier, s);
}

void mbarrier_complete(Block& block, uint32_t address, uint32_t bytes) {
  auto* barrier = static_cast<uint64_t*>(shared_pointer(block, address, 8));
  State s = read(barrier);
  s.bytes -= bytes;
  write(block, barrier, s);
}

bool mbarrier_test(uint64_t* barrier, uint32_t parity) {
  check_place(barrier);
  MbarrierOrder& m = order_of(*self().block, barrier);
  self().block->shadow->check_initialised(self(), m.offset);
  if (read(barrier).parity == (parity & 1)) return false;
  acquire(self(), m.ended);
  return true;
}

void mbarrier_wait(uint64_t* barrier, uint32_t parity, const char* role, int stage) {
  check_place(barrier);
  Block& block = *self().block;
  MbarrierOrder& order = order_of(block, barrier);
  block.shadow->check_initialised(self(), order.offset);
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
  acquire(self(), order.ended);
}

namespace {

int live_threads_of_cluster(const Block& of) {
  int live = 0;
  for (int rank = 0; rank < cluster_size(); rank++) live += cluster_block(of, rank).live;
  return live;
}

}  // namespace

void complete_cluster_barrier(Block& block) {
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
  publish(t, b.gathering());
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
  acquire(t, b.clocks[t.cluster_round % 2]);
}

}  // namespace nrd::cuda::emulator
