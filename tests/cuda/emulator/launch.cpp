// SPDX-License-Identifier: MIT
// tests/cuda/emulator/launch.cpp: a launch is checked, cut into clusters and run.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "emulator/machine.h"

extern dim3 blockDim, gridDim;

namespace nrd::cuda::emulator {

void run_blocks();  // scheduler.cpp

namespace {

constexpr size_t kStackBytes = 128 * 1024;
// A shared-memory address that a kernel keeps over its end, or makes up, hits this or a guard page.
constexpr unsigned char kPoison = 0xff, kCanary = 0xa5;
constexpr size_t kCanaryBytes = 1024;

size_t threads_of(const LaunchRequest& r) { return size_t{r.block.x} * r.block.y * r.block.z; }
size_t blocks_of(const LaunchRequest& r) { return size_t{r.grid.x} * r.grid.y * r.grid.z; }

cudaError_t check(const LaunchRequest& r) {
  const size_t threads = threads_of(r), blocks = blocks_of(r);
  if (threads == 0 || threads > 1024 || r.block.z > 64 || blocks == 0 || r.grid.x > 0x7fffffff ||
      r.grid.y > 65535 || r.grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (r.shared_bytes > kSharedOfBlock) return cudaErrorInvalidValue;
  if (r.cluster < 1 || r.cluster > 8 || r.grid.x % static_cast<unsigned>(r.cluster) != 0)
    return cudaErrorInvalidClusterSize;
  if (r.cooperative) {
    const size_t by_threads = kThreadsOfMultiprocessor / ((threads + 31) / 32 * 32);
    const size_t by_memory = kSharedOfMultiprocessor / (r.shared_bytes + 1024);
    if (blocks > kMultiprocessors * std::min(by_threads, by_memory))
      return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

std::unique_ptr<GuardedPages> take(std::vector<std::unique_ptr<GuardedPages>>& spare,
                                   size_t bytes) {
  if (spare.empty()) return std::make_unique<GuardedPages>(bytes);
  auto pages = std::move(spare.back());
  spare.pop_back();
  return pages;
}

// The end lies against the guard page, as far as the alignment of 1024 bytes allows.
void give_memory(Block& block, size_t bytes) {
  Machine& m = machine();
  block.memory = take(m.spare_memory, kSharedOfMultiprocessor + kCanaryBytes);
  const size_t rounded = (bytes + 1023) / 1024 * 1024;
  block.shared = block.memory->end() - rounded;
  block.shared_bytes = bytes;
  std::memset(block.shared - kCanaryBytes, kCanary, kCanaryBytes + rounded);
  std::memset(block.shared, kPoison, bytes);
}

void check_canaries(const Block& block) {
  const auto broken = [](const char* begin, const char* end) {
    return std::any_of(begin, end, [](char c) { return static_cast<unsigned char>(c) != kCanary; });
  };
  const char* end = block.shared + block.shared_bytes;
  const bool below = broken(block.shared - kCanaryBytes, block.shared);
  if (below || broken(end, block.memory->end()))
    abandon(cudaErrorIllegalAddress,
            std::string("a block wrote ") + (below ? "in front of" : "behind") +
                " its shared memory of " + std::to_string(block.shared_bytes) + " bytes");
}

void add_block(size_t index, int rank, Order& order) {
  Machine& m = machine();
  const LaunchRequest& r = m.request;
  auto block = std::make_unique<Block>();
  const size_t x = r.grid.x, y = r.grid.y;
  block->position = {static_cast<unsigned>(index % x), static_cast<unsigned>(index / x % y),
                     static_cast<unsigned>(index / x / y)};
  block->rank = rank;
  block->order = &order;
  const auto count = static_cast<int>(threads_of(r));
  block->live = count;
  block->warps.resize(static_cast<size_t>((count + kWarp - 1) / kWarp));
  block->warpgroups.resize(static_cast<size_t>((count + 127) / 128));
  give_memory(*block, r.shared_bytes);
  block->shadow = std::make_unique<Shadow>(*block, r.shared_bytes);
  for (int i = 0; i < count; i++) {
    auto t = std::make_unique<Thread>();
    t->block = block.get();
    t->index = i;
    t->lane = i % kWarp;
    t->warp = &block->warps[static_cast<size_t>(i / kWarp)];
    t->warp->index = i / kWarp;
    t->warp->live |= 1u << t->lane;
    const auto u = static_cast<unsigned>(i);
    t->position = {u % r.block.x, u / r.block.x % r.block.y, u / r.block.x / r.block.y};
    t->stack = take(m.spare_stacks, kStackBytes);
    t->agent = static_cast<size_t>(rank * count + i);
    block->threads.push_back(t.get());
    m.threads.push_back(std::move(t));
  }
  m.blocks.push_back(std::move(block));
}

void clear_blocks() {
  Machine& m = machine();
  for (auto& t : m.threads) m.spare_stacks.push_back(std::move(t->stack));
  for (auto& b : m.blocks) m.spare_memory.push_back(std::move(b->memory));
  m.threads.clear();
  m.blocks.clear();
  m.pending.clear();
  m.cluster_barriers.clear();
  m.orders.clear();
  m.grid_barrier = {};
}

void add_cluster(size_t first) {
  Machine& m = machine();
  const int cluster = m.request.cluster;
  m.cluster_barriers.emplace_back();
  m.orders.emplace_back(static_cast<size_t>(cluster) * threads_of(m.request));
  for (int rank = 0; rank < cluster; rank++) {
    add_block(first + static_cast<size_t>(rank), rank, m.orders.back());
    m.blocks.back()->cluster_barrier = &m.cluster_barriers.back();
  }
}

// Clusters that live at once: all of a cooperative grid, one of another, up to four with a seed.
size_t draw_together(size_t left) {
  Machine& m = machine();
  if (m.request.cooperative) return left;
  return m.seed == 0 ? 1 : std::min<size_t>(left, 1 + m.dice.below(4));
}

void run_grid() {
  Machine& m = machine();
  const auto cluster = static_cast<size_t>(m.request.cluster);
  std::vector<size_t> order(blocks_of(m.request) / cluster);
  std::iota(order.begin(), order.end(), size_t{0});
  if (m.seed != 0) {
    for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[m.dice.below(i)]);
  }
  for (size_t at = 0; at < order.size();) {
    const size_t end = at + draw_together(order.size() - at);
    for (; at < end; at++) add_cluster(order[at] * cluster);
    run_blocks();
    for (const auto& b : m.blocks) check_canaries(*b);
    clear_blocks();
  }
}

}  // namespace

cudaError_t run(const LaunchRequest& request) {
  if (const cudaError_t error = check(request); error != cudaSuccess) return error;
  Machine& m = machine();
  const std::lock_guard lock(m.one_launch);
  m.request = request;
  m.dice = Random(m.seed);
  m.lateness = m.seed == 0 ? 0 : static_cast<int>(m.seed % 3);
  m.passes = 0;
  m.error = cudaSuccess;
  blockDim = request.block;
  gridDim = request.grid;
  const FaultHandlers handlers;
  if (sigsetjmp(m.abandon, 0) == 0)
    run_grid();
  else
    clear_blocks();
  watch(nullptr);
  m.current = nullptr;
  return m.error;
}

void abandon(cudaError_t error, const std::string& report) {
  Machine& m = machine();
  m.error = error;
  m.report = report;
  if (m.seed != 0) m.report += "\n(seed " + std::to_string(m.seed) + ")";
  siglongjmp(m.abandon, 1);
}

void fail(const std::string& what) {
  const Thread* t = machine().current;
  abandon(cudaErrorLaunchFailure, t ? name(*t) + ": " + what : what);
}

Block& cluster_block(int rank) { return cluster_block(*self().block, rank); }

Block& cluster_block(const Block& of, int rank) {
  Machine& m = machine();
  const Block* own = &of;
  const auto at = static_cast<size_t>(
      std::find_if(m.blocks.begin(), m.blocks.end(), [&](auto& b) { return b.get() == own; }) -
      m.blocks.begin());
  if (rank < 0 || rank >= m.request.cluster)
    fail("there is no block of rank " + std::to_string(rank) + " in a cluster of " +
         std::to_string(m.request.cluster));
  return *m.blocks[at - static_cast<size_t>(own->rank) + static_cast<size_t>(rank)];
}

int cluster_size() { return machine().request.cluster; }

}  // namespace nrd::cuda::emulator
