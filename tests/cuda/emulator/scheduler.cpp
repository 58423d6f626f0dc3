// SPDX-License-Identifier: MIT
// tests/cuda/emulator/scheduler.cpp: passes over the threads of the blocks that live.
#include "emulator/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/env.h"
#include "emulator/machine.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace nrd::cuda::emulator {
namespace {

// Spinning threads are no progress; so many looks in a row are a deadlock.
constexpr int64_t kPatience = 200'000;
constexpr int kAtomicsInARow = 16;

void thread_entry() {
  Machine& m = machine();
  m.request.call(m.request.arguments);
  m.current->done = true;
  m.current->context.switch_to(m.scheduler);
  std::abort();
}

void resume(Thread& t) {
  Machine& m = machine();
  m.current = &t;
  m.switches = m.switches + 1;
  threadIdx = t.position;
  blockIdx = t.block->position;
  t.waiting = nullptr;
  t.atomics = 0;
  watch(&t);
  m.scheduler.switch_to(t.context);
  watch(nullptr);
  m.current = nullptr;
}

// A thread that has returned is no longer waited for by the barriers over the whole block.
void retire(Thread& t) {
  t.warp->live &= ~(1u << t.lane);
  Block& block = *t.block;
  block.live--;
  if (!t.bulk.open.copies.empty() || !t.bulk.committed.empty())
    abandon(cudaErrorLaunchFailure,
            name(t) +
                " returned and did not wait for its bulk stores: they may still read the "
                "block's shared memory");
  if (!t.product_groups.empty())
    abandon(cudaErrorLaunchFailure,
            name(t) + " returned and did not wait for its wgmma: they still write its registers");
  Barrier& all = block.barriers[0];
  if (all.arrived > 0 && all.expected == 0 && all.arrived == block.live)
    complete_block_barrier(block, all);
  complete_cluster_barrier(block);
  complete_grid_barrier();
}

bool may_run(const Thread& t) {
  if (t.done) return false;
  if (machine().seed != 0 && t.warp->asleep_until > machine().passes) return false;
  return !t.waiting || t.waiting->ready(t.waiting->ready_state);
}

// With a seed some warps rest for a while, so that others run ahead.
void put_warps_to_sleep() {
  Machine& m = machine();
  if (m.dice.below(8) != 0) return;
  Block& block = *m.blocks[m.dice.below(m.blocks.size())];
  Warp& warp = block.warps[m.dice.below(block.warps.size())];
  warp.asleep_until = m.passes + (uint64_t{1} << m.dice.below(8));
}

bool wake_all() {
  Machine& m = machine();
  bool any = false;
  for (auto& block : m.blocks) {
    for (Warp& warp : block->warps) {
      any |= warp.asleep_until > m.passes;
      warp.asleep_until = 0;
    }
  }
  return any;
}

bool run_pending(bool all_wait) {
  Machine& m = machine();
  std::erase_if(m.pending, [](const auto& p) { return p->done(); });
  if (m.pending.empty() || (!all_wait && (m.lateness != 2 || m.dice.below(4) != 0))) return false;
  const size_t which = m.seed != 0 ? m.dice.below(m.pending.size()) : 0;
  m.pending[which]->force();
  return true;
}

struct Pass {
  bool alive = false, progress = false;
  int spinning = 0;
};

Pass run_pass(std::vector<Thread*>& order) {
  Machine& m = machine();
  m.passes++;
  if (m.seed != 0) {
    for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[m.dice.below(i)]);
    put_warps_to_sleep();
  }
  Pass pass;
  for (Thread* t : order) {
    if (!may_run(*t)) continue;
    resume(*t);
    const bool spins = t->waiting && t->waiting->spins;
    pass.spinning += spins;
    pass.progress |= !spins;
    if (t->done) retire(*t);
    if (m.lateness == 2) run_pending(false);
  }
  std::erase_if(order, [](const Thread* t) { return t->done; });
  pass.alive = !order.empty();
  return pass;
}

}  // namespace

Machine::Machine() {
  if (auto text = env("NEREID_EMULATOR_SEED")) seed = std::strtoull(text->c_str(), nullptr, 10);
}
Machine& machine() {
  static Machine m;
  return m;
}

uint64_t Random::next() {
  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Runs the threads of the blocks that live until all have returned.
void run_blocks() {
  Machine& m = machine();
  std::vector<Thread*> order;
  for (auto& t : m.threads) {
    t->context.start(*t->stack, thread_entry);
    order.push_back(t.get());
  }
  int64_t looks = 0;
  while (true) {
    const Pass pass = run_pass(order);
    if (!pass.alive) break;
    if (pass.progress) {
      looks = 0;
      continue;
    }
    if (wake_all() || run_pending(true)) continue;
    looks += pass.spinning;
    if (pass.spinning > 0 && looks < kPatience) continue;
    abandon(cudaErrorLaunchTimeout, "deadlock: no thread can go on\n" + describe_waiting());
  }
  while (run_pending(true)) {
  }
}

Thread& self() { return *machine().current; }
Random& dice() { return machine().dice; }
void set_seed(uint64_t seed) { machine().seed = seed; }
uint64_t seed() { return machine().seed; }
std::string take_report() { return std::exchange(machine().report, {}); }

void suspend(const Waiting& waiting) {
  Thread& t = self();
  t.waiting = &waiting;
  t.context.switch_to(machine().scheduler);
}

void spin(const char* what, const void* address) {
  struct State {
    const char* what;
    const void* address;
  } state{what, address};
  Waiting w;
  w.ready = [](const void*) { return true; };
  w.describe = [](const void* s) {
    const State& state = *static_cast<const State*>(s);
    char text[64];
    std::snprintf(text, sizeof text, " at %p, again and again", state.address);
    return state.what + std::string(text);
  };
  w.describe_state = &state;
  w.spins = true;
  suspend(w);
}

void atomic_point(const void* address) {
  Thread& t = self();
  if (++t.atomics >= kAtomicsInARow || (seed() != 0 && dice().below(4) == 0))
    spin("atomics", address);
}

void Pending::force() {
  if (!work_) return;
  // Taken out first: the work may end the launch.
  const std::function<void()> work = std::exchange(work_, nullptr);
  work();
}

bool prefers_late() {
  Machine& m = machine();
  return m.lateness == 1 || (m.lateness == 2 && m.dice.below(2) == 0);
}

std::shared_ptr<Pending> start(std::function<void()> work) {
  auto p = std::make_shared<Pending>(std::move(work));
  if (prefers_late())
    machine().pending.push_back(p);
  else
    p->force();
  return p;
}

}  // namespace nrd::cuda::emulator
