// SPDX-License-Identifier: MIT
// tests/cuda/emulator/order.h: who knows of whose accesses: clocks of the threads of a cluster.
//
// Every thread counts; whatever it publishes (an arrival at a barrier, an mbarrier, __syncwarp)
// carries its count and all that it knows of others, and ends the stretch. An access is ordered
// before a thread if the thread knows of its stretch. What runs asynchronously is an agent of its
// own: the copies that an mbarrier counts, the products of a warpgroup, the bulk stores of a
// thread.
//
// Knowledge comes twice: `seen`, and `fenced`, which is what lies in front of a fence between the
// proxies: only that may be read asynchronously (TMA stores, wgmma).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nrd::cuda::emulator {

class Clock {
 public:
  uint32_t seen(size_t agent) const { return agent < seen_.size() ? seen_[agent] : 0; }
  uint32_t fenced(size_t agent) const { return agent < fenced_.size() ? fenced_[agent] : 0; }
  void learn(size_t agent, uint32_t count) { raise(seen_, agent, count); }
  // Of what is asynchronous itself.
  void learn_fenced(size_t agent, uint32_t count) {
    raise(seen_, agent, count);
    raise(fenced_, agent, count);
  }
  void join(const Clock& other) {
    join(seen_, other.seen_);
    join(fenced_, other.fenced_);
  }
  // All that is seen is in front of the fence.
  void fence() { join(fenced_, seen_); }
  void clear() {
    seen_.clear();
    fenced_.clear();
  }

 private:
  using Counts = std::vector<uint32_t>;
  static void raise(Counts& counts, size_t agent, uint32_t count) {
    if (agent >= counts.size()) counts.resize(agent + 1);
    counts[agent] = std::max(counts[agent], count);
  }
  static void join(Counts& to, const Counts& from) {
    if (from.size() > to.size()) to.resize(from.size());
    for (size_t i = 0; i < from.size(); i++) to[i] = std::max(to[i], from[i]);
  }
  Counts seen_, fenced_;
};

// Of a cluster: the counts of its agents. Threads come first, block after block.
class Order {
 public:
  explicit Order(size_t threads) : counts_(threads, 1) {}
  size_t add_agent() {
    counts_.push_back(1);
    return counts_.size() - 1;
  }
  uint32_t count(size_t agent) const { return counts_[agent]; }
  void advance(size_t agent) { counts_[agent]++; }

 private:
  std::vector<uint32_t> counts_;
};

struct Block;
struct Thread;

// What a thread has done until now, and knows, goes to `clock`.
void publish(Thread& thread, Clock& clock);
void acquire(Thread& thread, const Clock& clock);
// All live threads of the block know of each other.
void synchronise_block(Block& block);
// A fence between the proxies.
void fence_proxies(Thread& thread);

}  // namespace nrd::cuda::emulator
