// SPDX-License-Identifier: MIT
// tests/cuda/emulator/collectives.cpp
#include "emulator/collectives.h"

#include <cstdio>

#include "emulator/machine.h"

namespace nrd::cuda::emulator {
namespace {

std::string hexadecimal(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "%#x", value);
  return text;
}

// Counts the thread in and returns the round it belongs to.
uint64_t arrive(Barrier& b, int id, int count, bool predicate) {
  Block& block = *self().block;
  if (b.arrived > 0 && b.expected != count)
    fail("barrier " + std::to_string(id) + " is used for " + std::to_string(count) +
         " threads (0: all) while others meet there for " + std::to_string(b.expected));
  if (count % kWarp != 0)
    fail("a named barrier counts whole warps, not " + std::to_string(count) + " threads");
  const uint64_t round = b.round;
  b.expected = count;
  b.sum += predicate;
  if (count != 0) publish(self(), b.gathering());
  b.arrived++;
  if (b.arrived == (count == 0 ? block.live : count)) complete_block_barrier(block, b);
  return round;
}

Barrier& barrier(int id) {
  if (id < 0 || id >= kNamedBarriers) fail("there is no barrier " + std::to_string(id));
  return self().block->barriers[static_cast<size_t>(id)];
}

}  // namespace

void complete_block_barrier(Block& block, Barrier& b) {
  if (b.expected == 0) synchronise_block(block);
  b.sums[b.round % 2] = b.sum;
  b.sum = 0;
  b.arrived = 0;
  b.round++;
}

uint64_t block_barrier(int id, int count, bool predicate, const char* kind, const Place& place) {
  if (is_dropped(kind, place)) return predicate;
  Barrier& b = barrier(id);
  const uint64_t round = arrive(b, id, count, predicate);
  const Block& block = *self().block;
  wait_until([&] { return b.round != round; },
             [&] {
               const int expected = count == 0 ? block.live : count;
               return "block barrier " + std::to_string(id) + ", where " +
                      std::to_string(b.arrived) + " of " + std::to_string(expected) +
                      " threads have arrived";
             });
  if (count != 0) acquire(self(), b.clocks[round % 2]);
  return b.sums[round % 2];
}

void complete_grid_barrier() {
  Machine& m = machine();
  int live = 0;
  for (const auto& block : m.blocks) live += block->live;
  Barrier& b = m.grid_barrier;
  if (b.arrived == 0 || b.arrived < live) return;
  for (const auto& block : m.blocks) synchronise_block(*block);
  b.arrived = 0;
  b.round++;
}

void grid_barrier(const Place& place) {
  if (is_dropped("grid_barrier", place)) return;
  if (!machine().request.cooperative) fail("a barrier of the grid, which was not launched so");
  Barrier& b = machine().grid_barrier;
  const uint64_t round = b.round;
  b.arrived++;
  complete_grid_barrier();
  wait_until([&] { return b.round != round; },
             [&] {
               return "barrier of the grid, where " + std::to_string(b.arrived) +
                      " threads have arrived";
             });
}

int lane() { return self().lane; }
unsigned live_lanes() { return self().warp->live; }

const Words* exchange(unsigned mask, const char* kind, const Words& words, bool orders_memory) {
  Thread& t = self();
  const unsigned own = 1u << t.lane;
  if (!(mask & own))
    fail(std::string(kind) + ": the mask " + hexadecimal(mask) + " lacks the lane");
  Exchange* e = nullptr;
  for (Exchange& x : t.warp->exchanges) {
    if (x.mask == mask) e = &x;
  }
  if (!e) {
    t.warp->exchanges.push_back({.mask = mask});
    e = &t.warp->exchanges.back();
  }
  if (e->arrived == 0) e->kind = kind;
  if (e->kind != kind && std::strcmp(e->kind, kind) != 0)
    fail(std::string(kind) + " meets " + e->kind + " of other lanes of the warp");
  const uint64_t round = e->round;
  e->values[round % 2][static_cast<size_t>(t.lane)] = words;
  if (orders_memory) {
    if (e->arrived == 0) e->clocks[round % 2].clear();
    publish(t, e->clocks[round % 2]);
  }
  e->arrived |= own;
  if (e->arrived == mask) {
    e->arrived = 0;
    e->round++;
  }
  wait_until([&] { return e->round != round; },
             [&] {
               return std::string(kind) + ", where lanes " + hexadecimal(mask & ~e->arrived) +
                      " of the mask " + hexadecimal(mask) + " are missing";
             });
  if (orders_memory) acquire(t, e->clocks[round % 2]);
  return e->values[round % 2].data();
}

uint64_t take(const Words* values, unsigned mask, int source) {
  if (source < 0 || source >= kWarp || !(mask >> source & 1))
    fail("a shuffle reads lane " + std::to_string(source) + ", which the mask " +
         hexadecimal(mask) + " does not name");
  return values[source].of[0];
}

}  // namespace nrd::cuda::emulator
